import Headsets

/// Rows of a stream whose channels come in packets of their own, until all packets of an instant are there or have been waited
/// for long enough. A channel whose packet never comes is missing in the row; nothing is shifted.
struct PartialRows: Sendable {
    /// One instant.
    struct Row: Hashable, Sendable {
        var n: Int64
        var values: [Int32]
        /// Bit set of the channels that have not come.
        var missing: UInt8
        /// Of these, the channels of which nothing later came either: their packets had no time to come.
        var unarrived: UInt8 = 0
        /// What is known of what is missing before it.
        var hole = StreamRows.Hole()
    }

    /// How many instants a packet may be behind the newest before its row is settled without it: four packets of twelve, the
    /// longest packets among the known headsets.
    private static let window: Int64 = 48

    private let channelCount: Int
    /// In ascending order of n.
    private var rows: [Row] = []

    init(channelCount: Int) {
        self.channelCount = channelCount
    }

    /// True where no row waits.
    var isEmpty: Bool { rows.isEmpty }

    /// The n of the first row that waits.
    var firstN: Int64? { rows.first?.n }

    /// Adds the values of some channels of instant n. What is there already stays.
    ///
    /// - Parameter hole: what is known of what is missing before the instant, where it is the first behind it.
    mutating func add(
        _ values: ArraySlice<Int32>, n: Int64, firstChannel: Int, behind hole: StreamRows.Hole = StreamRows.Hole()
    ) {
        var index = rows.count
        while index > 0, rows[index - 1].n >= n { index -= 1 }
        if index == rows.count || rows[index].n != n {
            let all = UInt8(truncatingIfNeeded: 1 << channelCount - 1)
            rows.insert(Row(n: n, values: Array(repeating: 0, count: channelCount), missing: all, hole: hole), at: index)
        }
        for (offset, value) in values.enumerated() {
            let channel = firstChannel + offset
            guard rows[index].missing >> channel & 1 == 1 else { continue }
            rows[index].values[channel] = value
            rows[index].missing &= ~(1 << channel)
        }
    }

    /// True where a row that waits has one of the block's channels already, or a later one: the parts of an instant that bear
    /// no counter come in the order of their channels.
    func isBeyond(_ block: SampleBlock) -> Bool {
        let channels = UInt8(truncatingIfNeeded: 0xFF << block.firstChannel)
        let all = UInt8(truncatingIfNeeded: 1 << channelCount - 1)
        return rows.contains { ~$0.missing & channels & all != 0 }
    }

    /// Takes the leading rows that are complete or were waited for long enough, in order.
    mutating func takeReady() -> [Row] {
        guard let newest = rows.last?.n else { return [] }
        var count = 0
        while count < rows.count, rows[count].missing == 0 || rows[count].n < newest - Self.window { count += 1 }
        return takeFirst(count)
    }

    /// Takes all rows below n, complete or not, in order.
    mutating func take(before n: Int64) -> [Row] {
        var unarrived = UInt8.max
        for index in rows.indices.reversed() {
            unarrived &= rows[index].missing
            rows[index].unarrived = unarrived
        }
        return takeFirst(rows.firstIndex { $0.n >= n } ?? rows.count)
    }

    private mutating func takeFirst(_ count: Int) -> [Row] {
        let taken = Array(rows.prefix(count))
        rows.removeFirst(count)
        return taken
    }
}
