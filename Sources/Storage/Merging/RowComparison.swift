/// What distinguishes rows of another database from those that are here.
struct RowComparison {
    /// Values of one channel for consecutive rows that are here without it.
    struct Fill {
        var channel: Int
        var firstN: Int64
        var values: [Int32]
    }

    let channelCount: Int
    /// Runs of rows that are not here, by index.
    private(set) var new: [Range<Int>] = []
    private(set) var fills: [Fill] = []
    /// Rows in which a value that both have is another one, by index.
    private(set) var differing: [Int] = []
    /// Rows of which all values that both have are the same.
    private(set) var equal: Int64 = 0

    init(channelCount: Int) { self.channelCount = channelCount }

    /// Compares rows with those of the same range of n that are here.
    mutating func compare(_ others: StoredRows, with own: StoredRows) {
        var position = 0
        var isNew = [Bool](repeating: false, count: others.n.count)
        for index in others.n.indices {
            while position < own.n.count, own.n[position] < others.n[index] { position += 1 }
            if position < own.n.count, own.n[position] == others.n[index] {
                compareRow(index, of: others, position, of: own)
            } else {
                isNew[index] = true
            }
        }
        new = others.runs { isNew[$0] }
        fills.sort { ($0.firstN, $0.channel) < ($1.firstN, $1.channel) }
    }

    private mutating func compareRow(_ index: Int, of others: StoredRows, _ position: Int, of own: StoredRows) {
        let (there, here) = (others.missing[index], own.missing[position])
        if there == here, others.row(index) == own.row(position) {
            equal += 1
            return
        }
        let (row, present) = (Array(others.row(index)), Array(own.row(position)))
        func isIn(_ missing: UInt8, _ channel: Int) -> Bool { missing & (1 << UInt8(channel)) != 0 }
        let shared = (0..<channelCount).filter { !isIn(there | here, $0) }
        guard shared.allSatisfy({ row[$0] == present[$0] }) else {
            // Of a row that differs nothing is taken: it may be another sample.
            differing.append(index)
            return
        }
        equal += 1
        for channel in 0..<channelCount where isIn(here, channel) && !isIn(there, channel) {
            add(row[channel], channel: channel + 1, n: others.n[index])
        }
    }

    /// Adds a value to the run that it goes on, or begins one.
    private mutating func add(_ value: Int32, channel: Int, n: Int64) {
        if let last = fills.lastIndex(where: { $0.channel == channel }),
            fills[last].firstN + Int64(fills[last].values.count) == n
        {
            fills[last].values.append(value)
        } else {
            fills.append(Fill(channel: channel, firstN: n, values: [value]))
        }
    }
}
