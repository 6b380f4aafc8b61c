import Bluetooth

/// Notices a radio that hangs: calls that need it fail or stay without an answer, and for minutes nothing at all is heard.
///
/// A headset that is away is no sign of it: a radio that works still answers when a scan is started or a link is closed. So a
/// failure is what begins the watch, and any sign of life ends it.
struct RadioWatch: Hashable {
    /// How long a failure may go without a sign of life.
    static let patience = Duration.seconds(120)
    /// After a report, for how long nothing more is said: a person needs time, and a restart of the radio takes some.
    static let pause = Duration.seconds(600)

    private var firstFailure: MonotonicTime?
    private var silentUntil: MonotonicTime?

    /// When ``isHung(at:)`` is to be asked.
    var deadline: MonotonicTime? {
        firstFailure.map { max($0 + Self.patience, silentUntil ?? .boot) }
    }

    /// Something was heard, or the radio did what it was told.
    mutating func noteLife() {
        firstFailure = nil
    }

    /// The radio did not do what it was told.
    mutating func noteFailure(at now: MonotonicTime) {
        if firstFailure == nil { firstFailure = now }
    }

    /// True once for each time that the radio is found to hang.
    mutating func isHung(at now: MonotonicTime) -> Bool {
        guard let deadline, deadline <= now else { return false }
        firstFailure = nil
        silentUntil = now + Self.pause
        return true
    }
}

extension BlueZConversation {
    /// Says that the radio hangs; where a person allowed it, switches it off and on again.
    mutating func watchRadio() {
        guard radio.isHung(at: now) else { return }
        let recovers = options.recoversAdapter && adapterPath != nil
        tell(.didNoticeHungRadio(isRecovering: recovers))
        if recovers, let adapterPath { setPowered(false, at: adapterPath, for: .powerOff) }
    }

    /// The radio was switched off, or would not be: it is switched on again in either case.
    mutating func poweredOff() {
        if let adapterPath { setPowered(true, at: adapterPath, for: .nothing) }
    }

    private mutating func setPowered(_ isOn: Bool, at path: String, for purpose: CallPurpose) {
        call(
            "Set", of: BlueZInterface.properties, at: path,
            [.string(BlueZInterface.adapter), .string("Powered"), .variant(.boolean(isOn))], for: purpose,
            within: .seconds(20))
    }

    /// Judges the radio by the answer to a call that needs it.
    mutating func judgeRadio(by result: Result<[BusValue], BusError>, of purpose: CallPurpose) {
        switch (purpose, result) {
        case (.connect, .success), (.disconnect, .success), (.startScan, .success), (.stopScan, .success),
            (.operation, .success):
            radio.noteLife()
        case (.disconnect, .failure(let error)), (.startScan, .failure(let error)), (.operation, .failure(let error)):
            if BlueZErrorTable.isFailureOfRadio(error) { radio.noteFailure(at: now) }
        default: break
        }
    }
}
