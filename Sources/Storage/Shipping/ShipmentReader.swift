import GRDB

/// Reads what is to be sent of one stream, within one snapshot of the database.
struct ShipmentReader {
    /// Late blocks that one transaction sends.
    private static let lateLimit = 256

    let db: Database
    let stream: StreamID
    let uuid: String
    let samplingFrequency: Double
    let channelCount: Int
    /// Rows that one transaction sends of the newest, and of the older ones.
    let rowLimit: Int
    /// How many heads there may be.
    let headLimit: Int

    init(_ row: Row, rowLimit: Int, headLimit: Int, in db: Database) {
        self.db = db
        (self.rowLimit, self.headLimit) = (rowLimit, headLimit)
        stream = StreamID(rawValue: row["id"])
        (uuid, samplingFrequency, channelCount) = (row["uuid"], row["sampling_frequency"], row["channel_count"])
    }

    private var key: Int64 { stream.rawValue }

    /// What is to be sent where so much is there.
    func shipment(after before: ShippedState) throws -> StreamShipment {
        var shipment = StreamShipment(stream: stream, uuid: uuid, before: before, after: before)
        if let last = try lastInOrder(), try firstN(after: nil) != nil {
            let late = try lateRanges()
            var plan = ShippingPlan(
                before, next: try firstN(after: before.newestN), last: last, samplingFrequency: samplingFrequency,
                rowLimit: rowLimit, headLimit: headLimit)
            if let range = plan.newest {
                plan.sentNewest(through: try read(range, but: late, into: &shipment))
            }
            if let range = plan.backlog {
                plan.sentBacklog(through: try read(range, but: late, into: &shipment))
            }
            shipment.after = plan.state
        }
        try readLate(into: &shipment)
        shipment.confirmed = try confirmed(shipment.after)
        return shipment
    }

    /// Nothing of its samples, because blocks are to be sent before: of samples there is never more at a centre than what is
    /// said of them.
    func waiting(after before: ShippedState) throws -> StreamShipment {
        var shipment = StreamShipment(stream: stream, uuid: uuid, before: before, after: before)
        shipment.confirmed = try confirmed(before)
        shipment.isComplete = false
        return shipment
    }

    /// The lowest n of a row behind another one, or of all.
    private func firstN(after n: Int64?) throws -> Int64? {
        try Int64.fetchOne(
            db, sql: "SELECT min(n) FROM sample WHERE stream_id = ? AND n > ?", arguments: [key, n ?? Int64.min])
    }

    /// The highest n of a row that did not come late.
    private func lastInOrder() throws -> Int64? {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT max(last_n) FROM (
                    SELECT last_n FROM (
                        SELECT last_n FROM block WHERE stream_id = ?1 AND chain = 'live' ORDER BY number DESC LIMIT 1)
                    UNION ALL SELECT last_n FROM undigested_rows WHERE stream_id = ?1)
                """, arguments: [key])
    }

    /// Rows that came late, by ranges of n in order.
    private func lateRanges() throws -> [ClosedRange<Int64>] {
        try Row.fetchAll(
            db,
            sql: "SELECT first_n, last_n FROM block WHERE stream_id = ? AND chain = 'late' AND channel = 0 ORDER BY first_n",
            arguments: [key]
        ).map { ($0[0] as Int64)...($0[1] as Int64) }
    }

    private var columns: String { (1...channelCount).map { "c\($0)" }.joined(separator: ", ") }

    /// Reads rows, at most ``rowLimit``. Returns up to which n everything is read.
    private func read(
        _ range: ClosedRange<Int64>, but late: [ClosedRange<Int64>], into shipment: inout StreamShipment
    ) throws -> Int64 {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT n, \(columns) FROM sample WHERE stream_id = ? AND n BETWEEN ? AND ? ORDER BY n LIMIT ?",
            arguments: [key, range.lowerBound, range.upperBound, rowLimit])
        var (count, last) = (0, range.upperBound)
        var lateIndex = 0
        while let row = try rows.next() {
            count += 1
            let n: Int64 = row[0]
            last = n
            while lateIndex < late.count, late[lateIndex].upperBound < n { lateIndex += 1 }
            if lateIndex < late.count, late[lateIndex].contains(n) { continue }
            append(row, n, to: &shipment.pieces)
        }
        if count == rowLimit { shipment.isComplete = false } else { last = range.upperBound }
        return last
    }

    private func append(_ row: Row, _ n: Int64, to pieces: inout [SamplePiece]) {
        if let piece = pieces.last, piece.firstN + Int64(piece.rowCount) == n, piece.rowCount < SamplePiece.capacity {
            // Goes on.
        } else {
            pieces.append(SamplePiece(firstN: n, channels: Array(repeating: [], count: channelCount)))
        }
        for channel in 0..<channelCount { pieces[pieces.count - 1].channels[channel].append(row[channel + 1]) }
    }

    private func readLate(into shipment: inout StreamShipment) throws {
        let before = shipment.before.late
        let blocks = try Row.fetchAll(
            db,
            sql: """
                SELECT number, channel, first_n, row_count FROM block
                WHERE stream_id = ? AND chain = 'late' AND number >= ? ORDER BY number LIMIT ?
                """, arguments: [key, before?.number ?? 0, Self.lateLimit])
        if blocks.count == Self.lateLimit { shipment.isComplete = false }
        for block in blocks {
            let end = ShippedState.LateEnd(number: block[0], rowCount: block[3])
            let there = before.map { $0.number == end.number ? $0.rowCount : 0 } ?? 0
            guard there < end.rowCount else { continue }
            let (channel, first) = (block[1] as Int, (block[2] as Int64) + there)
            let last = first + end.rowCount - there - 1
            let names = channel == 0 ? columns : "c\(channel)"
            let rows = try Row.fetchAll(
                db, sql: "SELECT n, \(names) FROM sample WHERE stream_id = ? AND n BETWEEN ? AND ? ORDER BY n",
                arguments: [key, first, last])
            if channel == 0 {
                for row in rows { append(row, row[0], to: &shipment.pieces) }
            } else {
                shipment.patches.append(SamplePatch(channel: channel, firstN: first, values: rows.map { $0[1] }))
            }
            shipment.after.late = end
        }
    }

    /// The last whole blocks of what is there.
    func confirmed(_ state: ShippedState) throws -> [BlockEnd] {
        var ends: [BlockEnd] = []
        if let done = state.doneN {
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT number, row_count FROM block WHERE stream_id = ? AND chain = 'live' AND last_n <= ?
                    ORDER BY number DESC LIMIT 1
                    """, arguments: [key, done])
            if let row { ends.append(BlockEnd(chain: "live", number: row[0], rowCount: row[1])) }
        }
        if let late = state.late { ends.append(BlockEnd(chain: "late", number: late.number, rowCount: late.rowCount)) }
        return ends
    }
}
