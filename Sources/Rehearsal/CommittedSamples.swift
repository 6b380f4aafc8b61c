import Storage

/// Which samples are committed, as runs of n by stream: kept beside the database, from what was really committed.
struct CommittedSamples {
    private var runs: [StreamID: [Range<Int64>]] = [:]

    mutating func insert(_ rows: SampleRows) {
        let range = rows.firstN..<(rows.firstN + Int64(rows.rowCount))
        guard !range.isEmpty else { return }
        var list = runs[rows.stream] ?? []
        var index = list.count
        while index > 0, list[index - 1].lowerBound > range.lowerBound { index -= 1 }
        list.insert(range, at: index)
        // Join with the neighbours that it touches.
        while index + 1 < list.count, list[index].upperBound >= list[index + 1].lowerBound {
            list[index] = list[index].lowerBound..<max(list[index].upperBound, list[index + 1].upperBound)
            list.remove(at: index + 1)
        }
        if index > 0, list[index - 1].upperBound >= list[index].lowerBound {
            list[index - 1] = list[index - 1].lowerBound..<max(list[index - 1].upperBound, list[index].upperBound)
            list.remove(at: index)
        }
        runs[rows.stream] = list
    }

    /// The n's of a stream's rows, ascending.
    func ranges(of stream: StreamID) -> [Range<Int64>] { runs[stream] ?? [] }

    /// The parts of `range` that are not committed.
    func holes(in range: Range<Int64>, of stream: StreamID) -> [Range<Int64>] {
        var holes: [Range<Int64>] = []
        var next = range.lowerBound
        for run in runs[stream] ?? [] where run.upperBound > range.lowerBound && run.lowerBound < range.upperBound {
            if run.lowerBound > next { holes.append(next..<run.lowerBound) }
            next = max(next, run.upperBound)
        }
        if next < range.upperBound { holes.append(next..<range.upperBound) }
        return holes
    }
}
