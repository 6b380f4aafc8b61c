import Bluetooth

/// Notices a radio that hangs: calls that need it fail or stay without an answer, and for minutes nothing at all is heard.
///
/// A headset that is away is no sign of it: a radio that works still answers when a scan is started or a link is closed. So a
/// failure is what begins the watch, and any sign of life ends it.
struct RadioWatch {
    /// How long a failure may go without a sign of life.
    private static let failureLimit = Duration.seconds(120)
    /// After a report, for how long nothing more is said: a person needs time, and a restart of the radio takes some.
    private static let pause = Duration.seconds(600)
    /// How long a radio that hangs may take to be switched off or on.
    private static let powerLimit = Duration.seconds(20)
    /// When it is switched on once more, where it would not be.
    private static let powerPause = Duration.seconds(10)

    /// How far the way out is gone.
    private enum Recovery: Hashable {
        case none
        case switchingOff
        /// It is switched on, or was asked to; again from an instant on.
        case switchingOn(again: MonotonicTime?)
    }

    /// Whether it is switched off and on again.
    private let recoversAdapter: Bool
    private var firstFailure: MonotonicTime?
    private var silentUntil: MonotonicTime?
    private var recovery = Recovery.none

    init(recoversAdapter: Bool) {
        self.recoversAdapter = recoversAdapter
    }

    /// When ``due(_:_:)`` is to be called; nil for never.
    var deadline: MonotonicTime? {
        let again: MonotonicTime? = if case .switchingOn(let again) = recovery { again } else { nil }
        return [hangDeadline, again].compactMap(\.self).min()
    }

    private var hangDeadline: MonotonicTime? {
        firstFailure.map { max($0 + Self.failureLimit, silentUntil ?? .boot) }
    }

    /// Something was heard, or the radio did what it was asked to.
    mutating func recordActivity() {
        firstFailure = nil
    }

    /// The radio was switched off, or is gone: what it did not do before says nothing of the one that is on next.
    mutating func reset() {
        firstFailure = nil
    }

    /// The radio did not do what it was asked to.
    private mutating func noteFailure(at now: MonotonicTime) {
        if firstFailure == nil { firstFailure = now }
    }

    /// True once for each time that the radio is found to hang.
    private mutating func isHung(at now: MonotonicTime) -> Bool {
        guard let hangDeadline, hangDeadline <= now else { return false }
        firstFailure = nil
        silentUntil = now + Self.pause
        return true
    }

    /// Judges the radio by the answer to a call that needs it. One that is off is not judged.
    mutating func judge(
        _ result: Result<[BusValue], BusError>, of purpose: CallPurpose, _ adapter: BlueZAdapter, at now: MonotonicTime
    ) {
        guard adapter.state == .poweredOn else { return }
        switch (purpose, result) {
        case (.connect, .success), (.disconnect, .success), (.startScan, .success), (.stopScan, .success),
            (.operation, .success):
            recordActivity()
        case (.disconnect, .failure(let error)), (.startScan, .failure(let error)), (.operation, .failure(let error)):
            if BlueZErrorTable.isFailureOfRadio(error) { noteFailure(at: now) }
        default: break
        }
    }

    // MARK: The way out

    /// Says that the radio hangs; where a person allowed it, switches it off and on again.
    mutating func due(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        if case .switchingOn(let again?) = recovery, again <= exchange.now { switchOn(adapter, &exchange) }
        guard isHung(at: exchange.now) else { return }
        let recovers = recoversAdapter && adapter.path != nil
        exchange.emit(.didNoticeHungRadio(isRecovering: recovers))
        guard recovers else { return }
        recovery = .switchingOff
        setPowered(false, adapter, for: .powerOff, &exchange)
    }

    /// The radio was switched off, or would not be: it is switched on again in either case.
    mutating func poweredOff(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        switchOn(adapter, &exchange)
    }

    /// What has become of the switching on. What this process has switched off it does not leave off.
    mutating func poweredOn(_ result: Result<[BusValue], BusError>, at now: MonotonicTime) {
        guard case .switchingOn = recovery else { return }
        if case .success = result { recovery = .none } else { recovery = .switchingOn(again: now + Self.powerPause) }
    }

    /// Nobody will say any more what has become of what was asked.
    mutating func bluetoothdVanished(at now: MonotonicTime) {
        reset()
        if recovery != .none { recovery = .switchingOn(again: now + Self.powerPause) }
    }

    private mutating func switchOn(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        if adapter.state == .poweredOn, case .switchingOn = recovery { return recovery = .none }
        recovery = .switchingOn(again: adapter.path == nil ? exchange.now + Self.powerPause : nil)
        setPowered(true, adapter, for: .powerOn, &exchange)
    }

    private func setPowered(
        _ isOn: Bool, _ adapter: BlueZAdapter, for purpose: CallPurpose, _ exchange: inout BusExchange
    ) {
        guard let path = adapter.path else { return }
        exchange.call(
            "Set", of: BlueZInterface.properties, at: path,
            [.string(BlueZInterface.adapter), .string("Powered"), .variant(.boolean(isOn))], for: purpose,
            within: Self.powerLimit)
    }
}
