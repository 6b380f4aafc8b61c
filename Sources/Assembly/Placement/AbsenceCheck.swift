import Bluetooth
import Headsets
import Storage

/// A gap before a link whose length was taken from the arrival of the link's first block, until the link's time map shows
/// better when that was due: the first blocks of a link may come seconds late, all at once.
struct AbsenceCheck: Sendable {
    /// What is missing.
    let gap: Range<Int64>
    /// When the last sample before it was taken, and nanoseconds between two samples.
    let line: SampleTime
    /// Within so many samples its length is said to be right.
    private var stated: Int64
    /// From which n on it is looked at again.
    private var nextN: Int64
    private let finalN: Int64

    /// The line of a link settles within these seconds: first by the least late arrival, then by all of them around its knot.
    private static let firstLook = 5.0
    private static let lastLook = 50.0

    init(gap: Range<Int64>, stated: Int64, line: SampleTime) {
        (self.gap, self.stated, self.line) = (gap, stated, line)
        func n(after seconds: Double) -> Int64 {
            gap.upperBound.addingClamped(Int64(clamping: (seconds * 1e9 / max(1, line.periodNanoseconds)).rounded()))
        }
        (nextN, finalN) = (n(after: Self.firstLook), n(after: Self.lastLook))
    }

    /// True where the length is to be looked at once more.
    func isDue(at n: Int64) -> Bool { n >= nextN }

    /// True where nothing more is learnt of it behind n.
    func isOver(at n: Int64) -> Bool { n >= finalN }

    /// Compares the length with the time that has passed.
    ///
    /// - Parameters:
    ///   - end: when the sample after the gap was taken, by the map as it is now.
    ///   - waited: by how many nanoseconds more it may have been taken before that.
    /// - Returns: within how many samples the length is right, where that is more than was said.
    mutating func compare(end: MonotonicTime, waited: Double) -> Int64? {
        nextN = finalN
        let period = max(1, line.periodNanoseconds)
        let most = end.nanoseconds.distance(from: line.at.nanoseconds) / period
        let length = gap.upperBound - gap.lowerBound + 1
        let differences = [most, most - waited / period].map { passed in
            Int64(clamping: abs(length.distance(from: Int64(clamping: passed.rounded()))))
        }
        let difference = max(differences[0], differences[1])
        guard difference > stated else { return nil }
        stated = difference
        return difference
    }
}

extension Placement {
    /// Remembers how the gap before a link's first block was measured, where the time has. The clock still has the line of what
    /// lies before it.
    mutating func noteAbsence(_ first: Int64, to end: Int64, _ certainty: GapCertainty, _ start: LinkStart) {
        absence = nil
        guard case .timed(let uncertainty) = certainty, end > first, !start.hasMemory, start.buffered == nil,
            let line = clock.line(at: first - 1)
        else { return }
        absence = AbsenceCheck(gap: first..<end, stated: uncertainty, line: line)
    }

    /// Says of the gap before the link how well its length is known, once the link's own map shows it.
    ///
    /// - Parameter isOver: true where the link has ended: nothing more is learnt.
    mutating func checkAbsence(in rows: inout StreamRows, isOver: Bool = false) {
        guard var check = absence, isOver || check.isDue(at: rows.nextN) && clock.waited() == 0 else { return }
        if let end = clock.time(of: check.gap.upperBound), let uncertainty = check.compare(end: end.at, waited: clock.waited())
        {
            rows.ledger.doubt(check.gap, within: uncertainty)
        }
        absence = isOver || check.isOver(at: rows.nextN) ? nil : check
    }
}
