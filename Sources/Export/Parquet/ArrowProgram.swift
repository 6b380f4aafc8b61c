import Foundation
import Glibc

/// The Python program that writes and reads Parquet, in a process of its own.
final class ArrowProgram {
    private let process = Process()
    private let input: Int32
    private let output = Pipe()
    private let complaints = Pipe()
    private let python: String

    /// What a person can do where Python or pyarrow is missing.
    static let advice =
        "Install it: `python3 -m venv arrow && arrow/bin/pip install pyarrow numpy`, then name that Python: "
        + "`EEGSYNC_PYTHON=arrow/bin/python eegsync export ...`."

    /// Starts the program.
    ///
    /// - Throws: ``ExportError/toolMissing(name:reason:advice:)`` where it cannot be started.
    init(python: String, arguments: [String]) throws {
        self.python = python
        var ends: [Int32] = [-1, -1]
        // A socket, unlike a pipe, can be written to without a signal when nobody reads.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw ExportError.toolMissing(name: python, reason: String(cString: strerror(errno)), advice: Self.advice)
        }
        input = ends[0]
        let source = String(decoding: PackageResources.rows_py, as: UTF8.self)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, "-B", "-c", source] + arguments
        process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: false)
        process.standardOutput = output
        process.standardError = complaints
        defer { close(ends[1]) }
        do {
            try process.run()
        } catch {
            throw ExportError.toolMissing(name: python, reason: "it cannot be started", advice: Self.advice)
        }
    }

    deinit {
        close(input)
        if process.isRunning { process.terminate() }
    }

    /// Sees that Python and what the program needs are there.
    static func check(python: String) throws {
        let program = try ArrowProgram(python: python, arguments: ["check"])
        program.process.waitUntilExit()
        guard program.process.terminationStatus != 0 else { return }
        throw ExportError.toolMissing(name: "\(python) with pyarrow and numpy", reason: program.complaint, advice: advice)
    }

    /// Gives the program bytes; it fails in ``finish()`` where nobody takes them.
    func write(_ bytes: UnsafeRawBufferPointer) {
        var done = 0
        while done < bytes.count {
            let count = send(input, bytes.baseAddress.map { $0 + done }, bytes.count - done, Int32(MSG_NOSIGNAL))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            done += count
        }
    }

    func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

    /// Exactly so many bytes of what the program says; fewer only where it says no more.
    func read(_ count: Int) -> [UInt8] {
        let descriptor = output.fileHandleForReading.fileDescriptor
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let got = Glibc.read(descriptor, buffer.baseAddress.map { $0 + done }, count - done)
                if got < 0 && errno == EINTR { continue }
                if got <= 0 { break }
                done += got
            }
        }
    }

    /// Everything that the program still says.
    func readAll() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let piece = read(1 << 16)
            if piece.isEmpty { return all }
            all += piece
        }
    }

    /// Waits for the program's end.
    ///
    /// - Throws: ``ExportError/cannotWrite(path:reason:)`` where it failed.
    func finish(path: String) throws {
        shutdown(input, Int32(SHUT_WR))
        process.waitUntilExit()
        guard process.terminationStatus != 0 || process.terminationReason != .exit else { return }
        throw ExportError.cannotWrite(path: path, reason: "\(python) failed: \(complaint)")
    }

    /// The last line of what the program complains of, which is the error itself.
    private var complaint: String {
        let text = String(decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.split(separator: "\n").last.map(String.init) ?? "it says nothing"
    }
}
