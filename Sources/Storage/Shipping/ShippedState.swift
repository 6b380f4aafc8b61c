/// What of a stream is at a centre: a row of its table `shipment`.
package struct ShippedState: Hashable, Sendable {
    /// The most heads that a stream has. A new one is begun where more than a minute was recorded since the newest row that is
    /// there, while older rows wait still: so many breaks of a connection within one backlog, and a short row of the table.
    package static let headLimit = 16

    /// Of the rows that came in order: all with n up to this one; nil for none.
    package var doneN: Int64?
    /// And all in these ranges, each of which was sent before older ones: ascending, and something is missing before each.
    package var heads: [ClosedRange<Int64>]
    /// Of the rows and values that came late: the last block of the chain, and how many of its rows; nil for none.
    package var late: LateEnd?

    /// The end of what came late.
    package struct LateEnd: Hashable, Sendable {
        package var number: Int64
        package var rowCount: Int64

        package init(number: Int64, rowCount: Int64) { (self.number, self.rowCount) = (number, rowCount) }
    }

    package init(doneN: Int64? = nil, heads: [ClosedRange<Int64>] = [], late: LateEnd? = nil) {
        (self.doneN, self.heads, self.late) = (doneN, heads, late)
    }

    /// The highest n that is there of the rows that came in order; nil for none.
    package var newestN: Int64? { heads.last?.upperBound ?? doneN }

    /// False where a number is beyond what any recording comes to: nothing can be computed with it.
    package var isPossible: Bool {
        let numbers =
            heads.flatMap { [$0.lowerBound, $0.upperBound] } + [doneN, late?.number, late?.rowCount].compactMap(\.self)
        return numbers.allSatisfy { (-SurprisingNumbers.bound...SurprisingNumbers.bound).contains($0) }
    }

    /// True where rows are still to come that are older than some that are there.
    package var hasBacklog: Bool { !heads.isEmpty }
}

/// What rows of a stream are read next, and what is at the centre then. The newest minute goes first where more is missing
/// there, in a transaction without older rows, so that whoever looks sees it soon; then what is new, with a part of the older
/// rows, the oldest first.
///
/// Where a connection breaks for longer than a minute while older rows wait, they wait on: the newest minute begins another
/// head. The first head becomes part of ``ShippedState/doneN`` once all before it is there, and so do the others in their turn.
struct ShippingPlan {
    /// Seconds that are sent before older ones.
    static let headSeconds = 60.0

    private(set) var state: ShippedState
    /// The highest n that came in order.
    private let last: Int64
    /// Where a head begins that is not there yet.
    private let headBegin: Int64?

    /// - Parameters:
    ///   - state: what is there.
    ///   - next: the lowest n of a row that is newer than all that is there; nil for none. An outage, in which n goes on
    ///     without rows, is nothing that is missing.
    ///   - last: the highest n that came in order.
    ///   - rowLimit: rows that a transaction sends of the newest: a head begins with no more, so that the last one is among
    ///     them.
    ///   - headLimit: how many heads there may be; with as many, what is new goes on behind the last one.
    init(
        _ state: ShippedState, next: Int64?, last: Int64, samplingFrequency: Double, rowLimit: Int, headLimit: Int
    ) {
        self.state = state
        self.last = last
        let minute = max(1, Int64((Self.headSeconds * samplingFrequency).rounded()))
        if let next, last - next >= minute, state.heads.count < headLimit {
            headBegin = last - min(minute, Int64(rowLimit)) + 1
        } else {
            headBegin = nil
        }
    }

    /// The rows that are newer than all that is there; nil where there are none.
    var newest: ClosedRange<Int64>? {
        let from = headBegin ?? state.newestN.map { $0 + 1 } ?? Int64.min
        return from <= last ? from...last : nil
    }

    /// Notes that rows are sent, up to one.
    mutating func sentNewest(through n: Int64) {
        if let headBegin {
            state.heads.append(headBegin...n)
        } else if let head = state.heads.popLast() {
            state.heads.append(head.lowerBound...n)
        } else {
            state.doneN = n
        }
    }

    /// The oldest rows that are missing there, up to the first head; nil where there are none, or where a head is begun. To be
    /// asked after ``sentNewest(through:)``.
    var backlog: ClosedRange<Int64>? {
        guard headBegin == nil, let head = state.heads.first else { return nil }
        let from = state.doneN.map { $0 + 1 } ?? Int64.min
        return from <= head.lowerBound - 1 ? from...(head.lowerBound - 1) : nil
    }

    /// Notes that older rows are sent, up to one.
    mutating func sentBacklog(through n: Int64) {
        state.doneN = n
        guard let head = state.heads.first, n >= head.lowerBound - 1 else { return }
        state.doneN = head.upperBound
        state.heads.removeFirst()
    }
}
