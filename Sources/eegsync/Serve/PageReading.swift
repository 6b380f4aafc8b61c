import Bluetooth
import Dispatch
import Foundation
import Page
import Storage

/// Reads for the page on a thread of its own, one request after the other, so that no request of a slow disk keeps the others
/// from being accepted. The connection only reads, in short transactions.
final class PageReading: Sendable {
    let store: ReadOnlyStore
    private let queue = DispatchQueue(label: "reading for the page", qos: .utility)

    init(_ store: ReadOnlyStore) {
        self.store = store
    }

    /// Runs a piece of work there.
    func run<Value: Sendable>(_ body: @escaping @Sendable (ReadOnlyStore) throws -> Value) async throws -> Value {
        let store = store
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body(store) }) }
        }
    }

    /// A document for the page: keys in snake_case, as `--json` has them.
    static func document(_ facts: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return try encoder.encode(facts)
    }

    /// This machine's time, UTC nanoseconds since 1970.
    static var nowUnixNanoseconds: Int64 { HostClock.offset().offsetNanoseconds + HostClock.now.nanoseconds }

    /// A document with this machine's time at the moment of the answer, `now_ms`, milliseconds since 1970: a browser's clock
    /// may be another, and the document may be some seconds old.
    static func timed(_ document: Data) -> Data {
        guard document.first == UInt8(ascii: "{") else { return document }
        let rest = document.dropFirst()
        let end = rest.first == UInt8(ascii: "}") ? "" : ","
        return Data("{\"now_ms\":\(Double(nowUnixNanoseconds) / 1e6)\(end)".utf8) + rest
    }

    /// The answer where something was wrong: the sentence of the failure that a command would have ended with.
    static func problem(_ error: any Error) -> PageResponse {
        if case StorageError.notFound(let what) = error { return .problem(404, "There is no \(what).".printable) }
        return .problem(503, Failure(error).problem.printable)
    }
}
