package import Bluetooth
package import Headsets

/// One simulated headset without the simulated radio: what a real central does to it comes in, what it sends goes out.
///
/// The same firmware as in rehearsals, in whatever time it is given. It has one link at most, as headsets have.
package final class ImitatedHeadset {
    /// What a headset does by itself.
    package enum Output: Hashable, Sendable {
        /// It notifies a value. Only of characteristics that are subscribed.
        case notification([UInt8], BluetoothUUID)
        /// Its link has ended: it closed it, restarted, or was out of range for longer than its supervision timeout.
        case linkEnded
    }

    /// What the headset is like.
    package let specification: HeadsetSpecification
    /// The streams that it has, in the order of ``PlayedSample/stream``.
    package let streams: [StreamDescription]

    private let world: SimulatedWorld
    private let central: SimulatedCentral
    private var cursor = PlayedCursor()

    /// Creates a headset that is switched on at an instant.
    ///
    /// - Parameters:
    ///   - specification: what it is like.
    ///   - streams: those of its profile; of a headset with memory its own are taken.
    ///   - seed: decides what it measures.
    ///   - tape: what it sends instead.
    ///   - start: the instant.
    package init(
        _ specification: HeadsetSpecification, streams: [StreamDescription], seed: UInt64, tape: (any SignalTape)? = nil,
        start: MonotonicTime
    ) {
        self.specification = specification
        world = SimulatedWorld(seed: seed, headsets: [specification], start: start)
        world.tape = tape
        central = world.makeCentral()
        self.streams = world.headsets[0].buffered?.specification.streams ?? streams
    }

    private var headset: SimulatedHeadset { world.headsets[0] }

    // MARK: Out

    /// What it shows to whoever connects.
    package var database: GATTDatabase { headset.database }

    /// True where it advertises: it is switched on, in range, and not connected.
    package var isAdvertising: Bool { headset.canBeReached && headset.link == nil }

    /// What it advertises.
    package var advertisement: Advertisement { headset.advertisement }

    /// When ``advance(to:)`` is due; nil for not before something is done to it.
    package var deadline: MonotonicTime? { central.deadline }

    /// How often each fault befell it.
    package var faults: InjectedFaults { world.injected }

    /// When its tape is over; nil before its first sample, and without a tape that ends.
    package var tapeEnd: MonotonicTime? {
        guard let duration = world.tape?.duration else { return nil }
        let began =
            if let buffered = headset.buffered {
                buffered.bootHistory.lazy.compactMap { boot in
                    boot.streams[0].runs.first.map { boot.time(of: $0.start, stream: 0) }
                }.first
            } else {
                headset.sessions?.sessions.first?.began
            }
        let crystal = specification.crystal
        return began.map { crystal.instant(of: crystal.headsetTime(at: $0) + duration.nanoseconds) }
    }

    /// Lets its time go on, and takes what it did.
    package func advance(to now: MonotonicTime) -> [Output] {
        central.process(at: now).compactMap { event in
            switch event {
            case .didUpdateValue(let characteristic, _, let value, _): .notification(value, characteristic)
            case .didDisconnect: .linkEnded
            default: nil
            }
        }
    }

    /// Takes what it has measured since the last call, whether or not it could be sent: a stream at a time, in order.
    package func takePlayed() -> [PlayedSample] {
        if let buffered = headset.buffered { return cursor.take(from: buffered, at: world.now) }
        return headset.sessions.map { cursor.take(from: $0, streams: streams, at: world.now) } ?? []
    }

    // MARK: In

    /// A central connects. Returns false where the headset is not there for it: off, out of range, or connected already.
    package func connect() -> Bool {
        guard isAdvertising else { return false }
        headset.link = SimulatedHeadset.Link(
            serial: world.makeSerial(), identifier: headset.identifier, attempt: .none, isReported: true, isDiscovered: true)
        headset.servicesAreUnknown = false
        headset.behaviour.linkChanged(at: world.clock)
        return true
    }

    /// The central has disconnected, or is not heard any more.
    package func disconnect() {
        world.closeLink(headset, error: nil)
    }

    /// The central switches notifications of a characteristic on or off.
    package func setNotifyValue(_ isOn: Bool, for characteristic: BluetoothUUID) {
        guard headset.link != nil, headset.isNotifying(characteristic) != isOn else { return }
        if isOn {
            headset.link?.subscriptions.append(characteristic)
        } else {
            headset.link?.subscriptions.removeAll { $0 == characteristic }
        }
        headset.behaviour.linkChanged(at: world.clock)
    }

    /// The central reads. Returns what the headset answers; nil where it says nothing.
    package func read(_ characteristic: BluetoothUUID) -> Result<[UInt8], ATTError>? {
        guard answers else { return nil }
        guard database[characteristic]?.properties.contains(.read) == true else { return .failure(.readNotPermitted) }
        if let value = headset.behaviour.read(characteristic, at: world.clock) { return .success(value) }
        guard characteristic == .serialNumberString, let serial = specification.serialNumber else {
            return .failure(.readNotPermitted)
        }
        return .success(Array(serial.utf8))
    }

    /// The central writes. Returns what the headset answers; nil where it says nothing.
    package func write(_ value: [UInt8], to characteristic: BluetoothUUID) -> Result<Void, ATTError>? {
        guard answers else { return nil }
        guard let properties = database[characteristic]?.properties,
            !properties.isDisjoint(with: [.write, .writeWithoutResponse])
        else { return .failure(.writeNotPermitted) }
        return headset.behaviour.write(value, to: characteristic, at: world.clock).map { .failure($0) } ?? .success(())
    }

    private var answers: Bool { headset.link != nil && headset.canBeReached }

    /// A fault befalls it now.
    ///
    /// - Parameters:
    ///   - fault: one whose scope is a headset.
    ///   - duration: how long; of no meaning for faults of an instant.
    package func strike(_ fault: Fault, for duration: Duration) {
        world.schedule(ScriptedFault(at: world.now, fault, for: duration))
    }
}
