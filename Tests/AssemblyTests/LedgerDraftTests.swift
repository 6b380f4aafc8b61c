import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// Folding of the ledger's changes between two batches.
struct LedgerDraftTests {
    private static let stream = StreamID(rawValue: 7)
    private static let now = MonotonicTime(nanoseconds: 5_000_000_000)

    private static func open(
        _ n: Int64, _ count: Int64?, channel: Int = 0, certainty: GapCertainty = .unknown
    ) -> LedgerEntry {
        .open(
            stream: stream, firstN: n, channel: channel, count: count, cause: .packetLost, noticed: now, certainty: certainty)
    }

    @Test("A lost packet that was merely reordered leaves no trace")
    func reordered() {
        var draft = LedgerDraft(stream: Self.stream)
        draft.open(firstN: 10, channel: 0, count: 4, cause: .packetLost, noticed: Self.now)
        draft.recover(firstN: 10, channel: 0, count: 1)
        draft.recover(firstN: 10, channel: 0, count: 3)
        #expect(draft.isEmpty)
        #expect(draft.take().isEmpty)
    }

    @Test("A packet that is found in part is opened, and recovered in the same batch")
    func inPart() {
        var draft = LedgerDraft(stream: Self.stream)
        draft.open(firstN: 10, channel: 0, count: 4, cause: .packetLost, noticed: Self.now)
        draft.recover(firstN: 10, channel: 0, count: 3)
        #expect(draft.take() == [Self.open(10, 4), .recover(stream: Self.stream, firstN: 10, channel: 0, count: 3)])
        draft.recover(firstN: 10, channel: 0, count: 1)
        #expect(draft.take() == [.recover(stream: Self.stream, firstN: 10, channel: 0, count: 1)])
        #expect(draft.isEmpty)
    }

    @Test("A gap with another cause stays in the ledger although all of it was recovered")
    func otherCause() {
        var draft = LedgerDraft(stream: Self.stream)
        draft.open(firstN: 10, channel: 0, count: 2, cause: .linkLost, noticed: Self.now)
        draft.recover(firstN: 10, channel: 0, count: 2)
        #expect(draft.take().count == 2)
    }

    @Test("A gap of a channel that grows before it is written is opened once, at its full length")
    func growth() {
        var draft = LedgerDraft(stream: Self.stream)
        draft.open(firstN: 10, channel: 2, count: 1, cause: .packetLost, noticed: Self.now)
        draft.close(firstN: 10, channel: 2, count: 2, certainty: .counted)
        draft.close(firstN: 10, channel: 2, count: 3, certainty: .counted)
        #expect(draft.take() == [Self.open(10, 3, channel: 2, certainty: .counted)])
        draft.close(firstN: 10, channel: 2, count: 4, certainty: .counted)
        #expect(draft.take() == [.close(stream: Self.stream, firstN: 10, channel: 2, count: 4)])
    }

    @Test("An open gap is withdrawn without a trace before it is written, and by an entry afterwards")
    func withdrawal() {
        var draft = LedgerDraft(stream: Self.stream)
        draft.open(firstN: 10, channel: 0, count: nil, cause: .linkLost, noticed: Self.now)
        draft.withdraw(firstN: 10, channel: 0)
        #expect(draft.isEmpty)
        draft.withdraw(firstN: 10, channel: 0)
        draft.open(firstN: 10, channel: 0, count: 9, cause: .packetLost, noticed: Self.now)
        #expect(draft.take() == [.withdraw(stream: Self.stream, firstN: 10, channel: 0), Self.open(10, 9)])
    }

    @Test("A stored gap that is withdrawn, opened anew and withdrawn again is only withdrawn")
    func withdrawnTwice() {
        var draft = LedgerDraft(stream: Self.stream)
        draft.withdraw(firstN: 10, channel: 0)
        draft.open(firstN: 10, channel: 0, count: 9, cause: .packetLost, noticed: Self.now)
        draft.withdraw(firstN: 10, channel: 0)
        #expect(draft.take() == [.withdraw(stream: Self.stream, firstN: 10, channel: 0)])
    }

    @Test("A stored gap that is withdrawn, opened anew and recovered keeps its removal")
    func withdrawnAndRecovered() {
        var draft = LedgerDraft(stream: Self.stream)
        draft.withdraw(firstN: 10, channel: 0)
        draft.open(firstN: 10, channel: 0, count: 9, cause: .packetLost, noticed: Self.now)
        draft.recover(firstN: 10, channel: 0, count: 9)
        #expect(draft.take().first == .withdraw(stream: Self.stream, firstN: 10, channel: 0))
    }

    @Test("Entries come in the order of n and channel")
    func order() {
        var draft = LedgerDraft(stream: Self.stream)
        draft.open(firstN: 20, channel: 0, count: 1, cause: .packetLost, noticed: Self.now)
        draft.open(firstN: 10, channel: 3, count: 1, cause: .packetLost, noticed: Self.now)
        draft.open(firstN: 10, channel: 1, count: 1, cause: .packetLost, noticed: Self.now)
        #expect(draft.take() == [Self.open(10, 1, channel: 1), Self.open(10, 1, channel: 3), Self.open(20, 1)])
    }
}
