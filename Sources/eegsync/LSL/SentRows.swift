import Bluetooth
import Storage
import Tap

/// The rows of one stream that were sent and are not known to be stored. A daemon that is killed gets them again from a headset
/// with a memory, and says them again; they have gone out already.
struct SentRows: Hashable {
    /// Consecutive rows.
    private struct Run: Hashable {
        var range: Range<Int64>
        /// The time of one of its rows, and from one row to the next in nanoseconds.
        var referenceN: Int64
        var referenceTime: MonotonicTime
        var periodNanoseconds: Double

        /// True where the rows of a message, by their times, are those of this run: a daemon that had no headset to ask may
        /// give numbers that were said and never stored to later samples, which are new.
        func agrees(firstN: Int64, time: TapTime) -> Bool {
            let expected = Double(firstN - referenceN) * periodNanoseconds
            let found = (time.first - referenceTime).inSeconds
            return abs(found - expected / 1e9) <= SentRows.deviationMaximum
        }
    }

    /// By how much the times of one row may differ in two messages, in seconds: the time map is fitted anew, and is off by some
    /// hundredths of a second at the beginning. Who gives numbers anew was away for longer: a start and a connection.
    private static let deviationMaximum = 0.25
    /// The most runs: each loss ends one, and while a disk is full nothing is stored. Beyond it the oldest are forgotten.
    static let runMaximum = 256

    private var runs: [Run] = []

    /// How many runs are known.
    var runCount: Int { runs.count }

    /// Which rows of a message were not sent yet, by their index from 0.
    func unsent(of samples: TapSamples) -> [Int] {
        let firstN = samples.rows.firstN
        guard let time = samples.time else { return [] }
        let range = Self.range(of: samples)
        let known = runs.filter { $0.range.overlaps(range) && $0.agrees(firstN: firstN, time: time) }
        let all = 0..<samples.rows.rowCount
        if known.isEmpty { return Array(all) }
        return all.filter { row in !known.contains { $0.range.contains(firstN + Int64(row)) } }
    }

    /// Notes that all rows of a message are sent.
    mutating func note(_ samples: TapSamples) {
        let range = Self.range(of: samples)
        guard let time = samples.time, !range.isEmpty else { return }
        forget(range)
        var run = Run(
            range: range, referenceN: range.lowerBound, referenceTime: time.first, periodNanoseconds: time.periodNanoseconds)
        let before = runs.firstIndex {
            $0.range.upperBound == range.lowerBound && $0.agrees(firstN: range.lowerBound, time: time)
        }
        if let before { run.range = runs.remove(at: before).range.lowerBound..<range.upperBound }
        runs.append(run)
        if runs.count > Self.runMaximum { runs.removeFirst(runs.count - Self.runMaximum) }
    }

    /// These rows are stored: nobody says them again.
    mutating func forget(_ stored: Range<Int64>) {
        guard runs.contains(where: { $0.range.overlaps(stored) }) else { return }
        runs = runs.flatMap { run -> [Run] in
            let (below, above) = (min(run.range.upperBound, stored.lowerBound), max(run.range.lowerBound, stored.upperBound))
            let rest = [(run.range.lowerBound, below), (above, run.range.upperBound)].filter { $0.0 < $0.1 }
            return rest.map { bounds in
                var part = run
                part.range = bounds.0..<bounds.1
                return part
            }
        }
    }

    private static func range(of samples: TapSamples) -> Range<Int64> {
        let firstN = samples.rows.firstN
        return firstN..<max(firstN, firstN.addingClamped(Int64(samples.rows.rowCount)))
    }
}
