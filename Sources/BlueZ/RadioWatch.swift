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

    /// The way out of a hang.
    private struct Recovery {
        /// How far it is gone.
        enum Phase {
            case switchingOff
            /// It is switched on, or was asked to; again from an instant on.
            case switchingOn(again: MonotonicTime?)
        }

        /// The adapter that is switched off, and so the only one that is switched on again.
        let path: String
        var phase = Phase.switchingOff
        /// True once it was off, or bluetoothd gone: where it is on after that, it was switched on.
        var wasOff = false
    }

    /// Whether it is switched off and on again.
    private let recoversAdapter: Bool
    private var firstFailure: MonotonicTime?
    private var silentUntil: MonotonicTime?
    /// Nil where nothing is to be switched on again.
    private var recovery: Recovery?

    init(recoversAdapter: Bool) {
        self.recoversAdapter = recoversAdapter
    }

    /// When ``due(_:_:)`` is to be called; nil for never.
    var deadline: MonotonicTime? {
        let again: MonotonicTime? = if case .switchingOn(let again)? = recovery?.phase { again } else { nil }
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
        if case .switchingOn(let again?)? = recovery?.phase, again <= exchange.now { switchOn(adapter, &exchange) }
        guard isHung(at: exchange.now) else { return }
        // One at a time: an adapter that is still off would be forgotten.
        let path = recoversAdapter && recovery == nil ? adapter.path : nil
        exchange.emit(.didNoticeHungRadio(isRecovering: path != nil))
        guard let path else { return }
        recovery = Recovery(path: path)
        setPowered(false, at: path, for: .powerOff, &exchange)
    }

    /// The radio was switched off, or would not be: it is switched on again in either case.
    mutating func poweredOff(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        switchOn(adapter, &exchange)
    }

    /// What has become of the switching on. What this process has switched off it does not leave off.
    mutating func poweredOn(_ result: Result<[BusValue], BusError>, at now: MonotonicTime) {
        guard case .switchingOn? = recovery?.phase else { return }
        if case .success = result { recovery = nil } else { recovery?.phase = .switchingOn(again: now + Self.powerPause) }
    }

    /// An adapter came, went or changed. Once the one that was switched off is on, whoever did that, a person decides whether
    /// it stays so.
    mutating func adaptersChanged(_ adapter: BlueZAdapter) {
        guard let recovery else { return }
        if AdapterObject(adapter.objects, path: recovery.path)?.isPowered != true {
            self.recovery?.wasOff = true
        } else if recovery.wasOff, case .switchingOn = recovery.phase {
            self.recovery = nil
        }
    }

    /// Nobody will say any more what has become of what was asked.
    mutating func bluetoothdVanished(at now: MonotonicTime) {
        reset()
        recovery?.wasOff = true
        recovery?.phase = .switchingOn(again: now + Self.powerPause)
    }

    private mutating func switchOn(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        guard let recovery else { return }
        guard let object = AdapterObject(adapter.objects, path: recovery.path) else {
            // It may be back in a moment. Where it is pulled out, and another one in use, nobody needs it.
            if adapter.path != nil { return self.recovery = nil }
            self.recovery?.phase = .switchingOn(again: exchange.now + Self.powerPause)
            return
        }
        if object.isPowered, case .switchingOn = recovery.phase { return self.recovery = nil }
        self.recovery?.phase = .switchingOn(again: nil)
        setPowered(true, at: recovery.path, for: .powerOn, &exchange)
    }

    private func setPowered(_ isOn: Bool, at path: String, for purpose: CallPurpose, _ exchange: inout BusExchange) {
        exchange.call(
            "Set", of: BlueZInterface.properties, at: path,
            [.string(BlueZInterface.adapter), .string("Powered"), .variant(.boolean(isOn))], for: purpose,
            within: Self.powerLimit)
    }
}
