import Headsets
package import Storage

/// Paints a stream's values into columns: from the pyramid where columns are wide, from rows where they are narrow or at the
/// edges.
package struct SignalPainter {
    /// The most rows that one picture reads; what lacks is said.
    ///
    /// Where columns are narrower than the smallest bucket, all of its rows are read: fewer than 128 for each of 4,096 columns.
    /// Where they are wider, rows are read at both ends, of one bucket of the largest size each where the smaller ones are not
    /// there yet.
    static let rowsMaximum: Int64 = 4096 * 128 + 2 * 131_072
    /// So many n are read at a time, which bounds the memory of a picture, and the length of its transactions.
    private static let rowsPerRead: Int64 = 32_768

    private let store: any Store
    private let stream: SignalStream
    private let timeline: StreamTimeline
    private let pyramid: SignalPyramid?
    /// UTC nanoseconds since 1970.
    private let time: Range<Int64>
    private let columnNanoseconds: Double
    package private(set) var picture: SignalColumns
    /// False where something is not painted yet, as the pyramid is still being built.
    package private(set) var isComplete = true
    private var rowsRead: Int64 = 0

    package init(
        store: any Store, stream: SignalStream, timeline: StreamTimeline, pyramid: SignalPyramid?, time: Range<Int64>,
        columns: Int
    ) {
        self.store = store
        self.stream = stream
        self.timeline = timeline
        self.pyramid = pyramid
        self.time = time
        columnNanoseconds = Double(time.upperBound - time.lowerBound) / Double(columns)
        picture = SignalColumns(columns: columns, channels: stream.description.channels.count)
    }

    /// Paints everything that was taken in the time.
    package mutating func paint() throws {
        guard let extent = stream.extent else { return }
        let pieces = timeline.pieces(in: time, of: extent)
        guard let first = pieces.map(\.range.lowerBound).min(), let last = pieces.map(\.range.upperBound).max() else { return }
        let perColumn = columnNanoseconds * stream.description.samplingFrequency / 1e9
        // At least one bucket a column.
        let level = SignalPyramid.shifts.lastIndex { Double(1 << $0) <= perColumn } ?? -1
        try cover(first..<(last + 1), level)
        if level >= 0, pyramid?.lacks(first..<(last + 1)) == true { isComplete = false }
    }

    private mutating func cover(_ range: Range<Int64>, _ level: Int) throws {
        guard !range.isEmpty else { return }
        guard level >= 0, let pyramid else { return try paintRows(range) }
        var broken: [Range<Int64>] = []
        let covered = try pyramid.forEachBucket(level: level, in: range) { first, words in
            let bucket = first..<(first + (1 << SignalPyramid.shifts[level]))
            if !paint(bucket, words) { broken.append(bucket) }
        }
        guard let covered else { return try cover(range, level - 1) }
        try cover(range.lowerBound..<covered.lowerBound, level - 1)
        for bucket in broken { try cover(bucket, level - 1) }
        try cover(covered.upperBound..<range.upperBound, level - 1)
    }

    /// Paints one bucket. False where its samples were not taken one after the other: the machine rebooted between them.
    private mutating func paint(_ bucket: Range<Int64>, _ words: ArraySlice<Int32>) -> Bool {
        let channels = picture.channels
        if words[words.startIndex + 2 * channels] == 0 { return true }
        guard let begin = timeline.unixNanoseconds(of: bucket.lowerBound),
            let end = timeline.unixNanoseconds(of: bucket.upperBound - 1)
        else { return true }
        let nominal = Double(bucket.count) * 1e9 / stream.description.samplingFrequency
        guard end >= begin, Double(end - begin) <= 1.2 * nominal + columnNanoseconds else { return false }
        // Without a hole in it, it lies in two columns at most; a spike may be either side of the border, and is in both.
        for column in Set([self.column(begin), self.column(end)].compactMap(\.self)) {
            for channel in 0..<channels where words[words.startIndex + channel] != SignalColumns.nothing {
                picture.insert(
                    words[words.startIndex + channel], words[words.startIndex + channels + channel], channel: channel,
                    column: column)
            }
        }
        return true
    }

    private mutating func paintRows(_ range: Range<Int64>) throws {
        guard rowsRead + Int64(range.count) <= Self.rowsMaximum else {
            isComplete = false
            return
        }
        for first in stride(from: range.lowerBound, to: range.upperBound, by: Int64.Stride(Self.rowsPerRead)) {
            try paintPiece(first..<min(range.upperBound, first + Self.rowsPerRead))
        }
    }

    private mutating func paintPiece(_ range: Range<Int64>) throws {
        let channels = picture.channels
        let rows = try store.rows(
            of: stream.id, channelCount: channels, in: range.lowerBound...(range.upperBound - 1), limit: range.count)
        rowsRead += Int64(rows.n.count)
        for (row, n) in rows.n.enumerated() {
            guard let instant = timeline.unixNanoseconds(of: n), let column = column(instant) else { continue }
            let missing = rows.missingChannels[row]
            for channel in 0..<channels where missing & (1 << UInt8(channel)) == 0 {
                picture.insert(rows.values[row * channels + channel], channel: channel, column: column)
            }
        }
    }

    private func column(_ instant: Int64) -> Int? {
        guard time.contains(instant) else { return nil }
        return min(picture.columns - 1, Int(Double(instant - time.lowerBound) / columnNanoseconds))
    }
}
