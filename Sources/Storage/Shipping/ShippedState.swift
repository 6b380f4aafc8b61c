/// What of a stream is at a centre: a row of its table `shipment`.
package struct ShippedState: Hashable, Sendable {
    /// Of the rows that came in order: all with n up to this one; nil for none.
    package var doneN: Int64?
    /// And all in this range, which was sent before older ones; nil for none.
    package var head: ClosedRange<Int64>?
    /// Of the rows and values that came late: the last block of the chain, and how many of its rows; nil for none.
    package var late: LateEnd?

    /// The end of what came late.
    package struct LateEnd: Hashable, Sendable {
        package var number: Int64
        package var rowCount: Int64

        package init(number: Int64, rowCount: Int64) { (self.number, self.rowCount) = (number, rowCount) }
    }

    package init(doneN: Int64? = nil, head: ClosedRange<Int64>? = nil, late: LateEnd? = nil) {
        (self.doneN, self.head, self.late) = (doneN, head, late)
    }
}

/// What rows of a stream are read next, and what is at the centre then. The newest minute goes first where more is missing
/// there, so that whoever looks sees it at once; then what is new, then a part of the older rows, the oldest first.
struct ShippingPlan {
    /// Seconds that are sent before older ones.
    static let headSeconds = 60.0

    private(set) var state: ShippedState
    /// The highest n that came in order.
    private let last: Int64

    /// - Parameters:
    ///   - state: what is there.
    ///   - first: the lowest n that came in order.
    ///   - last: the highest.
    init(_ state: ShippedState, first: Int64, last: Int64, samplingFrequency: Double) {
        self.state = state
        self.last = last
        let minute = max(1, Int64((Self.headSeconds * samplingFrequency).rounded()))
        let done = state.doneN ?? first - 1
        if state.head == nil, last - done > minute { headBegin = last - minute + 1 } else { headBegin = nil }
    }

    /// Where a head begins that is not there yet.
    private let headBegin: Int64?

    /// The rows that are newer than all that is there; nil where there are none.
    var newest: ClosedRange<Int64>? {
        let from = headBegin ?? state.head.map { $0.upperBound + 1 } ?? state.doneN.map { $0 + 1 } ?? Int64.min
        return from <= last ? from...last : nil
    }

    /// Notes that rows are sent, up to one.
    mutating func sentNewest(through n: Int64) {
        if let begin = headBegin ?? state.head?.lowerBound {
            state.head = begin...n
        } else {
            state.doneN = n
        }
    }

    /// The older rows that are missing there; nil where there are none. To be asked after ``sentNewest(through:)``.
    var backlog: ClosedRange<Int64>? {
        guard let head = state.head else { return nil }
        let from = state.doneN.map { $0 + 1 } ?? Int64.min
        return from <= head.lowerBound - 1 ? from...(head.lowerBound - 1) : nil
    }

    /// Notes that older rows are sent, up to one.
    mutating func sentBacklog(through n: Int64) {
        guard let head = state.head else { return }
        state.doneN = n
        guard n >= head.lowerBound - 1 else { return }
        state.doneN = head.upperBound
        state.head = nil
    }
}
