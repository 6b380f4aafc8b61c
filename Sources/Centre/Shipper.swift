package import Bluetooth
import Evidence
package import Storage

/// Sends what a database holds to a centre, in rounds.
///
/// What is there the centre says; samples and the note of what is there are one transaction. So a process that dies anywhere,
/// or a second one on the same database, sends nothing twice and leaves nothing out. The database is only read, but for the
/// note of what is confirmed.
package final class Shipper {
    /// What a round did.
    package struct Round: Hashable, Sendable {
        /// Rows that were sent.
        package var rows = 0
        /// Transactions.
        package var transactions = 0
        /// False where more waits.
        package var isComplete = true

        package init() {}
    }

    /// Rows of one stream that a transaction sends of the newest, and of older ones: 16 blocks.
    package static let rowLimit = 65_536
    /// Rows of a table that a document has.
    private static let lineLimit = 20_000
    /// Recordings that have ended are looked at each so many rounds: people correct annotations.
    private static let endedInterval = 60
    /// Rows of tables that grow are counted each so many rounds, an hour: a merge adds some between those that are there.
    private static let countInterval = 1800

    /// Whoever holds a lock for longer than that has forgotten it.
    private static let limits = "SET lock_timeout = '30s'"
    /// What the server may take for a statement.
    package static let statementSeconds: Int32 = 600
    /// Of a machine that is gone the server gives back what it holds after so long.
    package static let idleSeconds: Int32 = 120

    private let store: ReadOnlyStore
    private let control: ControlStore
    private let connection: CentreConnection
    /// The machine's UUID.
    private let machine: String
    private let rowLimit: Int
    private var states: [String: ShippedState] = [:]
    /// By the stream's UUID and chain, the last block whose digest is there.
    private var blocksFrom: [String: [String: Int64]] = [:]
    /// What of recordings was sent on this connection.
    private var documents: [RecordingID: SentDocument] = [:]
    /// False where the centre is of a version that takes whole documents only.
    private let takesChanges: Bool
    /// What is there of the tables that grow beside the samples, of each recording that was looked at.
    private var series: [RecordingID: [RowSeries: RowSeries.State]] = [:]
    /// False where the centre is of a version that takes none of them.
    private let takesRows: Bool
    private var hostBoots: Digest?
    private var ended: Set<RecordingID> = []
    private var roundNumber = 0
    /// The number of the last change that a round saw which found everything sent; nil where it did not.
    private var changeNumberAllSent: Int64?
    /// Streams of which the centre has what cannot have come from this database, and why, by UUID. Nothing is sent of their
    /// recordings.
    package private(set) var diverged: [String: String] = [:]
    /// Recordings that the centre does not take, or that cannot be read, and why. The others are sent all the same.
    package private(set) var refused: [RecordingID: String] = [:]
    /// Those that cannot be read, and when they are tried again.
    private var unreadable: [RecordingID: ReadingPause] = [:]
    /// What is there of each stream, and how that is asked and said.
    private let shipmentTable: ShipmentTable
    private let pieceTable: PieceTable
    /// False where the centre is of a version that makes its views with what it is sent, in the same transaction.
    private let makesViews: Bool
    /// Of each recording, which version of what is said of it the centre has; nil where it is of one that counts none.
    private var documentVersions: DocumentVersions?
    /// What the streams and channels of a recording were called when views were made of it last, and whether all are there.
    private var views: [RecordingID: (names: Int, areThere: Bool)] = [:]

    /// Begins: says who ships, asks what is there, and notes that and nothing else as confirmed.
    ///
    /// - Parameters:
    ///   - control: where confirmations are noted.
    ///   - machine: the machine's UUID.
    ///   - version: of eegsync.
    ///   - now: when confirmations are noted.
    package init(
        store: ReadOnlyStore, control: ControlStore, connection: CentreConnection, machine: String, version: String,
        now: MonotonicTime, rowLimit: Int = Shipper.rowLimit, statementSeconds: Int32 = Shipper.statementSeconds,
        idleSeconds: Int32 = Shipper.idleSeconds
    ) throws {
        (self.store, self.control, self.connection, self.rowLimit) = (store, control, connection, rowLimit)
        self.machine = machine
        takesChanges =
            try connection.execute("SELECT to_regprocedure('ship_changes(jsonb)') IS NOT NULL").first?.first == "t"
        takesRows =
            try connection.execute("SELECT to_regprocedure('ship_series(uuid)') IS NOT NULL").first?.first == "t"
        makesViews =
            try connection.execute("SELECT to_regprocedure('ship_views(uuid)') IS NOT NULL").first?.first == "t"
        documentVersions = try DocumentVersions(connection)
        shipmentTable = try ShipmentTable(connection)
        if makesViews { try connection.execute("SET eegsync.views = 'afterwards'") }
        try connection.execute(Self.limits)
        try connection.endStatements(afterSeconds: statementSeconds)
        try connection.endIdleTransactions(afterSeconds: idleSeconds)
        try connection.execute("SELECT ship_machine($1, $2)", [machine, version])
        pieceTable = try PieceTable(connection)
        var confirmed: [StreamID: [BlockEnd]] = [:]
        for (uuid, state) in try shipmentTable.states() {
            guard state.isPossible else {
                diverged[uuid] = "the centre says that it has rows with numbers that no recording comes to"
                continue
            }
            states[uuid] = state
            do {
                try compare(uuid, state)
                guard diverged[uuid] == nil, let ends = try store.confirmed(state, of: uuid) else { continue }
                confirmed[ends.stream] = ends.ends
            } catch let error as StorageError {
                guard let reason = error.damage else { throw error }
                diverged[uuid] = reason
            }
        }
        try control.confirm(only: confirmed, at: connection.destination, now: now)
    }

    private func compare(_ uuid: String, _ state: ShippedState) throws {
        let heads = try connection.execute("SELECT * FROM ship_heads($1)", [uuid]).compactMap { row -> (BlockEnd, String)? in
            guard let chain = row[0], let number = row[1].flatMap({ Int64($0) }), let rows = row[2].flatMap({ Int64($0) }),
                let digest = row[3]
            else { return nil }
            blocksFrom[uuid, default: [:]][chain] = number
            return (BlockEnd(chain: chain, number: number, rowCount: rows), digest)
        }
        if let reason = try store.divergence(of: uuid, from: heads.map { (end: $0.0, digest: $0.1) }, state) {
            diverged[uuid] = reason
        }
    }

    /// Says how the machine is.
    ///
    /// - Parameter status: JSON; see the function `ship_status` of the centre.
    /// - Returns: false where the centre is of a version that does not take it.
    package func say(_ status: String) throws(CentreError) -> Bool {
        do throws(CentreError) {
            try connection.execute("SELECT ship_status($1, $2)", [machine, status])
            return true
        } catch {
            guard case .schema = error else { throw error }
            return false
        }
    }

    /// Sends of each recording that goes on what is new, and a part of what waits; then a part of the oldest one that has ended
    /// and waits. So whoever looks at what goes on waits for one transaction of the others.
    ///
    /// - Parameter now: when confirmations are noted.
    package func round(now: () -> MonotonicTime) throws -> Round {
        var round = Round()
        roundNumber += 1
        let changeNumber = try store.changeNumber()
        if roundNumber % Self.endedInterval == 0 {
            ended.removeAll()
            refused = refused.filter { (unreadable[$0.key]?.end ?? 0) > roundNumber }
            series = series.mapValues { $0.mapValues { $0.countedAgain() } }
        } else if changeNumberAllSent == changeNumber {
            return round
        }
        if roundNumber % Self.countInterval == 0 {
            series = series.mapValues { $0.mapValues { $0.comparedAgain() } }
        }
        for recording in try store.shippableRecordings() where !ended.contains(recording) && refused[recording] == nil {
            do {
                let hasSentOfEnded = try send(recording, in: &round, now: now)
                unreadable[recording] = nil
                if hasSentOfEnded {
                    round.isComplete = false
                    break
                }
            } catch let error as StorageError {
                // Of a card that begins to fail, what can be read is to arrive.
                guard let reason = error.damage else { throw error }
                refused[recording] = reason
                unreadable[recording, default: ReadingPause()].extend(since: roundNumber)
            }
        }
        changeNumberAllSent = round.isComplete ? changeNumber : nil
        return round
    }

    /// Sends of a recording what is new, and a part of what waits.
    ///
    /// - Returns: true where samples of one that has ended were sent.
    private func send(_ recording: RecordingID, in round: inout Round, now: () -> MonotonicTime) throws -> Bool {
        guard let shipment = try self.shipment(of: recording) else { return false }
        if shipment.streams.contains(where: { diverged[$0.uuid] != nil }) { return false }
        var rows = 0
        let statements = statements(for: shipment)
        if !statements.isEmpty || shipment.streams.contains(where: { $0.after != $0.before })
            || shipment.series.contains(where: { $0.rows != nil })
        {
            guard try sent(shipment, statements) else { return false }
            rows = shipment.streams.reduce(0) { $0 + $1.rowCount }
            round.transactions += 1
            round.rows += rows
            documents[recording] = shipment.document.sent
        } else if shipment.isEnded {
            // Nothing is confirmed of what somebody has taken away, or changed, there.
            try documentVersions?.requireUnchanged(recording, uuid: shipment.uuid)
        }
        series[recording] = Dictionary(shipment.series.map { ($0.series, $0.after) }) { first, _ in first }
        for stream in shipment.streams {
            states[stream.uuid] = stream.after
            for block in stream.lastBlocks { blocksFrom[stream.uuid, default: [:]][block.chain] = block.number }
            try control.confirm(stream.confirmed, of: stream.stream, at: connection.destination, now: now())
        }
        if !shipment.isComplete || shipment.streams.contains(where: { $0.after.hasBacklog }) {
            round.isComplete = false
        } else if shipment.isEnded {
            if let whole = shipment.whole {
                try control.confirm(whole: whole, of: recording, at: connection.destination, now: now())
            }
            ended.insert(recording)
        }
        try makeViews(of: shipment)
        return shipment.isEnded && rows > 0
    }

    /// Has the centre make the views of what was sent, in a transaction of its own: whoever reads one waits while it is made.
    private func makeViews(of shipment: RecordingShipment) throws(CentreError) {
        guard makesViews else { return }
        let names = shipment.document.names
        // Somebody may read a view for hours, or make it just now.
        if let last = views[shipment.recording], last.names == names,
            last.areThere || roundNumber % Self.endedInterval != 0
        {
            return
        }
        let answer = try connection.execute("SELECT ship_views($1)", [shipment.uuid])
        views[shipment.recording] = (names, answer.first?.first == "t")
    }

    /// What is to be sent of a recording; nil where it was deleted just now.
    private func shipment(of recording: RecordingID) throws -> RecordingShipment? {
        do {
            // Before the database is read: what another process sends meanwhile is newer.
            try documentVersions?.ask(recording, uuid: { try store.identity(of: recording) })
            return try store.shipment(
                of: recording, states: states, blocksFrom: blocksFrom,
                series: takesRows ? try seriesThere(of: recording) : nil, rowLimit: rowLimit,
                headLimit: shipmentTable.headLimit)
        } catch StorageError.notFound {
            return nil
        }
    }

    /// What the centre has of the tables that grow; it is asked once on each connection.
    private func seriesThere(of recording: RecordingID) throws -> [RowSeries: RowSeries.State] {
        if let known = series[recording] { return known }
        let uuid = try store.identity(of: recording)
        var states: [RowSeries: RowSeries.State] = [:]
        for row in try connection.execute("SELECT * FROM ship_series($1)", [uuid]) {
            let numbers = row.dropFirst(2).map { $0.flatMap { Int64($0) } }
            guard let table = row[0], let owner = row[1], let part = numbers[0], let last = numbers[1], let count = numbers[2]
            else { continue }
            states[RowSeries(table: table, owner: owner, part: part)] = RowSeries.State(
                last: last, count: count, isComplete: row[5] == "t")
        }
        return states
    }

    /// What says everything of a recording but samples: all of it where this connection has not yet, and then what has changed;
    /// nothing where nothing has.
    private func statements(for shipment: RecordingShipment) -> [(document: String, isWhole: Bool)] {
        let document = shipment.document
        guard let before = documents[shipment.recording] else {
            // PostgreSQL takes no list beyond 256 MB.
            let parts = takesChanges ? document.parts(lineLimit: Self.lineLimit) : [document.json]
            return parts.enumerated().map { ($0.element, $0.offset == 0) }
        }
        if !takesChanges { return before == document.sent ? [] : [(document.json, true)] }
        return document.changes(since: before).map { [($0, false)] } ?? []
    }

    private func send(_ statement: (document: String, isWhole: Bool), of recording: RecordingID) throws(CentreError) {
        if let documentVersions {
            try documentVersions.send(statement.document, isWhole: statement.isWhole, of: recording)
            return
        }
        try connection.execute(
            statement.isWhole ? "SELECT ship_recording($1)" : "SELECT ship_changes($1)", [statement.document], isRepeated: true)
    }

    /// Sends; false where the centre does not take the recording, whenever it is asked.
    private func sent(_ shipment: RecordingShipment, _ statements: [(document: String, isWhole: Bool)]) throws -> Bool {
        let version = documentVersions?[shipment.recording]
        do {
            try send(shipment, statements)
            return true
        } catch let error as CentreError {
            guard case .refused = error, error.disposition == .person else { throw error }
            documentVersions?[shipment.recording] = version
            refused[shipment.recording] = "\(error)"
            return false
        }
    }

    private func send(_ shipment: RecordingShipment, _ statements: [(document: String, isWhole: Bool)]) throws {
        let boots = try store.hostBootDocument()
        func sendTables() throws(CentreError) {
            if hostBoots != Digest(of: boots) { try connection.execute("SELECT ship_host_boots($1)", [boots]) }
            for statement in statements { try send(statement, of: shipment.recording) }
        }
        // A worker of a cluster learns whose a stream is from the transaction that brings the stream, once that has ended.
        if pieceTable.isSpread { try inTransaction(sendTables) }
        try inTransaction { () throws(CentreError) in
            if !pieceTable.isSpread { try sendTables() }
            for part in shipment.series {
                guard let rows = part.rows else { continue }
                try connection.execute(
                    "SELECT ship_rows($1, $2, $3, $4, $5, $6, $7, $8)",
                    [
                        shipment.uuid, part.series.table, part.series.owner, "\(part.series.part)", "\(part.after.last)",
                        "\(part.after.count)", part.after.isComplete ? "t" : "f", rows,
                    ], isRepeated: true)
            }
            for stream in shipment.streams where stream.after != stream.before {
                try shipmentTable.begin(stream)
                try pieceTable.send(stream)
                try shipmentTable.end(stream)
            }
        }
        hostBoots = Digest(of: boots)
    }

    /// Runs statements that count together or not at all, and that are there for good before anything of them is confirmed,
    /// whatever the server's setting.
    private func inTransaction(_ statements: () throws(CentreError) -> Void) throws(CentreError) {
        try connection.inTransaction { () throws(CentreError) in
            try connection.execute("SET LOCAL synchronous_commit = on")
            try statements()
        }
    }
}

extension StorageError {
    /// What is wrong with a part of the database, whose other parts may be sound; nil for what concerns all of it.
    fileprivate var damage: String? {
        switch self {
        case .corrupt(_, let detail): "the database is damaged where it stands: \(detail)"
        // 10 is SQLITE_IOERR: a sector that cannot be read.
        case .sqlite(let code, let detail) where code & 0xFF == 10: "it cannot be read from the disk: \(detail)"
        default: nil
        }
    }
}
