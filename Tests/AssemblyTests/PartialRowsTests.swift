import Headsets
import Storage
import Testing

@testable import Assembly

/// Rows whose channels come in packets of their own.
struct PartialRowsTests {
    /// Adds one packet: `instants` samples of one channel from n on; the value tells channel and n.
    private static func add(_ rows: inout PartialRows, channel: Int, n: Int64, instants: Int64 = 12) {
        for n in n..<(n + instants) { rows.add([value(channel, n)], n: n, firstChannel: channel) }
    }

    private static func value(_ channel: Int, _ n: Int64) -> Int32 { Int32(n) * 10 + Int32(channel) }

    private static func isTrue(_ row: PartialRows.Row) -> Bool {
        row.values.indices.allSatisfy { row.missing >> $0 & 1 == 1 || row.values[$0] == value($0, row.n) }
    }

    @Test("Rows are ready when the packets of all channels are there, in any order of the channels")
    func complete() {
        var rows = PartialRows(channelCount: 4)
        for channel in [2, 0, 3] { Self.add(&rows, channel: channel, n: 0) }
        #expect(rows.takeReady().isEmpty)
        #expect(rows.firstN == 0)
        Self.add(&rows, channel: 1, n: 0)
        let ready = rows.takeReady()
        #expect(ready.map(\.n) == Array(0..<12))
        #expect(ready.allSatisfy { $0.missing == 0 && Self.isTrue($0) })
        #expect(rows.isEmpty)
    }

    @Test("A lost packet of one channel leaves that channel empty, and shifts nothing")
    func lostPacket() {
        var rows = PartialRows(channelCount: 4)
        var ready: [PartialRows.Row] = []
        for packet in 0..<20 {
            for channel in 0..<4 where !(packet == 3 && channel == 2) {
                Self.add(&rows, channel: channel, n: Int64(packet) * 12)
            }
            ready += rows.takeReady()
        }
        ready += rows.take(before: .max)
        #expect(ready.map(\.n) == Array(0..<240))
        #expect(ready.allSatisfy(Self.isTrue))
        #expect(ready.filter { $0.missing != 0 }.map(\.n) == Array(36..<48))
        #expect(ready.allSatisfy { $0.missing == 0 || $0.missing == 0b0100 })
    }

    @Test("A packet that is late by less than the window completes its rows")
    func late() {
        var rows = PartialRows(channelCount: 2)
        Self.add(&rows, channel: 0, n: 0)
        for packet in 1..<4 { for channel in 0..<2 { Self.add(&rows, channel: channel, n: Int64(packet) * 12) } }
        #expect(rows.takeReady().isEmpty)
        Self.add(&rows, channel: 1, n: 0)
        #expect(rows.takeReady().allSatisfy { $0.missing == 0 && Self.isTrue($0) })
        #expect(rows.isEmpty)
    }

    @Test("What came first stays when a packet comes twice")
    func duplicate() {
        var rows = PartialRows(channelCount: 2)
        rows.add([1], n: 5, firstChannel: 0)
        rows.add([2], n: 5, firstChannel: 0)
        #expect(rows.take(before: 6) == [PartialRows.Row(n: 5, values: [1, 0], missing: 0b10, unarrived: 0b10)])
    }

    @Test("Eight channels fit the bit set, and rows come in order however their packets came")
    func eightChannels() {
        var rows = PartialRows(channelCount: 8)
        for n in [Int64(3), 1, 2] { rows.add([1, 2, 3, 4], n: n, firstChannel: 4) }
        #expect(rows.take(before: 3).map(\.n) == [1, 2])
        let last = rows.take(before: .max)
        let values: [Int32] = [0, 0, 0, 0, 1, 2, 3, 4]
        #expect(last == [PartialRows.Row(n: 3, values: values, missing: 0b0000_1111, unarrived: 0b0000_1111)])
    }

    @Test("What had no time to come is told apart from what was lost, by what came later")
    func unarrived() {
        var rows = PartialRows(channelCount: 3)
        Self.add(&rows, channel: 0, n: 0, instants: 36)
        Self.add(&rows, channel: 1, n: 12)
        Self.add(&rows, channel: 2, n: 0, instants: 24)
        let taken = rows.take(before: .max)
        // Channel 1 lost its first packet; its third, and that of channel 2, would have come.
        #expect(taken.prefix(12).allSatisfy { $0.missing == 0b010 && $0.unarrived == 0 })
        #expect(taken[12..<24].allSatisfy { $0.missing == 0 && $0.unarrived == 0 })
        #expect(taken[24...].allSatisfy { $0.missing == 0b110 && $0.unarrived == 0b110 })
    }

    /// A stream of two channels in packets of their own, 8 samples each, without those that are lost.
    private static func stream(
        of count: Int64, without isLost: (_ first: Int64, _ channel: Int) -> Bool
    ) -> StreamUnderTest {
        var test = StreamUnderTest(modulus: 1 << 16, channels: 2)
        test.begin(rule: .connection)
        for first in stride(from: Int64(0), to: count, by: 8) {
            test.advance(samples: 8)
            for channel in 0..<2 where !isLost(first, channel) {
                test.take(index: first, truth: first, channels: channel..<(channel + 1))
            }
        }
        return test
    }

    @Test("The ledger gives what had no time to come the cause of the link's end")
    func causes() {
        var test = Self.stream(of: 48) { first, channel in (first == 16 && channel == 1) || (first == 40 && channel == 0) }
        test.stream.endLink(cause: .impedance, at: test.now)
        let opened = test.commit().changes.compactMap { change -> String? in
            if case .ledger(.open(_, let n, let channel, _, let cause, _, _)) = change {
                "\(n) \(channel) \(cause)"
            } else {
                nil
            }
        }
        #expect(Set(opened) == ["16 2 packetLost", "40 1 impedance", "48 0 impedance"])
    }

    @Test("The line of times reaches to the rows that a link's end has settled, so that none that follows lies before them")
    func line() {
        var test = Self.stream(of: 32) { first, channel in first >= 16 && channel == 1 }
        test.stream.endLink(cause: .impedance, at: test.now)
        test.commit()
        #expect(test.database.segments.values.map(\.lastN).max() == 31)
    }
}
