import CPostgreSQL
import Glibc

/// Waits for a server, and gives it up where it does nothing any more.
///
/// The kernel of a machine whose server was stopped, or whose disk hangs, acknowledges what it is sent as before: neither TCP's
/// keepalives nor `tcp_user_timeout` find anything wrong, and the server keeps none of its own limits. One that works long on a
/// statement is as silent. So one that is silent for a while is asked over a second connection whether it lives
/// (PostgreSQL 15, 34.1: PQpingParams), which `connect_timeout` bounds. Where only the process that works for this connection
/// was stopped, the server answers; but it does not end a statement, as its own `statement_timeout` says.
final class ServerSilence {
    /// Until the server is asked: longer than most statements take.
    private static let millisecondsMaximum: Int32 = 30_000

    private let libpq: UnsafePointer<LibPQ>
    private let connection: OpaquePointer
    private let parameters: ConnectionParameters
    /// After so many seconds the server ends a statement; nil where it may take for ever.
    var statementSeconds: Int32?
    private var problem: CentreError?

    /// - Parameter parameters: with which the connection was made.
    init(_ libpq: UnsafePointer<LibPQ>, of connection: OpaquePointer, reachedBy parameters: ConnectionParameters) {
        (self.libpq, self.connection, self.parameters) = (libpq, connection, parameters)
    }

    /// Throws where the server was given up before: its connection is of no use.
    func requireAnswering() throws(CentreError) {
        if let problem { throw problem }
    }

    /// Waits until the server has sent something or, where something is to be sent, takes more.
    ///
    /// - Throws: ``CentreError/lost(detail:)`` where it does neither, and answers nobody else or should have ended the
    ///   statement.
    func wait(toSend: Bool) throws(CentreError) {
        try requireAnswering()
        let events = Int16(POLLIN) | (toSend ? Int16(POLLOUT) : 0)
        // A tenth more, in which the server ends the statement and says so.
        let limit = statementSeconds.map { $0 * 1_100 }
        var waited: Int32 = 0
        while true {
            let part = min(Self.millisecondsMaximum, limit.map { $0 - waited } ?? .max)
            var socket = pollfd(fd: libpq.pointee.PQsocket(connection), events: events, revents: 0)
            let ready = poll(&socket, 1, part)
            if ready > 0 { return }
            if ready < 0 {
                if errno == EINTR { continue }
                throw .lost(detail: String(cString: strerror(errno)))
            }
            guard answers() else {
                throw givenUp("has said nothing for \(part / 1000) s, and does not answer a second connection")
            }
            waited += part
            if let limit, waited >= limit {
                throw givenUp("answers, but has not ended a statement that it ends after \(limit / 1_100) s")
            }
        }
    }

    private func givenUp(_ reason: String) -> CentreError {
        let problem = CentreError.lost(detail: "the server \(reason)")
        self.problem = problem
        return problem
    }

    private func answers() -> Bool {
        let said = parameters.lend { libpq.pointee.PQpingParams($0, $1, 1) }
        return said != PQPING_NO_RESPONSE
    }
}
