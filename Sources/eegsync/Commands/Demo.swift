import ArgumentParser
import Bluetooth
import Export
import Foundation
import Rehearsal
import Storage

/// `eegsync demo`: the whole program at work without a headset.
struct Demo: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show it at work, without a headset.",
        discussion: """
            Records from a simulated 8-channel headset with memory, in virtual time, while a script of faults plays: out of \
            range and back, doubled and lost notifications, kill -9 of the acquisition process and restart, a reboot of the \
            headset, a wrap of its sample counter. The acquisition runs in a process of its own and is really killed. Then the \
            audit compares the recording with its evidence, and the recording is exported.

            The database and the exported files stay in the directory; nothing that is there already is overwritten.

            Exit code 0 only if the audit holds.

            EXAMPLES
              eegsync demo
              eegsync demo --seed 7 --seconds 600 --directory /tmp/demo
            """)

    @Option(help: "Decides everything random.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            """
            Where the files go. Without it: eegsync-demo, or the first free eegsync-demo-2, -3, ..., among the temporary \
            files.
            """, valueName: "path"),
        completion: .directory)
    var directory: String?

    @Option(help: "How long it records, in virtual seconds (30 ... 86400).")
    var seconds: Int = 60

    @Option(help: .hidden)
    var defect: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !DemoPlan.secondsRange.contains(seconds) { throw ValidationError("--seconds must be 30 ... 86400.") }
    }

    func run() throws {
        let directory = try makeDirectory()
        let database = directory + "/eegsync.sqlite"
        let clock = ContinuousClock().now
        var events = try acquire(into: database)
        events.sort { $0.seconds < $1.seconds }
        let store = try ReadOnlyStore(path: database, hostBoot: try HostBoot.current())
        let audit = try store.audit()
        let files = audit.holds ? try export(store, to: directory) : []
        let facts = DemoFacts(
            seed: seed, seconds: seconds, wallSeconds: (ContinuousClock().now - clock).inSeconds, database: database,
            timeline: events, audit: AuditFacts(audit), files: files)
        try facts.print(asJSON: output.json)
        if !facts.audit.holds || !facts.exportsAreWhole { throw ExitCode(Failure.Code.dataError.rawValue) }
    }

    /// The recording in every format that is a file, but for that of the database, in which it is already.
    private static let exports = ExportFormat.allCases.filter { !$0.isWholeRecording && !$0.isDirectory }.map {
        (format: $0, file: "demo." + $0.ending)
    }

    /// A directory without a demo in it.
    private func makeDirectory() throws -> String {
        let manager = FileManager.default
        let isTaken = { (path: String) in
            (["eegsync.sqlite"] + Self.exports.map(\.file)).contains { manager.fileExists(atPath: path + "/" + $0) }
        }
        // Not where the command is run, which may be somebody's checkout.
        let usual = manager.temporaryDirectory.appendingPathComponent("eegsync-demo").path
        var path = directory ?? usual
        if directory != nil, isTaken(path) {
            throw Failure(
                problem: "the directory \(path) holds a recording already.", consequence: "it was left untouched.",
                remedy: "choose another --directory.", code: .cannotCreate)
        }
        var number = 2
        while directory == nil, manager.fileExists(atPath: path) {
            path = "\(usual)-\(number)"
            number += 1
        }
        do {
            try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw Failure(
                problem: "the directory \(path) cannot be created: \(error.localizedDescription)",
                consequence: "nothing was recorded.", remedy: "choose another --directory.", code: .cannotCreate)
        }
        return path
    }

    /// Runs the first process until it is killed, and the second one to the end.
    private func acquire(into database: String) throws -> [DemoEvent] {
        let start = Int64(Date().timeIntervalSince1970 * 1000) * 1_000_000
        let plan = DemoPlan(seed: seed, seconds: seconds, startUnixNanoseconds: start)
        var arguments = [
            "--database", database, "--seed", "\(seed)", "--seconds", "\(seconds)", "--start", "\(start)",
        ]
        if let defect { arguments += ["--defect", defect] }
        var events: [DemoEvent] = []
        var bar = ProgressBar(label: "recording")
        defer { bar.finish() }
        func take(_ event: DemoEvent) {
            events.append(event)
            bar.update(done: Int64(event.seconds * 1000), total: Int64(seconds) * 1000)
        }
        let first = try DemoProcess(arguments)
        var digest: UInt64?
        while digest == nil, let message = try first.next() {
            switch message {
            case .event(let event): take(event)
            case .reached(let bufferedRows, let worldDigest):
                digest = worldDigest
                let killed = "kill -9 of process \(first.identifier), with \(bufferedRows) samples not yet committed"
                events.append(
                    DemoEvent(seconds: DemoPlan.seconds(at: plan.killTime), actor: .world, kind: "daemonKilled", text: killed))
            }
        }
        guard let digest, first.kill() else { throw Self.broken(first.exitCode()) }
        let second = try DemoProcess(arguments + ["--world-digest", "\(digest)"])
        let restarted = "process \(second.identifier) starts and goes on from the database"
        events.append(
            DemoEvent(seconds: DemoPlan.seconds(at: plan.restartTime), actor: .eegsync, kind: "restarted", text: restarted))
        while let message = try second.next() {
            if case .event(let event) = message { take(event) }
        }
        guard second.exitCode() == 0 else { throw Self.broken(second.exitCode()) }
        return events
    }

    private static func broken(_ code: Int32) -> Failure {
        Failure(
            problem: "an acquisition process of the demo ended with code \(code); its message stands above.",
            consequence: "the demo ends; what was committed is in the directory.",
            remedy: "report this message; it is a defect of eegsync.", code: .software)
    }

    private func export(_ store: ReadOnlyStore, to directory: String) throws -> [ExportFacts.File] {
        guard let recording = try store.recordings().first?.id else { return [] }
        let exporter = try Exporter(store: store, recording: RecordingID(rawValue: recording))
        var files: [ExportFacts.File] = []
        for (format, name) in Self.exports {
            var bar = ProgressBar(label: "exporting \(name)")
            defer { bar.finish() }
            let request = ExportRequest(format: format, path: directory + "/" + name)
            let report = try exporter.export(request) { bar.update(done: Int64($0 * 1000), total: 1000) }
            files += ExportFacts(recording: recording, report: report).files
        }
        return files
    }
}
