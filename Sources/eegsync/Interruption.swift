import Synchronization
import UnixSignals

/// Whether a person wants the end of a command that goes on until then.
final class Interruption: Sendable {
    private let state = Mutex(false)

    /// True once SIGINT or SIGTERM came, or SIGHUP where that counts.
    var isWanted: Bool { state.withLock { $0 } }

    /// Runs a command that looks at its interruption; the signals end nothing else meanwhile.
    ///
    /// - Parameter alsoByHangup: true where the end of its terminal is one, too, for what must not end without being closed.
    static func run<Value>(
        alsoByHangup: Bool = false, _ body: (Interruption) async throws -> Value
    ) async throws -> Value {
        let interruption = Interruption()
        let signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm] + (alsoByHangup ? [.sighup] : []))
        let listener = Task {
            for await _ in signals { interruption.state.withLock { $0 = true } }
        }
        defer { listener.cancel() }
        return try await body(interruption)
    }
}
