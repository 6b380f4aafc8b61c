import ArgumentParser
import CLinux
import Foundation
import Rehearsal
import Storage

/// What `eegsync demo` runs as processes of their own, so that `kill -9` is one. Writes one JSON document a line.
struct DemoAcquisition: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-acquisition", abstract: "One acquisition process of the demo.", shouldDisplay: false)

    /// What a process reports to its parent.
    enum Message: Codable {
        case event(DemoEvent)
        /// The instant at which the process waits to be killed.
        case reached(bufferedRows: Int, worldDigest: UInt64)
    }

    @Option var database: String
    @Option var seed: UInt64
    @Option var seconds: Int
    @Option var start: Int64
    /// What the first process reported; without it this is the first.
    @Option var worldDigest: UInt64?
    @Option var defect: String?
    /// The process that started this one, with which it ends. Ctrl-C in a terminal does not reach this one: Foundation gives it
    /// a group of its own.
    @Option var parent: Int32?

    func run() throws {
        if let parent, clinux_end_with_parent(parent) == -ESRCH { throw ExitCode(Failure.Code.software.rawValue) }
        let plan = DemoPlan(seed: seed, seconds: seconds, startUnixNanoseconds: start)
        let demo = DemoRun(plan, defect: defect.flatMap(PlantedDefect.init)) { try? Self.send(.event($0)) }
        let store = try AcquisitionStore(path: database, hostBoot: HostBoot(uuid: DemoPlan.hostBootName))
        if let worldDigest {
            guard try demo.runAfterKill(store: store, worldDigest: worldDigest) else {
                throw Failure(
                    problem: "the second process of the demo could not go on where the first was killed.",
                    consequence: "the demo ends.", remedy: "report this message; it is a defect of eegsync.", code: .software)
            }
            try store.close()
            return
        }
        let interruption = try demo.runUntilKill(store: store)
        try Self.send(.reached(bufferedRows: interruption.bufferedRows, worldDigest: interruption.worldDigest))
        // Waits for the end; a parent that is gone closes the pipe, and then this process must not stay.
        _ = readLine()
        withExtendedLifetime((store, demo)) {}
        throw ExitCode(Failure.Code.software.rawValue)
    }

    private static func send(_ message: Message) throws {
        try FileHandle.standardOutput.write(contentsOf: try JSONEncoder().encode(message) + Data("\n".utf8))
    }
}

/// A running ``DemoAcquisition``.
final class DemoProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending = Data()

    /// Starts a process.
    ///
    /// - Parameter program: the program; without it the one that runs now.
    init(_ arguments: [String], program: URL? = nil) throws {
        process.executableURL =
            try program ?? URL(fileURLWithPath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.arguments = ["demo-acquisition", "--parent", "\(getpid())"] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    var identifier: Int32 { process.processIdentifier }

    /// The next message; nil at the end of the process's output.
    func next() throws -> DemoAcquisition.Message? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = pending[pending.startIndex..<end]
                pending = Data(pending[pending.index(after: end)...])
                return try JSONDecoder().decode(DemoAcquisition.Message.self, from: line)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            pending += more
        }
    }

    /// Ends the process as `kill -9` does. True if that is what ended it.
    func kill() -> Bool {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
    }

    /// Waits for the process's own end.
    func exitCode() -> Int32 {
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }
}
