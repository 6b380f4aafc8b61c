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
    package static let endedInterval = 60
    /// Rows of tables that grow are counted each so many rounds, an hour: a merge adds some between those that are there.
    private static let countInterval = 1800

    /// Whoever holds a lock for longer than that has forgotten it.
    /// A machine that is gone amid a COPY is no idle transaction: the server's kernel asks for it.
    /// What is confirmed is there for good, whatever the server's setting.
    private static let settings = """
        SET lock_timeout = '30s'; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10;
        SET tcp_keepalives_count = 3; SET tcp_user_timeout = '90s'; SET synchronous_commit = on
        """
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
    private let endedInterval: Int
    private var states: [String: ShippedState] = [:]
    /// By the stream's UUID and chain, the last block whose digest is there.
    private var blocksFrom: [String: [String: Int64]] = [:]
    /// What of recordings was sent on this connection.
    private var documents: [RecordingID: SentDocument] = [:]
    /// False where the centre is of a version that takes whole documents only.
    private let takesChanges: Bool
    /// What is there of the tables that grow beside the samples, of each recording that was looked at.
    private var series: [RecordingID: [RowSeries: RowSeries.State]] = [:]
    /// What of them the centre holds, as it has said itself or was sent.
    private var heldSeries: [RecordingID: [RowSeries: RowSeries.State]] = [:]
    /// False where the centre is of a version that takes none of them.
    private let takesRows: Bool
    private var hostBoots: Digest?
    private var ended: Set<RecordingID> = []
    /// Recordings of which the centre did not hold what it had been sent, so that they are sent anew, since those that have
    /// ended were looked at last.
    private var sentAnew: Set<RecordingID> = []
    private var roundNumber = 0
    /// The number of the last change that a round saw which found everything sent; nil where it did not.
    private var changeNumberAllSent: Int64?
    /// Streams of which the centre has what cannot have come from this database, and why, by UUID. Nothing is sent of their
    /// recordings, and nothing is computed of what the centre says of them.
    package private(set) var diverged: [String: String] = [:]
    /// Recordings that the centre does not take, or that cannot be read, and why. The others are sent all the same.
    package private(set) var refused: [RecordingID: String] = [:]
    /// Those that cannot be read, and when they are tried again.
    private var unreadable: [RecordingID: ReadingPause] = [:]
    /// What is there of each stream, and how that is asked and said.
    private let shipmentTable: ShipmentTable
    private var pieceTable: PieceTable
    /// Nil where the centre makes its views with what it is sent.
    private let views: StreamViews?
    /// Of each recording, which version of what is said of it the centre has; nil where it is of one that counts none.
    private var documentVersions: DocumentVersions?

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
        idleSeconds: Int32 = Shipper.idleSeconds, endedInterval: Int = Shipper.endedInterval
    ) throws {
        (self.store, self.control, self.connection, self.rowLimit) = (store, control, connection, rowLimit)
        self.endedInterval = endedInterval
        self.machine = machine
        takesChanges =
            try connection.execute("SELECT to_regprocedure('ship_changes(jsonb)') IS NOT NULL").first?.first == "t"
        takesRows =
            try connection.execute("SELECT to_regprocedure('ship_series(uuid)') IS NOT NULL").first?.first == "t"
        views = try StreamViews(connection)
        documentVersions = try DocumentVersions(connection)
        shipmentTable = try ShipmentTable(connection)
        try connection.execute(Self.settings)
        try connection.endStatements(afterSeconds: statementSeconds)
        try connection.endIdleTransactions(afterSeconds: idleSeconds)
        try connection.execute("SELECT ship_machine($1, $2)", [machine, version])
        pieceTable = try PieceTable(connection)
        var confirmed: [StreamID: [BlockEnd]] = [:]
        for (uuid, state) in try shipmentTable.states() {
            guard let ends = try learn(uuid, state) else { continue }
            confirmed[ends.stream] = ends.ends
        }
        try control.confirm(only: confirmed, at: connection.destination, now: now)
    }

    /// Notes what the centre says that there is of a stream. Returns what of it is confirmed by that; nil where it is diverged,
    /// or not here.
    private func learn(_ uuid: String, _ state: ShippedState?) throws -> (stream: StreamID, ends: [BlockEnd])? {
        (states[uuid], blocksFrom[uuid]) = (state, nil)
        do {
            try compare(uuid, state)
            guard let state, diverged[uuid] == nil else { return nil }
            return try store.confirmed(state, of: uuid)
        } catch let error as StorageError {
            guard let reason = error.damage else { throw error }
            diverged[uuid] = reason
            return nil
        }
    }

    private func compare(_ uuid: String, _ state: ShippedState?) throws {
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
        if roundNumber % endedInterval == 0 {
            ended.removeAll()
            sentAnew.removeAll()
            // A centre may have been spread over a cluster since, or brought up to date.
            if !refused.isEmpty { pieceTable = try PieceTable(connection) }
            refused = refused.filter { (unreadable[$0.key]?.end ?? 0) > roundNumber }
            series = series.mapValues { $0.mapValues { $0.countedAgain() } }
        } else if changeNumberAllSent == changeNumber {
            return round
        }
        if roundNumber % Self.countInterval == 0 {
            series = series.mapValues { $0.mapValues { $0.comparedAgain() } }
        }
        var wholes: [HeldRecordings.Whole] = []
        for recording in try store.shippableRecordings() where !ended.contains(recording) && refused[recording] == nil {
            do {
                let hasSentOfEnded = try send(recording, in: &round, &wholes, now: now)
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
        try confirm(wholes, in: &round, now: now)
        changeNumberAllSent = round.isComplete ? changeNumber : nil
        return round
    }

    /// Asks the centre what it holds of recordings of which it was sent everything, and notes those as whole that agree. One
    /// that does not, as after an erasure there, or where an older backup was restored into the database there, is no
    /// whole any more, and is sent anew.
    private func confirm(_ wholes: [HeldRecordings.Whole], in round: inout Round, now: () -> MonotonicTime) throws {
        let held = HeldRecordings(connection, shipmentTable, hasVersions: documentVersions != nil)
        let others = try held.others(than: wholes)
        let lacking = Set(others.map(\.recording))
        for whole in wholes where !lacking.contains(whole.recording) {
            if whole.isSilent, !whole.wasSentWhole {
                // Whether the recording is there, its own tables show once they are sent.
                documents[whole.recording] = nil
                round.isComplete = false
                continue
            }
            try control.confirm(whole: whole.digest, of: whole.recording, at: connection.destination, now: now())
            ended.insert(whole.recording)
        }
        for other in others {
            try control.withdraw(wholeOf: other.recording, at: connection.destination)
            if try sendsAnew(other.recording, streams: Array(other.streams.keys), in: &round) { continue }
            refused[other.recording] = "the centre does not hold what it was sent just now"
        }
    }

    /// Drops what is remembered of a recording, and asks anew what is there of its streams, so that it is sent anew.
    ///
    /// - Returns: false where that was done just before, and is no remedy.
    private func sendsAnew(_ recording: RecordingID, streams: [String], in round: inout Round) throws -> Bool {
        guard sentAnew.insert(recording).inserted else { return false }
        (documents[recording], series[recording], heldSeries[recording]) = (nil, nil, nil)
        // It is asked before the database is read.
        documentVersions?[recording] = nil
        views?.forget(recording)
        let there = Dictionary(try shipmentTable.states().map { ($0.stream, $0.state) }) { first, _ in first }
        for uuid in streams { _ = try learn(uuid, there[uuid] ?? ShippedState()) }
        round.isComplete = false
        return true
    }

    /// Sends of a recording what is new, and a part of what waits.
    ///
    /// - Parameter wholes: gets the recording where it has ended, and nothing more of it waits.
    /// - Returns: true where samples of one that has ended were sent.
    private func send(
        _ recording: RecordingID, in round: inout Round, _ wholes: inout [HeldRecordings.Whole], now: () -> MonotonicTime
    ) throws -> Bool {
        if !diverged.isEmpty, try store.streamIdentities(of: recording).contains(where: { diverged[$0] != nil }) {
            return false
        }
        guard let shipment = try self.shipment(of: recording) else { return false }
        var rows = 0
        let statements = statements(for: shipment)
        if !statements.isEmpty || shipment.streams.contains(where: { $0.after != $0.before })
            || shipment.series.contains(where: { $0.rows != nil })
        {
            guard try sent(shipment, statements, in: &round) else { return false }
            rows = shipment.streams.reduce(0) { $0 + $1.rowCount }
            round.transactions += 1
            round.rows += rows
            documents[recording] = shipment.document.sent
        }
        series[recording] = Dictionary(shipment.series.map { ($0.series, $0.after) }) { first, _ in first }
        for part in shipment.series where part.rows != nil { heldSeries[recording, default: [:]][part.series] = part.after }
        for stream in shipment.streams {
            states[stream.uuid] = stream.after
            for block in stream.lastBlocks { blocksFrom[stream.uuid, default: [:]][block.chain] = block.number }
            try control.confirm(stream.confirmed, of: stream.stream, at: connection.destination, now: now())
        }
        if !shipment.isComplete || shipment.streams.contains(where: { $0.after.hasBacklog }) {
            round.isComplete = false
        } else if shipment.isEnded {
            if let digest = shipment.whole {
                let streams = Dictionary(shipment.streams.map { ($0.uuid, $0.after) }) { first, _ in first }
                wholes.append(
                    HeldRecordings.Whole(
                        recording: recording, uuid: shipment.uuid, digest: digest, streams: streams,
                        series: heldSeries[recording] ?? [:], version: documentVersions?[recording],
                        wasSentWhole: statements.first?.isWhole ?? false))
            } else {
                ended.insert(recording)
            }
        }
        try views?.make(of: shipment, isDue: roundNumber % endedInterval == 0)
        return shipment.isEnded && rows > 0
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
        heldSeries[recording] = states
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
        return document.changes(since: before, repeatsHead: !shipmentTable.takesBoth).map { [($0, false)] } ?? []
    }

    private func send(_ statement: (document: String, isWhole: Bool), of recording: RecordingID) throws(CentreError) {
        if let documentVersions {
            try documentVersions.send(statement.document, isWhole: statement.isWhole, of: recording)
            return
        }
        try connection.execute(
            statement.isWhole ? "SELECT ship_recording($1)" : "SELECT ship_changes($1)", [statement.document], isRepeated: true)
    }

    /// Sends; false where the centre does not take the recording, whenever it is asked, or is to get it anew.
    private func sent(
        _ shipment: RecordingShipment, _ statements: [(document: String, isWhole: Bool)], in round: inout Round
    ) throws -> Bool {
        let version = documentVersions?[shipment.recording]
        do {
            try send(shipment, statements)
            return true
        } catch let error as CentreError {
            guard case .refused = error, error.disposition == .person else { throw error }
            documentVersions?[shipment.recording] = version
            // It may have erased the recording meanwhile, and take changes of nothing.
            let streams = shipment.streams.map(\.uuid)
            if documents[shipment.recording] != nil, try sendsAnew(shipment.recording, streams: streams, in: &round) {
                return false
            }
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
        // Where workers of a cluster look whose a stream is, they learn it from the transaction that brings the stream, once
        // that has ended.
        let mayBeNew = documents[shipment.recording] == nil || shipment.streams.contains { states[$0.uuid] == nil }
        let isApart = pieceTable.isSpread && !pieceTable.hasViews && mayBeNew
        if isApart { try connection.inTransaction(sendTables) }
        try connection.inTransaction { () throws(CentreError) in
            if !isApart { try sendTables() }
            let streams = shipment.streams.filter { $0.after != $0.before }
            var calls = CallList()
            for part in shipment.series {
                guard let rows = part.rows else { continue }
                calls.append(
                    "ship_rows",
                    [
                        shipment.uuid, part.series.table, part.series.owner, "\(part.series.part)", "\(part.after.last)",
                        "\(part.after.count)", part.after.isComplete ? "t" : "f", rows,
                    ])
            }
            for stream in streams { shipmentTable.begin(stream, in: &calls) }
            try calls.run(connection)
            for stream in streams {
                try pieceTable.send(stream)
                try shipmentTable.end(stream)
            }
        }
        hostBoots = Digest(of: boots)
    }
}
