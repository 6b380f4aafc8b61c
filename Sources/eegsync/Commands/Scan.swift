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
        let search = HeadsetSearch(session, profiles: profiles, known: known, listsOthers: all)
        return try search.run(for: .seconds(seconds), isShown: !output.json && isatty(STDOUT_FILENO) == 1)
    }

    /// Headsets with their addresses: those that were recorded, and those that the configuration gives addresses for.
    static func known(_ configuration: Configuration, store: ReadOnlyStore?) throws -> [ScanFacts.Known] {
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
    static let withoutFile = Configuration(databasePath: "/var/lib/eegsync/eegsync.sqlite", headsets: [])
}
