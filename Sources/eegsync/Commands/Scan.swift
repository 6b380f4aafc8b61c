import ArgumentParser
import Bluetooth
import Foundation
import Headsets
import Storage

/// `eegsync scan`: which headsets are in range.
struct Scan: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show which headsets are in range.",
        discussion: """
            Lists headsets that advertise, with their model, name, address, signal strength and advertising mode, and the name \
            under which a headset is recorded. A headset that is connected does not advertise; where it is known, it is listed \
            as connected.

            It does not disturb a running `eegsync run`, and connects to nothing.

            EXAMPLES
              eegsync scan
              eegsync scan --all --seconds 30
              eegsync scan --json
            """)

    /// How long the adapter has to report its state: bluetoothd answers within milliseconds.
    private static let adapterLimit = Duration.seconds(3)
    /// How often the live table is drawn.
    private static let frameInterval = Duration.milliseconds(250)

    @Flag(help: "List other devices, too.")
    var all = false

    @Option(help: "How long to listen (1 ... 3600).")
    var seconds: Int = 10

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !(1...3600).contains(seconds) { throw ValidationError("--seconds must be 1 ... 3600.") }
    }

    func run() throws {
        let configuration = try options.configurationIfPresent() ?? .withoutFile
        let session = CentralSession { configuration.makeCentral(watch: $0, isAlone: false) }
        let known = try Self.known(configuration, store: store(configuration))
        let profiles = HeadsetLibrary(configurationPath: options.configurationPath).catalog.profiles
        let facts = try scan(session, known: known, profiles: profiles)
        try facts.print(asJSON: output.json)
    }

    /// The database, where there is one that can be read; a scan needs none.
    private func store(_ configuration: Configuration) throws -> ReadOnlyStore? {
        guard let path = options.database ?? ProcessInfo.processInfo.environment["EEGSYNC_DATABASE"] else {
            return try? ReadOnlyStore(path: configuration.databasePath, hostBoot: HostBoot.current())
        }
        return try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
    }

    private func scan(
        _ session: CentralSession, known: [ScanFacts.Known], profiles: [any HeadsetProfile]
    ) throws -> ScanFacts {
        var failure = waitForAdapter(session)
        if let failure { throw Failure(scan: failure) }
        var sightings = ScanSightings(profiles: profiles)
        var connected: [PeripheralIdentifier] = []
        var screen = LiveScreen(isEnabled: !output.json && isatty(STDOUT_FILENO) == 1)
        let limit = Duration.seconds(seconds)
        func facts(after elapsed: Duration, ranksBySignal: Bool) -> ScanFacts {
            ScanFacts(
                sightings, known: known, connected: connected, elapsed: elapsed, listsOthers: all, ranksBySignal: ranksBySignal,
                profiles: profiles)
        }
        session.central.request(.scanForPeripherals(matching: all ? .unfiltered : sightings.headsetFilter))
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
    private func waitForAdapter(_ session: CentralSession) -> CentralError? {
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

    /// Headsets with their addresses: those that were recorded, and those that the configuration gives addresses for.
    private static func known(_ configuration: Configuration, store: ReadOnlyStore?) throws -> [ScanFacts.Known] {
        var known = configuration.headsets.flatMap { headset in
            headset.identifiers.map { ScanFacts.Known(identifier: $0, name: headset.name, model: headset.model) }
        }
        guard let store else { return known }
        for headset in try store.headsets(at: HostClock.now) {
            known += try store.identifiers(of: headset.id).map {
                ScanFacts.Known(identifier: $0, name: headset.name, model: headset.model)
            }
        }
        var distinct: [ScanFacts.Known] = []
        for headset in known where !distinct.contains(where: { $0.identifier == headset.identifier }) {
            distinct.append(headset)
        }
        return distinct
    }
}

extension Configuration {
    /// For machines that have no configuration yet: whatever reaches headsets here, and the database where it is usually put.
    fileprivate static let withoutFile = Configuration(databasePath: "/var/lib/eegsync/eegsync.sqlite", headsets: [])
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
