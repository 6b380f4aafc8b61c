import Testing

@testable import Storage

/// What of a stream is sent next, while rows come, connections break, and an older version sends in between.
@Suite("The order of shipping")
struct ShippingPlanTests {
    /// A stream of 1 Hz, and what a centre has of it.
    private struct Shipping {
        static let minute: Int64 = 60

        /// Ascending; where the headset was away, numbers are left out.
        var rows: [Int64] = []
        var nextN: Int64 = 0
        var state = ShippedState()
        var sent: [Int64: Int] = [:]
        let rowLimit: Int

        mutating func record(_ count: Int64) {
            rows += nextN..<(nextN + count)
            nextN += count
        }

        /// How many rows have a lower n.
        func count(below n: Int64) -> Int {
            var (low, high) = (0, rows.count)
            while low < high {
                let middle = (low + high) / 2
                if rows[middle] < n { low = middle + 1 } else { high = middle }
            }
            return low
        }

        func rows(in range: ClosedRange<Int64>) -> ArraySlice<Int64> {
            rows[count(below: range.lowerBound)..<count(below: range.upperBound + 1)]
        }

        /// How many rows the centre says that it has.
        var claimedCount: Int {
            state.heads.reduce(state.doneN.map { count(below: $0 + 1) } ?? 0) { $0 + rows(in: $1).count }
        }

        /// The rows that a transaction sends.
        mutating func ship(headLimit: Int) -> [Int64] {
            guard let last = rows.last else { return [] }
            let next = state.newestN.map { count(below: $0 + 1) } ?? 0
            var plan = ShippingPlan(
                state, next: next < rows.count ? rows[next] : nil, last: last, samplingFrequency: 1, rowLimit: rowLimit,
                headLimit: headLimit)
            var transaction: [Int64] = []
            func read(_ range: ClosedRange<Int64>) -> Int64 {
                let found = rows(in: range).prefix(rowLimit)
                transaction += found
                return found.count == rowLimit ? found.last ?? range.upperBound : range.upperBound
            }
            if let range = plan.newest { plan.sentNewest(through: read(range)) }
            if let range = plan.backlog { plan.sentBacklog(through: read(range)) }
            state = plan.state
            for n in transaction { sent[n, default: 0] += 1 }
            return transaction
        }

        /// A transaction of a version that knows one head: the centre refuses it where there are several.
        mutating func shipAsBefore() {
            if state.heads.count <= 1 { _ = ship(headLimit: 1) }
        }
    }

    /// Numerical Recipes' generator: enough to vary a test.
    private struct Random {
        var state: UInt64

        mutating func next(_ bound: UInt64) -> Int64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64((state >> 33) % bound)
        }
    }

    @Test("sends each row once, and the newest minute first, whatever comes in between", arguments: 0..<200)
    func sequence(seed: UInt64) {
        var random = Random(state: seed &* 6_364_136_223_846_793_005 &+ 1)
        let headLimit = seed.isMultiple(of: 3) ? 3 : ShippedState.headLimit
        var shipping = Shipping(rowLimit: [25, 60, 100, 300][Int(random.next(4))])
        shipping.record(random.next(2000) + 1)
        for _ in 0..<200 {
            switch random.next(20) {
            case 0...4: shipping.record(random.next(90))
            // The headset is away.
            case 5: shipping.nextN += random.next(500)
            // The connection breaks.
            case 6, 7: shipping.record(random.next(400))
            case 8: shipping.shipAsBefore()
            default:
                let before = shipping.state
                let sent = Set(shipping.ship(headLimit: headLimit))
                guard let last = shipping.rows.last else { break }
                let newest = min(Shipping.minute, Int64(shipping.rowLimit))
                let first = max(last - newest, before.newestN ?? -1) + 1
                let begins = shipping.state.heads.count > before.heads.count
                if begins || newest == Shipping.minute && before.heads.count < headLimit, first <= last {
                    #expect(shipping.rows(in: first...last).allSatisfy { sent.contains($0) }, "\(before), \(shipping.state)")
                }
                // Nothing keeps it from being there soon.
                if begins { #expect(sent.allSatisfy { $0 > last - newest }) }
            }
            let heads = shipping.state.heads
            #expect(heads.count <= headLimit)
            #expect(zip(heads, heads.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
            #expect(shipping.claimedCount == shipping.sent.count)
        }
        let whole = ShippedState(doneN: shipping.rows.last)
        for _ in 0..<1000 where shipping.state != whole { _ = shipping.ship(headLimit: headLimit) }
        #expect(shipping.state == whole)
        #expect(shipping.sent.count == shipping.rows.count && shipping.sent.values.allSatisfy { $0 == 1 })
    }

    @Test("begins a head after each long break, fills the oldest rows first, and begins no more than there may be")
    func heads() {
        var shipping = Shipping(rowLimit: 100)
        func record(_ count: Int64, thenExpect ranges: Range<Int64>...) {
            shipping.record(count)
            let sent = shipping.ship(headLimit: 3)
            #expect(sent == ranges.flatMap { Array($0) })
        }
        record(1000, thenExpect: 940..<1000)
        #expect(shipping.state == ShippedState(heads: [940...999]))
        record(10, thenExpect: 1000..<1010, 0..<100)
        record(200, thenExpect: 1150..<1210)
        record(300, thenExpect: 1450..<1510)
        #expect(shipping.state == ShippedState(doneN: 99, heads: [940...1009, 1150...1209, 1450...1509]))
        record(400, thenExpect: 1510..<1610, 100..<200)
        for _ in 0..<20 where shipping.state.heads.count > 2 { _ = shipping.ship(headLimit: 3) }
        #expect(shipping.state == ShippedState(doneN: 1009, heads: [1150...1209, 1450...1909]))
        record(0, thenExpect: 1010..<1110)
        record(0, thenExpect: 1110..<1150)
        #expect(shipping.state == ShippedState(doneN: 1209, heads: [1450...1909]))
    }

    @Test("begins with the last minute only where more is missing: an outage has no rows")
    func newest() {
        func newest(_ state: ShippedState, next: Int64, rowLimit: Int = 1000) -> ClosedRange<Int64>? {
            ShippingPlan(state, next: next, last: 9_999, samplingFrequency: 10, rowLimit: rowLimit, headLimit: 1).newest
        }
        #expect(newest(ShippedState(), next: 0) == 9_400...9_999)
        #expect(newest(ShippedState(), next: 0, rowLimit: 200) == 9_800...9_999)
        #expect(newest(ShippedState(doneN: 9_398), next: 9_399) == 9_400...9_999)
        #expect(newest(ShippedState(doneN: 9_399), next: 9_400) == 9_400...9_999)
        #expect(newest(ShippedState(doneN: 5_000), next: 9_500) == 5_001...9_999)
        #expect(newest(ShippedState(doneN: 100, heads: [900...999]), next: 1_000) == 1_000...9_999)
    }

    @Test("is none of what nobody has sent: an n at the end of what a number can be")
    func possible() {
        for n in [Int64.min, Int64.max, 1 << 62, -(1 << 62)] {
            #expect(!ShippedState(doneN: n).isPossible)
            #expect(!ShippedState(doneN: 0, heads: [min(n, 5)...max(n, 5)]).isPossible)
            #expect(!ShippedState(late: ShippedState.LateEnd(number: 0, rowCount: n)).isPossible)
        }
        let late = ShippedState.LateEnd(number: 0, rowCount: 100)
        #expect(ShippedState().isPossible && ShippedState(doneN: -5, heads: [1 << 50...1 << 51], late: late).isPossible)
    }

    @Test("Where there are several heads, a version that knows one would send rows again, whichever it is shown")
    func oneOfSeveral() {
        let heads: [ClosedRange<Int64>] = [100...159, 300...359]
        for head in heads {
            let state = ShippedState(doneN: 49, heads: [head])
            let plan = ShippingPlan(
                state, next: head.upperBound + 1, last: 400, samplingFrequency: 1, rowLimit: 1000, headLimit: 1)
            let ranges = [plan.newest, plan.backlog].compactMap(\.self)
            #expect(ranges.contains { range in heads.contains { $0.overlaps(range) } })
        }
    }
}
