import ArgumentParser
import Bluetooth
import Centre
import Foundation
import Glibc
import Headsets
import Logging
import Page
import Storage
import Synchronization

/// `eegsync serve`: the page.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the page: what every headset does, in a browser.",
        discussion: """
            The page is at http://localhost:8580, for programs of this machine only: it has no password. Over a network it \
            goes through an SSH tunnel, or through a reverse proxy that has TLS and passwords (see the page Serve).

            It is a process of its own that opens the database read-only, has no Bluetooth, and may be killed at any time: \
            looking never disturbs the recording. Runs in the foreground and logs to standard error.

            With --from it shows a study instead: how each machine and headset is, as its centre knows it (`eegsync fleet`). \
            No database of this machine is opened then.

            EXAMPLES
              eegsync serve
              eegsync serve --port 8600
              eegsync serve --from postgresql://ada@study.example.org/study
              ssh -L 8580:localhost:8580 pi     and then http://localhost:8580 here
            """)

    @Option(help: "The port of this machine's loopback. Without it: as the configuration says, else 8580.")
    var port: UInt16?

    @Option(
        help: ArgumentHelp("A study's centre, which is shown instead: postgresql://ROLE@HOST/DATABASE.", valueName: "address"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "With --from, for how long a machine may say nothing: 90s, 30min, 8h. Without it: 2min.", valueName: "length"))
    var silentAfter: RecordingLength?

    @OptionGroup var options: DatabaseOptions

    func validate() throws {
        if port == 0 { throw ValidationError("--port must be 1 ... 65535.") }
        if from != nil, options.database != nil {
            throw ValidationError("--from shows a study, --database what this machine records: state one of them.")
        }
        if from == nil, silentAfter != nil { throw ValidationError("--silent-after is of machines of a study: state --from.") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        if let from { return try await serveStudy(from) }
        let options = options
        let path = try options.databasePath()
        let served = ServedFile(path: try options.namedDatabase())
        let store = try options.openReadOnly()
        let configuration: @Sendable () -> Configuration? = {
            (try? options.configurationIfPresent()).flatMap { $0.names(path) ? $0 : nil }
        }
        // A mistake in it is said at once; later, what was read stays.
        let settings = try options.configurationIfPresent()?.serve ?? Configuration.Serve()
        let log = DaemonLog(level: .info)
        let catalog = HeadsetLibrary(configurationPath: options.configurationPath).catalog
        let routes = PageRoutes(
            reading: PageReading(store),
            cache: SignalPictures.cacheDirectory().map { PageCache(root: $0, database: path) },
            control: settings.allowsControl ? PageControl(options: options.arguments) : nil,
            measuresImpedance: { (try? catalog.profile(model: $0))?.impedance != nil }, configuration: configuration)
        let server = PageServer(port: port ?? settings.port, policy: RequestPolicy(more: settings.hosts)) {
            await routes.respond($0)
        }
        let seconds = SecondCount()
        let everySecond: @Sendable () throws -> Void = {
            ServiceNotification.watchdog()
            try served.requireSame()
            let second = seconds.next()
            Task { await routes.tidy(isMinute: second % 60 == 1) }
        }
        try await server.run(everySecond: everySecond, ready: Self.ready(log))
    }

    /// Serves the page of a study; of the configuration only what is said of the server counts.
    private func serveStudy(_ address: String) async throws {
        let settings = try options.configurationIfPresent()?.serve ?? Configuration.Serve()
        let reading = StudyReading(
            address, silenceSeconds: (silentAfter?.duration ?? FleetCommand.silence).inSeconds,
            statementSeconds: Shipper.statementSeconds)
        // Who has mistyped the address notices it here, and not in a browser. A centre that is away for now is asked again.
        do {
            _ = try await reading.facts()
        } catch let error as CentreError where error.disposition == .retry {
            StandardError.write("eegsync serve: \("\(error)".printable). It is tried again\n")
        }
        let routes = StudyRoutes { try await reading.facts() }
        let server = PageServer(port: port ?? settings.port, policy: RequestPolicy(more: settings.hosts)) {
            await routes.respond($0)
        }
        let everySecond: @Sendable () throws -> Void = {
            ServiceNotification.watchdog()
            reading.tidy()
        }
        try await server.run(everySecond: everySecond, ready: Self.ready(DaemonLog(level: .info)))
    }

    private static func ready(_ log: DaemonLog) -> @Sendable (UInt16) -> Void {
        { port in
            log.log(.info, "eegsync \(Eegsync.version) serves the page: http://localhost:\(port)")
            ServiceNotification.ready(status: "http://localhost:\(port)")
        }
    }
}

/// How many seconds the page has been served.
private final class SecondCount: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

extension DatabaseOptions {
    /// As they were given, for a command that is run with the same.
    fileprivate var arguments: [String] {
        (config.map { ["--config", $0] } ?? []) + (database.map { ["--database", $0] } ?? [])
    }
}

extension Failure {
    /// Errors of the page's server.
    init(page error: PageServerError) {
        let untouched = "the page is not served; recordings are not touched."
        switch error {
        case .portInUse(let port):
            self.init(
                problem: "another program listens at port \(port) of this machine already.", consequence: untouched,
                remedy: "`ss -ltnp 'sport = :\(port)'` names it; or choose another port with --port.", code: .temporary)
        case .cannotListen(let port, let reason):
            self.init(
                problem: "the system does not let eegsync listen at port \(port): \(reason).", consequence: untouched,
                remedy: "choose a port of 1024 or above with --port.", code: .osError)
        }
    }
}
