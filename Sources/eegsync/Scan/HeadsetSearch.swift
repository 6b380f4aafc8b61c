import Bluetooth
import Headsets

/// Listens for headsets that advertise, for the commands that look around.
struct HeadsetSearch {
    /// How long the adapter has to report its state: bluetoothd answers within milliseconds.
    private static let adapterLimit = Duration.seconds(3)
    /// How often the live table is drawn.
    private static let frameInterval = Duration.milliseconds(250)

    private let session: CentralSession
    private let profiles: [any HeadsetProfile]
    private let known: [ScanFacts.Known]
    private let listsOthers: Bool

    /// - Parameters:
    ///   - known: headsets with their addresses.
    ///   - listsOthers: whether devices that are no headsets are wanted.
    init(
        _ session: CentralSession, profiles: [any HeadsetProfile], known: [ScanFacts.Known], listsOthers: Bool = false
    ) {
        self.session = session
        self.profiles = profiles
        self.known = known
        self.listsOthers = listsOthers
    }

    /// Listens for so long.
    ///
    /// - Parameter isShown: whether a live table is drawn meanwhile.
    /// - Throws: ``Failure`` where the adapter does not listen.
    func run(for limit: Duration, isShown: Bool) throws -> ScanFacts {
        var failure = waitForAdapter()
        if let failure { throw Failure(scan: failure) }
        var sightings = ScanSightings(profiles: profiles)
        var connected: [PeripheralIdentifier] = []
        var screen = LiveScreen(isEnabled: isShown)
        func facts(after elapsed: Duration, ranksBySignal: Bool) -> ScanFacts {
            ScanFacts(
                sightings, known: known, connected: connected, elapsed: elapsed, listsOthers: listsOthers,
                ranksBySignal: ranksBySignal, profiles: profiles)
        }
        session.central.request(.scanForPeripherals(matching: listsOthers ? .unfiltered : sightings.headsetFilter))
        session.central.request(
            .retrieveConnectedPeripherals(
                withServices: profiles.flatMap(\.services), attempt: Attempt(number: 1)))
        session.run(for: limit, tick: Self.frameInterval) { events, elapsed in
            for event in events {
                switch event {
                case .didDiscover(let identifier, let advertisement, let rssi):
                    sightings.add(identifier, advertisement, rssi: rssi)
                case .didRetrieveConnected(let identifiers, _): connected = identifiers
                case .didFailToScan(let error): failure = error
                case .didUpdateState(let state) where state != .poweredOn: failure = .adapterUnavailable(state)
                default: break
                }
            }
            guard failure == nil else { return true }
            screen.draw(every: Self.frameInterval, at: elapsed) {
                facts(after: elapsed, ranksBySignal: false).liveLines(total: limit, style: $0)
            }
            return false
        }
        screen.erase()
        session.central.request(.stopScan)
        if let failure { throw Failure(scan: failure) }
        return facts(after: limit, ranksBySignal: true)
    }

    /// Waits until the adapter is on; what is wrong where it does not become so.
    private func waitForAdapter() -> CentralError? {
        session.run(for: Self.adapterLimit) { _, elapsed in
            switch session.central.state {
            case .poweredOn, .unsupported, .unauthorized, .unreachable, .blocked: true
            // These may be what is reported first, before the objects of bluetoothd are known.
            case .unknown, .resetting, .absent, .inUse, .poweredOff:
                elapsed > .seconds(1) && session.central.state == .poweredOff
            }
        }
        let state = session.central.state
        return state == .poweredOn ? nil : .adapterUnavailable(state)
    }
}

extension Failure {
    /// The scan could not run.
    fileprivate init(scan error: CentralError) {
        let reason: String
        let remedy: String
        if case .adapterUnavailable(let state) = error {
            reason = "no Bluetooth adapter: \(state.words)"
            remedy = state.remedy + (state == .unauthorized ? "." : "; `eegsync doctor` looks for the cause.")
        } else {
            reason = "\(error)"
            remedy = "`eegsync doctor` looks for the cause."
        }
        self.init(
            problem: "the scan cannot run: \(reason).", consequence: "nothing was changed.", remedy: remedy, code: .unavailable)
    }
}
