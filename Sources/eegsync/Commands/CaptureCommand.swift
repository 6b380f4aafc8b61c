import ArgumentParser
import Bluetooth
import Capture
import Foundation
import Storage

/// `eegsync capture`: what goes over the air to and from one headset, as a file for Wireshark.
struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Write what goes over the air to and from one headset into a file for Wireshark.",
        discussion: """
            While `eegsync run` records the headset, its link is captured as it is; the recording goes on undisturbed. \
            Otherwise the command connects to the headset by itself and stores nothing; an `eegsync run` that is started \
            meanwhile waits for its end.

            The file is btsnoop, with the connection, the discovery, subscriptions, reads, writes and notifications, or the \
            frames of a classic serial port. Wireshark opens it, `eegsync replay` makes a recording of it.

            EXAMPLES
              eegsync capture left -o left.btsnoop --seconds 30
              eegsync capture left -o - | wireshark -k -i -
              eegsync replay left.btsnoop --model muse --database lab.sqlite
            """)

    /// How often what was captured is taken; the daemon commits once a second.
    private static let lookInterval = Duration.milliseconds(250)
    /// How long the end may take: a commit, and a disk that is slow.
    private static let endLimit = Duration.seconds(10)

    @Argument(help: "The headset's name in the configuration.")
    var headset: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file; - for standard output.", valueName: "path"),
        completion: .file(extensions: ["btsnoop"]))
    var output: String

    @Option(help: "How long (1 ... 86400). Without it: until Ctrl-C.")
    var seconds: Int?

    @Flag(help: "Overwrite the file.")
    var force = false

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var facts: OutputOptions

    func validate() throws {
        if let seconds, !(1...86_400).contains(seconds) { throw ValidationError("--seconds must be 1 ... 86400.") }
        if facts.json, output == "-" { throw ValidationError("Standard output has the capture; leave --json out.") }
    }

    func run() async throws {
        // A closed pipe then comes as an error of the write.
        signal(SIGPIPE, SIG_IGN)
        try options.refuseOwnFile(output)
        let session = try HeadsetSession(of: headset, options, consequence: "nothing was captured.")
        let file = try CaptureOutput(path: output, replacesExisting: force)
        let began = HostClock.now
        let (packetCount, silence) = try await Interruption.run { interruption in
            try await session.run {
                let count = try await follow(session, file, interruption)
                let problem = "nothing went over the air to or from \(headset)"
                return (count, session.failure(problem, consequence: "\(output) holds no packet."))
            }
        }
        let result = CaptureFacts(
            headset: headset, file: output, packets: packetCount, bytes: file.byteCount,
            seconds: (HostClock.now - began).inSeconds, daemonPid: session.daemonPid)
        if output != "-" { try result.print(asJSON: facts.json) }
        if result.packets == 0 { throw silence }
    }

    /// Asks for the capture, and writes it until it ends.
    ///
    /// - Returns: how many packets are in the file.
    private func follow(
        _ session: HeadsetSession, _ file: CaptureOutput, _ interruption: Interruption
    ) async throws -> Int {
        let store = session.store
        let end = seconds.map { HostClock.now + .seconds($0) } ?? .init(nanoseconds: .max)
        var lease = Lease(at: HostClock.now, limit: end)
        let capture = try store.start(CaptureID.self, headset: headset, at: HostClock.now, until: lease.end)
        defer { try? store.remove(capture) }
        try file.write(SnoopFormat.header)
        var bar = ProgressBar(label: "capturing")
        defer { bar.finish() }
        let began = HostClock.now
        var stopLimit: MonotonicTime?
        var packetCount = 0
        while true {
            try await Task.sleep(for: Self.lookInterval)
            let now = HostClock.now
            if stopLimit == nil, interruption.isWanted || now >= end {
                try store.stop(capture)
                stopLimit = now + Self.endLimit
            } else if stopLimit == nil, let end = lease.prolong(at: now) {
                try store.extend(capture, until: end)
            }
            let (chunks, isComplete) = try store.takeCapture(capture)
            for chunk in chunks {
                try file.write(chunk.records)
                packetCount += chunk.packetCount
            }
            if let seconds { bar.update(done: (now - began).nanoseconds / 1_000_000, total: Int64(seconds) * 1000) }
            if isComplete { return packetCount }
            if let stopLimit, now >= stopLimit { return packetCount }
        }
    }
}

/// What was captured.
struct CaptureFacts: Facts {
    var headset: String
    var file: String
    var packets: Int
    var bytes: Int64
    var seconds: Double
    /// The acquiring process whose link was captured; nil where the command had a link of its own.
    var daemonPid: Int32?

    func lines(style: TerminalStyle) -> [String] {
        [
            style.apply(.heading, to: file.printable)
                + " holds \(Quantity.count(Int64(packets), "packet")) of \(headset.printable), "
                + "\(Quantity.duration(seconds: seconds)), \(Quantity.bytes(bytes))."
        ]
    }
}
