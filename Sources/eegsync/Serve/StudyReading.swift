import Centre
import Dispatch
import Synchronization

/// Asks a centre for the page, on a thread of its own, one question after the other: a server that takes long keeps no request
/// from being accepted.
final class StudyReading: Sendable {
    private let address: String
    private let silenceSeconds: Double
    private let statementSeconds: Int32
    private let queue = DispatchQueue(label: "reading of the study for the page", qos: .utility)
    private let connection = Mutex<CentreConnection?>(nil)
    private let latestLook = Mutex(ContinuousClock.now)

    /// The centre keeps no connection for whom nobody has asked for so long.
    private static let idleMaximum = Duration.seconds(60)

    /// - Parameters:
    ///   - address: of the centre.
    ///   - silenceSeconds: for how long a machine may say nothing.
    ///   - statementSeconds: what the server may take for a statement.
    init(_ address: String, silenceSeconds: Double, statementSeconds: Int32) {
        self.address = address
        self.silenceSeconds = silenceSeconds
        self.statementSeconds = statementSeconds
    }

    /// How the machines and headsets are.
    ///
    /// - Throws: ``CentreError``. The next call connects anew.
    func facts() async throws -> FleetFacts {
        latestLook.withLock { $0 = .now }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.read() }) }
        }
    }

    private func read() throws(CentreError) -> FleetFacts {
        try connection.withLock { kept throws(CentreError) in
            do throws(CentreError) {
                let connection = if let kept { kept } else { try connected() }
                kept = connection
                return try FleetFacts(asking: connection, silenceSeconds: silenceSeconds)
            } catch {
                kept = nil
                throw error
            }
        }
    }

    private func connected() throws(CentreError) -> CentreConnection {
        let connection = try CentreConnection(address)
        try connection.endStatements(afterSeconds: statementSeconds)
        return connection
    }

    /// Ends the connection where nobody looks; called once in a while.
    func tidy(at instant: ContinuousClock.Instant = .now) {
        guard instant - latestLook.withLock({ $0 }) > Self.idleMaximum else { return }
        queue.async { self.connection.withLock { $0 = nil } }
    }
}
