import ArgumentParser
import Bluetooth
import Foundation
import Glibc
import Metrics
import Storage

extension ListenAddress: ExpressibleByArgument {}

/// `eegsync metrics`: figures for programs that watch.
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print figures of everything for Prometheus, or serve them.",
        discussion: """
            Prints once, in OpenMetrics, what `eegsync status` knows and more: of each headset its state, rows, age of the \
            newest sample, what is missing by cause, returns and how long they took, battery and contact; of the machine the \
            process, its restarts, database, disk and clock. No names of subjects.

            With --listen it serves the same at /metrics until it is ended. It only reads the database, has no Bluetooth, and \
            may be killed at any time; Deploy/eegsync-metrics.service runs it so. There is no password: at another address \
            than 127.0.0.1 or [::1] everybody who reaches it can read it.

            EXAMPLES
              eegsync metrics
              eegsync metrics --listen 127.0.0.1:9580
            """)

    /// How often it feeds the service manager's watchdog, and looks whether it is to go on.
    private static let turnMilliseconds: Int32 = 10_000

    @Option(
        help: ArgumentHelp(
            "Serve at this address and port, such as 127.0.0.1:9580 or [::1]:9580, instead of printing.", valueName: "address"))
    var listen: ListenAddress?

    @Flag(help: "Print Prometheus' older text instead of OpenMetrics.")
    var text = false

    @OptionGroup var options: DatabaseOptions

    func validate() throws {
        if listen != nil, text {
            throw ValidationError("With --listen, each client says which text it wants; leave --text out.")
        }
    }

    func run() throws {
        let path = try options.namedDatabase()
        let configuration = (try? options.configurationIfPresent()).flatMap { $0.names(path) ? $0 : nil }
        let reading = MetricsReading(databasePath: path, configuration: configuration, hostBoot: try HostBoot.current())
        guard let listen else {
            let families = try reading.families(at: HostClock.now)
            return print((text ? Exposition.prometheusText : .openMetrics).text(families), terminator: "")
        }
        signal(SIGPIPE, SIG_IGN)
        let listener = try listen.listen()
        let log = ProblemLog()
        let server = MetricsServer(listener: listener) { format in
            do {
                let families = try reading.families(at: HostClock.now)
                log.note(nil)
                return format.text(families)
            } catch {
                log.note(Failure(error).problem)
                return format.text(MetricsReading.unreadable)
            }
        }
        let host = listen.host.contains(":") ? "[\(listen.host)]" : listen.host
        let address = "http://\(host):\(ListenAddress.port(of: listener))/metrics"
        ProblemLog.write("figures are at \(address)")
        if !listen.isLoopback { ProblemLog.write("everybody who reaches this machine there can read them") }
        ServiceNotification.ready(status: "figures are at \(address)")
        while true {
            server.turn(waiting: Self.turnMilliseconds)
            ServiceNotification.watchdog()
        }
    }
}

/// Says a problem once, and that it is over.
private final class ProblemLog {
    private var known: String?

    func note(_ problem: String?) {
        guard problem != known else { return }
        known = problem
        Self.write(problem.map { "the database cannot be read: \($0)" } ?? "the database can be read again")
    }

    static func write(_ line: String) { StandardError.write("eegsync metrics: \(line.printable)\n") }
}
