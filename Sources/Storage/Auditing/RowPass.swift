import Evidence
import GRDB
import GRDBSQLite

/// Rows of a stream that are looked at together; no late block reaches beyond them.
struct RowRange: Sendable {
    var stream: AuditedStream
    var n: ClosedRange<Int64>
    /// Numbers of the live blocks that lie in it.
    var liveBlocks: Range<Int>
}

/// A stream whose rows are looked at.
struct AuditedStream: Sendable {
    var id: Int64
    var channelCount: Int
    var identity: StreamIdentity
    /// Rows that an earlier version stored.
    var undigested: ClosedRange<Int64>?
}

/// What one look at rows has counted.
struct RowSums: Sendable {
    var rows: Int64 = 0
    var firstN: Int64?
    var lastN: Int64?
    /// By channel, rows without it.
    var nulls = [Int64](repeating: 0, count: 8)
    /// Rows with a value in a channel that the stream does not have.
    var beyond: Int64 = 0
    var content = AuditReport.ContentSums()
    var findings: [AuditReport.Finding] = []

    static func += (sums: inout RowSums, other: RowSums) {
        sums.rows += other.rows
        sums.firstN = [sums.firstN, other.firstN].compactMap(\.self).min()
        sums.lastN = [sums.lastN, other.lastN].compactMap(\.self).max()
        for channel in 0..<8 { sums.nulls[channel] += other.nulls[channel] }
        sums.beyond += other.beyond
        sums.content.blocks += other.content.blocks
        sums.content.rows += other.content.rows
        sums.content.undigested += other.content.undigested
        for check in Set(other.findings.map(\.check)) {
            let room = AuditReport.findingLimit - sums.findings.count { $0.check == check }
            sums.findings += other.findings.filter { $0.check == check }.prefix(max(0, room))
        }
    }
}

/// One look at rows, in ascending order of n: counts them, and compares each block with its digest.
struct RowPass: ~Copyable {
    private let range: RowRange
    private let liveGenesis: Digest
    private let lateGenesis: Digest
    private(set) var sums = RowSums()
    private var live: BlockCheck?
    private var lateRows: LateBlockCheck?
    /// By channel, values that came late, where there are such at the present n.
    private var fills = [LateBlockCheck?](repeating: nil, count: 8)
    private var hasFills = false

    init(_ range: RowRange) {
        self.range = range
        liveGenesis = range.stream.identity.genesis(of: .live)
        lateGenesis = range.stream.identity.genesis(of: .late)
    }

    /// Looks at all rows of the range.
    ///
    /// - Parameter progress: gets how many rows were looked at since it was last called.
    mutating func run(in db: Database, progress: (Int64) -> Void) throws {
        let stream = range.stream
        let liveCursor = try Row.fetchCursor(
            db, sql: StoredBlock.sql(.live, where: "b.number >= ?2 AND b.number < ?3", order: "b.number"),
            arguments: [stream.id, range.liveBlocks.lowerBound, range.liveBlocks.upperBound])
        let lateCursor = try Row.fetchCursor(
            db, sql: StoredBlock.sql(.late, where: "b.first_n BETWEEN ?2 AND ?3", order: "b.first_n, b.channel"),
            arguments: [stream.id, range.n.lowerBound, range.n.upperBound])
        var nextLate = try lateCursor.next().map { StoredBlock($0, .late) }
        try beginLive(liveCursor)
        let statement = try db.makeStatement(sql: sql)
        let handle = statement.sqliteStatement
        sqlite3_bind_int64(handle, 1, stream.id)
        sqlite3_bind_int64(handle, 2, range.n.lowerBound)
        sqlite3_bind_int64(handle, 3, range.n.upperBound)
        let values = UnsafeMutablePointer<Int32>.allocate(capacity: 8)
        defer {
            sqlite3_reset(handle)
            values.deallocate()
        }
        var unreported: Int64 = 0
        while true {
            let code = sqlite3_step(handle)
            if code == SQLITE_DONE { break }
            guard code == SQLITE_ROW else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: db.lastErrorMessage)
            }
            let n = sqlite3_column_int64(handle, 0)
            var missing = read(handle, n: n, into: values)
            while let block = nextLate, block.firstN <= n {
                beginLate(block)
                nextLate = try lateCursor.next().map { StoredBlock($0, .late) }
            }
            if hasFills { missing = takeFilled(n: n, values: values, missing: missing) }
            try digest(n: n, values: values, missing: missing, liveCursor)
            unreported += 1
            if unreported == 65_536 {
                progress(unreported)
                unreported = 0
            }
        }
        progress(unreported)
        while let block = nextLate {
            beginLate(block)
            nextLate = try lateCursor.next().map { StoredBlock($0, .late) }
        }
        endLate()
        for channel in fills.indices { endFill(channel) }
        while live != nil { try beginLive(liveCursor) }
    }

    private var sql: String {
        let count = range.stream.channelCount
        let columns = (1...count).map { "c\($0)" }.joined(separator: ", ")
        let beyond = (count..<8).map { "c\($0 + 1) IS NOT NULL" }.joined(separator: " OR ")
        return """
            SELECT n, \(columns), \(beyond.isEmpty ? "0" : beyond) FROM sample
            WHERE stream_id = ?1 AND n BETWEEN ?2 AND ?3 ORDER BY n
            """
    }

    /// Reads a row, counts it, and returns which channels it lacks.
    private mutating func read(_ handle: OpaquePointer, n: Int64, into values: UnsafeMutablePointer<Int32>) -> UInt8 {
        var missing: UInt8 = 0
        let count = range.stream.channelCount
        for channel in 0..<count {
            let value = sqlite3_column_int64(handle, Int32(channel + 1))
            values[channel] = Int32(truncatingIfNeeded: value)
            if value == 0, sqlite3_column_type(handle, Int32(channel + 1)) == SQLITE_NULL {
                missing |= 1 << UInt8(channel)
                sums.nulls[channel] += 1
            } else if Int64(values[channel]) != value {
                add(.blocksAreAsWritten, n: n, "row \(n) has a value in channel \(channel + 1) that no headset sends: \(value)")
            }
        }
        if sqlite3_column_int(handle, Int32(count + 1)) != 0 { sums.beyond += 1 }
        sums.rows += 1
        if sums.firstN == nil { sums.firstN = n }
        sums.lastN = n
        return missing
    }

    /// Gives a row to its block: of the late chain, else of the live one.
    private mutating func digest(
        n: Int64, values: UnsafePointer<Int32>, missing: UInt8, _ liveCursor: RowCursor
    ) throws {
        if let last = lateRows?.check.block.lastN {
            if n <= last {
                lateRows?.check.append(n: n, values: values, missing: missing)
                return
            }
            endLate()
        }
        while let last = live?.block.lastN, last < n { try beginLive(liveCursor) }
        if let first = live?.block.firstN, first <= n {
            live?.append(n: n, values: values, missing: missing)
        } else if range.stream.undigested?.contains(n) == true {
            sums.content.undigested += 1
        } else {
            add(.rowsAreInBlocks, n: n, "row \(n) is in no block: this program did not write it")
        }
    }

    /// Ends the live block, and begins the next one.
    private mutating func beginLive(_ cursor: RowCursor) throws {
        if live != nil {
            if let finding = live?.finding(stream: range.stream.id) { sums.add(finding) }
            sums.content.blocks += 1
            sums.content.rows += live?.rowCount ?? 0
        }
        live = nil
        guard let row = try cursor.next() else { return }
        live = BlockCheck(StoredBlock(row, .live), channelCount: range.stream.channelCount, genesis: liveGenesis)
    }

    private mutating func beginLate(_ block: StoredBlock) {
        let check = LateBlockCheck(
            BlockCheck(block, channelCount: range.stream.channelCount, genesis: lateGenesis))
        if block.channel > 0 {
            endFill(block.channel - 1)
            fills[block.channel - 1] = check
            hasFills = true
        } else {
            endLate()
            lateRows = check
        }
    }

    private mutating func endLate() {
        if let lateRows { end(lateRows) }
        lateRows = nil
    }

    private mutating func endFill(_ channel: Int) {
        if let check = fills[channel] { end(check) }
        fills[channel] = nil
    }

    /// Gives values that came late to their blocks. Returns what the row lacked before.
    private mutating func takeFilled(n: Int64, values: UnsafePointer<Int32>, missing: UInt8) -> UInt8 {
        var before = missing
        for (channel, check) in fills.enumerated() {
            guard let check else { continue }
            if n <= check.check.block.lastN {
                check.check.append(n: n, values: values + channel, missing: missing >> UInt8(channel) & 1)
                before |= 1 << UInt8(channel)
            } else {
                endFill(channel)
            }
        }
        hasFills = fills.contains { $0 != nil }
        return before
    }

    private mutating func end(_ late: LateBlockCheck) {
        sums.content.blocks += 1
        if late.check.block.channel == 0 { sums.content.rows += late.check.rowCount }
        if let finding = late.check.finding(stream: range.stream.id) { sums.add(finding) }
    }

    private mutating func add(_ check: AuditReport.Check, n: Int64, _ detail: String) {
        sums.add(AuditReport.Finding(check: check, streamID: range.stream.id, n: n, detail: detail))
    }
}

extension RowSums {
    mutating func add(_ finding: AuditReport.Finding) {
        if findings.count(where: { $0.check == finding.check }) < AuditReport.findingLimit { findings.append(finding) }
    }
}
