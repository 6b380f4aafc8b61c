import GRDB
import Synchronization

/// Further connections to a file, which see what one transaction sees, so that its rows can be read by several threads.
final class AuditConnections: Sendable {
    private let queues: [DatabaseQueue]

    /// Opens connections for reading; without a path, or for one reader, there are none.
    init(path: String?, count: Int) throws {
        var queues: [DatabaseQueue] = []
        if let path {
            var configuration = DatabaseOpening(path: path, options: StoreOptions()).configuration(isReadOnly: true)
            // Transactions last from `begin` to `end`.
            configuration.allowsUnsafeTransactions = true
            for _ in 0..<count { queues.append(try DatabaseQueue(path: path, configuration: configuration)) }
        }
        self.queues = queues
    }

    deinit { for queue in queues { try? queue.close() } }

    var count: Int { queues.count }

    /// What says whether anything was committed since.
    func versions() throws -> [Int64] {
        try queues.map { queue in try queue.inDatabase { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 } }
    }

    /// Begins a transaction on each connection.
    ///
    /// - Parameter versions: what ``versions()`` said before the transaction began whose view is wanted.
    /// - Returns: false where something was committed in between; the transactions are over then.
    func begin(unless versions: [Int64]) throws -> Bool {
        let now = try queues.map { queue in
            try queue.inDatabase { db in
                try db.execute(sql: "BEGIN")
                // The view is that of the first read.
                _ = try Int64.fetchOne(db, sql: "SELECT count(*) FROM host_boot")
                return try Int64.fetchOne(db, sql: "PRAGMA data_version") ?? 0
            }
        }
        if now == versions { return true }
        try end()
        return false
    }

    func end() throws {
        for queue in queues { try queue.inDatabase { db in try db.execute(sql: "COMMIT") } }
    }

    /// Runs work on one connection.
    func read<Result>(with index: Int, _ body: (Database) throws -> Result) throws -> Result {
        try queues[index].inDatabase(body)
    }
}
