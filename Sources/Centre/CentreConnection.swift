import CPostgreSQL
import Glibc

/// A connection to a PostgreSQL server, through libpq. Used by one thread at a time; closed when it is let go.
package final class CentreConnection {
    private let libpq: UnsafePointer<LibPQ>
    private let connection: OpaquePointer
    private let silence: ServerSilence
    /// The server and its database, such as `study.example.org:5432/study`: no password, no user.
    package let destination: String
    /// The most bytes of a piece of what is copied; what is asked after each, and after each statement with parameters, with
    /// its bytes, for how long nothing is to be sent; and what waits so long.
    package var pacing: (pieceSize: Int, pause: (Int) -> Duration, rest: (Duration) -> Void) = (
        1 << 20, { _ in .zero }, { _ in }
    )
    /// The server hears something after so long, whatever the pause; nil where it waits for ever.
    private var restMaximum: Duration?
    private var isInTransaction = false
    /// The names of statements that the server has parsed and planned, by their text.
    private var prepared: [String: String] = [:]

    /// Connects.
    ///
    /// A server that is reached over a network must prove who it is (`sslmode=verify-full`), unless the address says otherwise,
    /// wherever its name stands: PGHOST, PGHOSTADDR and PGSSLMODE change nothing of that. libpq ignores it for a socket of the
    /// machine. A server that is gone is noticed within a minute or two, and one that is there and does nothing (it was
    /// stopped, its disk hangs) by ``ServerSilence``.
    /// Passwords stand in the password file (`~/.pgpass`) or in PGPASSFILE, never in the address.
    ///
    /// - Parameter address: a URI such as `postgresql://pi-07@study.example.org/study`, or keywords as libpq takes them
    ///   (PostgreSQL 15, 34.1.1).
    package init(_ address: String) throws(CentreError) {
        let libpq = try Self.library()
        self.libpq = libpq
        let stated = try Self.parts(of: address)
        let parameters = ConnectionParameters(
            words: [("dbname", address), ("application_name", "eegsync")] + Self.defaults.filter { stated[$0.0] == nil })
        let opened = parameters.lend { libpq.pointee.PQconnectdbParams($0, $1, 1) }
        guard let opened else { throw .unreachable(detail: "no memory") }
        guard libpq.pointee.PQstatus(opened) == CONNECTION_OK else {
            let detail = Self.message(libpq.pointee.PQerrorMessage(opened))
            libpq.pointee.PQfinish(opened)
            throw .unreachable(detail: detail)
        }
        connection = opened
        silence = ServerSilence(libpq, of: opened, reachedBy: parameters)
        let host = Self.text(libpq.pointee.PQhost(opened))
        destination =
            (host.hasPrefix("/") ? host : "\(host):\(Self.text(libpq.pointee.PQport(opened)))") + "/"
            + Self.text(libpq.pointee.PQdb(opened))
        // Lines that a server sends beside results would go to standard error.
        _ = libpq.pointee.PQsetNoticeProcessor(opened, { _, _ in }, nil)
        _ = libpq.pointee.PQsetnonblocking(opened, 1)
    }

    deinit { libpq.pointee.PQfinish(connection) }

    /// Has the server end each statement after so many seconds, and gives it up where it does not.
    package func endStatements(afterSeconds seconds: Int32) throws(CentreError) {
        try execute("SET statement_timeout = '\(seconds)s'")
        silence.statementSeconds = seconds
    }

    /// Has the server give up a transaction in which it hears nothing for so many seconds. Pauses for ``pacing`` are no reason.
    package func endIdleTransactions(afterSeconds seconds: Int32) throws(CentreError) {
        try execute("SET idle_in_transaction_session_timeout = '\(seconds)s'")
        restMaximum = Duration.seconds(seconds) / 4
    }

    /// What counts where the address says nothing of it (PostgreSQL 15, 34.1.2).
    private static let defaults = [
        ("sslmode", "verify-full"), ("gssencmode", "disable"),
        // Seconds: for an answer to the first packets, and of silence until the server is asked, three times.
        ("connect_timeout", "10"), ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
        // Milliseconds until what was sent must be acknowledged.
        ("tcp_user_timeout", "90000"),
    ]

    /// libpq, which stays as long as the process runs.
    private static func library() throws(CentreError) -> UnsafePointer<LibPQ> {
        var problem: UnsafePointer<CChar>?
        guard let library = cpostgresql_library(&problem) else { throw .noLibrary(reason: text(problem)) }
        return library
    }

    /// What is wrong with an address, without what stands there, as it may be a password; nil for nothing, and where no libpq
    /// is there to judge it.
    package static func problem(of address: String) -> String? {
        do throws(CentreError) {
            _ = try parts(of: address)
            return nil
        } catch {
            guard case .address(let reason) = error else { return nil }
            return reason
        }
    }

    /// What an address states, by keyword.
    private static func parts(of address: String) throws(CentreError) -> [String: String] {
        let libpq = try library()
        var problem: UnsafeMutablePointer<CChar>?
        guard let options = libpq.pointee.PQconninfoParse(address, &problem) else {
            let detail = text(problem)
            libpq.pointee.PQfreemem(problem)
            // libpq repeats what it was given, and somebody may have put a password there.
            throw .address(
                reason: "it is no address of a PostgreSQL server"
                    + (detail.contains("\"") ? "" : ": \(detail)"))
        }
        defer { libpq.pointee.PQconninfoFree(options) }
        var parts: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parts[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        if ["password", "sslpassword"].contains(where: { parts[$0] != nil }) {
            throw .address(
                reason: "the address has a password, which others could read: write it into ~/.pgpass, or use a client "
                    + "certificate")
        }
        return parts
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        guard let pointer else { return "" }
        return String(cString: pointer).split(separator: "\n").joined(separator: " ")
    }

    /// A message of libpq or of the server on one line: some have several, which tabs indent.
    private static func message(_ pointer: UnsafePointer<CChar>?) -> String {
        text(pointer).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Runs one statement with parameters, or several without.
    ///
    /// - Parameter isRepeated: whether it comes again and again, so that the server parses and plans it once.
    /// - Returns: the rows, all values as texts.
    @discardableResult
    package func execute(
        _ sql: String, _ parameters: [String?] = [], isRepeated: Bool = false
    ) throws(CentreError) -> [[String?]] {
        let result = try result(of: sql, parameters.isEmpty ? nil : parameters, isBinary: false, isRepeated: isRepeated)
        defer { libpq.pointee.PQclear(result) }
        try check(result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY])
        if !parameters.isEmpty { try pause(after: parameters.reduce(0) { $0 + ($1?.utf8.count ?? 0) }) }
        return (0..<libpq.pointee.PQntuples(result)).map { row in
            (0..<libpq.pointee.PQnfields(result)).map { column in
                libpq.pointee.PQgetisnull(result, row, column) == 1
                    ? nil : libpq.pointee.PQgetvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }

    /// Runs one statement with parameters in the server's binary form, which gives no rows.
    ///
    /// - Parameters:
    ///   - parameters: as ``CopyStream/rows`` has them; nil is NULL.
    ///   - isRepeated: whether it comes again and again, so that the server parses and plans it once.
    package func execute(
        _ sql: String, binary parameters: [[UInt8]?], isRepeated: Bool
    ) throws(CentreError) {
        let name = isRepeated ? try prepare(sql) : nil
        try silence.requireAnswering()
        let lengths = parameters.map { Int32($0?.count ?? 0) }
        let bytes = parameters.flatMap { $0 ?? [] }
        let isSent = bytes.withUnsafeBytes { bytes in
            var values: [UnsafePointer<CChar>?] = []
            var offset = 0
            for parameter in parameters {
                values.append(
                    parameter == nil ? nil : bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self))
                offset += parameter?.count ?? 0
            }
            let (count, formats) = (Int32(parameters.count), lengths.map { _ in Int32(1) })
            guard let name else {
                return libpq.pointee.PQsendQueryParams(connection, sql, count, nil, values, lengths, formats, 0)
            }
            return libpq.pointee.PQsendQueryPrepared(connection, name, count, values, lengths, formats, 0)
        }
        let result = try lastResult(isSent: isSent == 1)
        defer { libpq.pointee.PQclear(result) }
        try check(result, [PGRES_COMMAND_OK])
        try pause(after: bytes.count)
    }

    /// Waits for as long as a rate wants it. A server that waits for a transaction hears meanwhile that somebody is there.
    private func pause(after bytes: Int) throws(CentreError) {
        let pause = pacing.pause(bytes)
        let parts = SendingRate.parts(of: pause, atMost: isInTransaction ? restMaximum ?? pause : pause)
        for (index, part) in parts.enumerated() {
            if index > 0 { try execute("SELECT 1") }
            pacing.rest(part)
        }
    }

    /// Runs one statement, and hands out its rows in the server's binary form.
    package func forEachRow(
        _ sql: String, _ parameters: [String?], _ body: (BinaryRow) throws(CentreError) -> Void
    ) throws(CentreError) {
        let result = try result(of: sql, parameters, isBinary: true)
        defer { libpq.pointee.PQclear(result) }
        try check(result, [PGRES_TUPLES_OK])
        guard let result else { return }
        for row in 0..<libpq.pointee.PQntuples(result) { try body(BinaryRow(libpq, result, row)) }
    }

    /// Sends a statement, or several where there are no parameters, and waits for the last result, or the one that is an error,
    /// or that asks for rows.
    private func result(
        of sql: String, _ parameters: [String?]?, isBinary: Bool, isRepeated: Bool = false
    ) throws(CentreError) -> OpaquePointer? {
        let name = isRepeated ? try prepare(sql) : nil
        try silence.requireAnswering()
        let isSent: Int32
        if let parameters {
            let values = parameters.map { $0.flatMap { strdup($0) } }
            defer { for value in values { free(value) } }
            let (count, pointers) = (Int32(parameters.count), values.map { UnsafePointer($0) })
            if let name {
                isSent = libpq.pointee.PQsendQueryPrepared(connection, name, count, pointers, nil, nil, isBinary ? 1 : 0)
            } else {
                isSent = libpq.pointee.PQsendQueryParams(connection, sql, count, nil, pointers, nil, nil, isBinary ? 1 : 0)
            }
        } else {
            isSent = libpq.pointee.PQsendQuery(connection, sql)
        }
        return try lastResult(isSent: isSent == 1)
    }

    /// Has the server parse a statement, where it has not yet. Returns the name of it.
    private func prepare(_ sql: String) throws(CentreError) -> String {
        if let name = prepared[sql] { return name }
        let name = "eegsync_\(prepared.count + 1)"
        try silence.requireAnswering()
        let result = try lastResult(isSent: libpq.pointee.PQsendPrepare(connection, name, sql, 0, nil) == 1)
        defer { libpq.pointee.PQclear(result) }
        try check(result, [PGRES_COMMAND_OK])
        prepared[sql] = name
        return name
    }

    /// Waits for the last result of what was sent, or the one that is an error, or that asks for rows.
    private func lastResult(isSent: Bool) throws(CentreError) -> OpaquePointer? {
        guard isSent else { throw .lost(detail: Self.message(libpq.pointee.PQerrorMessage(connection))) }
        var last: OpaquePointer?
        do throws(CentreError) {
            while let next = try nextResult() {
                libpq.pointee.PQclear(last)
                last = next
                if libpq.pointee.PQresultStatus(next) == PGRES_COPY_IN { break }
            }
        } catch {
            libpq.pointee.PQclear(last)
            throw error
        }
        return last
    }

    /// The next result of what was sent; nil where there is none left.
    private func nextResult() throws(CentreError) -> OpaquePointer? {
        while true {
            let isUnsent = try flush()
            if libpq.pointee.PQisBusy(connection) == 0 { return libpq.pointee.PQgetResult(connection) }
            try silence.wait(toSend: isUnsent)
            try consume()
        }
    }

    /// Sends what waits, as far as the server takes it. Returns whether something is left.
    private func flush() throws(CentreError) -> Bool {
        let left = libpq.pointee.PQflush(connection)
        guard left >= 0 else { throw .lost(detail: Self.message(libpq.pointee.PQerrorMessage(connection))) }
        return left == 1
    }

    private func consume() throws(CentreError) {
        guard libpq.pointee.PQconsumeInput(connection) == 1 else {
            throw .lost(detail: Self.message(libpq.pointee.PQerrorMessage(connection)))
        }
    }

    /// Does what sends something of a COPY until the server has taken it: 0 asks for another time.
    private func send(_ part: () -> Int32) throws(CentreError) {
        while true {
            let done = part()
            if done == 1 { return }
            guard done == 0 else { throw .lost(detail: Self.message(libpq.pointee.PQerrorMessage(connection))) }
            if try flush() {
                try silence.wait(toSend: true)
                try consume()
            }
        }
    }

    /// Sends rows by COPY.
    ///
    /// - Parameters:
    ///   - sql: `COPY ... FROM STDIN (FORMAT binary)`.
    ///   - bytes: what the format asks for.
    package func copy(_ sql: String, _ bytes: [UInt8]) throws(CentreError) {
        let begun = try result(of: sql, nil, isBinary: false)
        defer { libpq.pointee.PQclear(begun) }
        try check(begun, [PGRES_COPY_IN])
        for offset in stride(from: 0, to: bytes.count, by: pacing.pieceSize) {
            try send {
                bytes.withUnsafeBytes { bytes in
                    let part = bytes[offset..<min(bytes.count, offset + pacing.pieceSize)]
                    let start = UnsafeRawBufferPointer(rebasing: part).baseAddress?.assumingMemoryBound(to: CChar.self)
                    return libpq.pointee.PQputCopyData(connection, start, Int32(part.count))
                }
            }
            // Memory holds one part, and not all that the server has not taken yet.
            while try flush() {
                try silence.wait(toSend: true)
                try consume()
            }
            // A quarter of a second: nothing else may be said during a COPY.
            pacing.rest(pacing.pause(min(bytes.count - offset, pacing.pieceSize)))
        }
        try send { libpq.pointee.PQputCopyEnd(connection, nil) }
        var problem: CentreError?
        while let result = try nextResult() {
            do throws(CentreError) { try check(result, [PGRES_COMMAND_OK]) } catch { problem = problem ?? error }
            libpq.pointee.PQclear(result)
        }
        if let problem { throw problem }
    }

    /// Runs statements that count together or not at all.
    package func inTransaction(_ body: () throws(CentreError) -> Void) throws(CentreError) {
        try execute("BEGIN")
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            try body()
            try execute("COMMIT")
        } catch {
            _ = try? execute("ROLLBACK")
            throw error
        }
    }

    /// Reads what is there at one instant, and changes nothing.
    package func inSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer { _ = try? execute("ROLLBACK") }
        return try body()
    }

    private func check(_ result: OpaquePointer?, _ expected: [ExecStatusType]) throws(CentreError) {
        let status = libpq.pointee.PQresultStatus(result)
        if expected.contains(where: { $0 == status }) { return }
        let detail = Self.message(libpq.pointee.PQerrorMessage(connection))
        guard libpq.pointee.PQstatus(connection) == CONNECTION_OK else { throw .lost(detail: detail) }
        // 'C': the field of SQLSTATE; 'V': how severe it is, in English. What has none was not said by the server, and a server
        // that ends the session refuses nothing of what was asked.
        let state = Self.text(libpq.pointee.PQresultErrorField(result, Int32(UInt8(ascii: "C"))))
        let severity = Self.text(libpq.pointee.PQresultErrorField(result, Int32(UInt8(ascii: "V"))))
        guard !state.isEmpty, severity != "FATAL", severity != "PANIC" else { throw .lost(detail: detail) }
        let message = Self.message(libpq.pointee.PQresultErrorField(result, Int32(UInt8(ascii: "M"))))
        // A function, or a table, that is not there.
        if ["42883", "42P01"].contains(state) {
            throw .schema(
                reason: "the database \(destination) is no centre, or one of another version (\(message)): install one version "
                    + "of eegsync there and here, and run eegsync centre init there")
        }
        throw .refused(state: state, detail: message.isEmpty ? detail : message)
    }
}
