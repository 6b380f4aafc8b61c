import Dispatch
import Foundation

/// A program of the system that is asked something.
enum OtherProgram {
    /// A program that does not answer within this time is killed.
    private static let limitSeconds = 5.0

    /// What a program prints to standard output, without blanks at its ends; nil where it cannot be run, fails or is killed.
    static func output(of path: String, _ arguments: [String]) -> String? {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let pid = process.processIdentifier
        let killing = DispatchWorkItem { kill(pid, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + limitSeconds, execute: killing)
        let data = (try? pipe.fileHandleForReading.readToEnd()) ?? nil
        process.waitUntilExit()
        killing.cancel()
        guard process.terminationStatus == 0, let data else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
