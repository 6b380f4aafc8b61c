import Synchronization
import UnixSignals

/// Whether a person wants the end of a command that goes on until then.
final class Interruption: Sendable {
    private let state = Mutex(false)

    /// True once SIGINT or SIGTERM came.
    var isWanted: Bool { state.withLock { $0 } }

    /// Runs a command that looks at its interruption; the signals end nothing else meanwhile.
    static func run<Value>(_ body: (Interruption) async throws -> Value) async throws -> Value {
        let interruption = Interruption()
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let listener = Task {
            for await _ in signals { interruption.state.withLock { $0 = true } }
        }
        defer { listener.cancel() }
        return try await body(interruption)
    }
}
