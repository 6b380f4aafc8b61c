import GRDB

/// The transaction in which a batch is written.
struct BatchTransaction {
    let db: Database
    /// The row of the host boot that the batch's instants belong to.
    let hostBoot: Int64
    /// The evidence of the rows.
    let blocks: BlockInsertion

    init(db: Database, hostBoot: Int64, blocks: BlockInsertion? = nil) {
        self.db = db
        self.hostBoot = hostBoot
        self.blocks = blocks ?? BlockInsertion(db: db)
    }

    /// Writes a batch: changes in the order in which they happened, and the rows among them as what refers to them asks for.
    /// New streams come first, because rows and all that is said of a stream refer to it by foreign keys. All other changes
    /// come after the rows, because some look at rows that must be there by then: a fill updates its row, a quarantine opens
    /// its gap behind the last one.
    func write(_ batch: WriteBatch) throws {
        for case .stream(let stream) in batch.changes { try stream.write(in: self) }
        let samples = SampleInsertion(db: db)
        for rows in batch.samples {
            try samples.insert(rows)
            try blocks.append(rows)
        }
        for change in batch.changes {
            if case .stream = change { continue }
            try change.record.write(in: self)
        }
    }

    /// Executes a statement from the cache.
    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
