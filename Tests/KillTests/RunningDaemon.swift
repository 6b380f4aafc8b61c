import CLinux
import Foundation
import Glibc

/// The built program as a process: `eegsync run`, its log line by line, and every signal.
final class RunningDaemon {
    /// A line that takes longer than this to come never comes; far above anything that a daemon does. In milliseconds.
    private static let lineTimeout: Int32 = 30_000
    /// Nobody waits longer for all that a process does, however much it says; in nanoseconds.
    private static let timeout: Int64 = 120_000_000_000

    /// The log so far.
    private(set) var lines: [String] = []
    private let process = Process()
    private let log = Pipe()
    private var bytes: [UInt8] = []
    private let deadline = clinux_boottime_nanoseconds() + timeout

    init(config: String, environment: [String: String] = [:]) throws {
        process.executableURL = try Self.program()
        process.arguments = ["run", "--config", config]
        process.environment = environment
        process.standardError = log
        process.standardOutput = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // Or the end of the file would never come.
        try log.fileHandleForWriting.close()
    }

    deinit {
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// The program that was built beside the tests.
    static func program() throws -> URL {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("eegsync")
    }

    var pid: Int32 { process.processIdentifier }

    /// The next line of the log; nil at its end. A process that goes on for ever is killed, or its end would never come.
    func nextLine() -> String? {
        while true {
            if clinux_boottime_nanoseconds() > deadline { signal(SIGKILL) }
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: bytes[..<end], as: UTF8.self)
                bytes.removeFirst(end + 1)
                lines.append(line)
                return line
            }
            var wait = pollfd(fd: log.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, Self.lineTimeout) == 1 else { return nil }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = read(wait.fd, &chunk, chunk.count)
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
        }
    }

    /// Reads the log until a line holds the text; nil where none does.
    func line(with text: String) -> String? {
        while let line = nextLine() {
            if line.contains(text) { return line }
        }
        return nil
    }

    /// Sends a signal.
    func signal(_ number: Int32) {
        kill(process.processIdentifier, number)
    }

    /// Reads the log to its end, and waits for the end of the process.
    ///
    /// - Returns: the exit code, or minus the signal that ended it.
    func end() -> Int32 {
        while nextLine() != nil {}
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// Lets the process write files up to this size only; nil lifts that.
    func limitFileSize(_ bytes: Int?) throws {
        let limit = Process()
        limit.executableURL = URL(fileURLWithPath: "/usr/bin/prlimit")
        limit.arguments = ["--pid", "\(pid)", "--fsize=\(bytes.map(String.init) ?? "unlimited"):unlimited"]
        try limit.run()
        limit.waitUntilExit()
        guard limit.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
    }

    /// How many rows the lines of the log say are committed.
    static func committedRows(_ lines: some Sequence<String>) -> Int64 {
        lines.reduce(0) { sum, line in
            guard line.hasSuffix("committed"), let rows = line.firstMatch(of: /rows=(\d+)/) else { return sum }
            return sum + (Int64(rows.output.1) ?? 0)
        }
    }
}
