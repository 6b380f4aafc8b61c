import Foundation
import Glibc

/// The Python program that writes and reads Parquet, in a process of its own; what it is asked and answers stands in it.
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
    /// - Throws: ``ExportError/toolMissing(name:reason:advice:)`` where it cannot be started, or lacks what it needs.
    init(python: String) throws {
        self.python = python
        var ends: [Int32] = [-1, -1]
        // A socket, unlike a pipe, can be written to without a signal when nobody reads.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw ExportError.toolMissing(name: python, reason: String(cString: strerror(errno)), advice: Self.advice)
        }
        input = ends[0]
        let source = String(decoding: PackageResources.rows_py, as: UTF8.self)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, "-B", "-c", source]
        process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: false)
        process.standardOutput = output
        process.standardError = complaints
        defer { close(ends[1]) }
        do {
            try process.run()
        } catch {
            throw ExportError.toolMissing(name: python, reason: "it cannot be started", advice: Self.advice)
        }
        guard readLine() == "ready" else {
            throw ExportError.toolMissing(name: "\(python) with pyarrow and numpy", reason: complaint, advice: Self.advice)
        }
    }

    deinit {
        close(input)
        if process.isRunning { process.terminate() }
    }

    /// Asks for something.
    func request(_ request: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        write(Array(try encoder.encode(request)) + [UInt8(ascii: "\n")])
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

    /// The next line that the program says, without its end; nil where it says none.
    func readLine() -> String? {
        var line: [UInt8] = []
        while true {
            let byte = read(1)
            if byte.isEmpty { return nil }
            if byte == [UInt8(ascii: "\n")] { return String(decoding: line, as: UTF8.self) }
            line += byte
        }
    }

    /// Ends the program, which has nothing left to do.
    func finish() {
        shutdown(input, Int32(SHUT_WR))
        process.waitUntilExit()
    }

    /// Why the program has said no more.
    ///
    /// - Returns: ``ExportError/cannotWrite(path:reason:)``
    func failure(path: String) -> ExportError {
        .cannotWrite(path: path, reason: "\(python) failed: \(complaint)")
    }

    /// The last line of what the program complains of, which is the error itself. It is asked nothing more and ends.
    private var complaint: String {
        shutdown(input, Int32(SHUT_WR))
        let text = String(decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.split(separator: "\n").last.map(String.init) ?? "it says nothing"
    }
}
