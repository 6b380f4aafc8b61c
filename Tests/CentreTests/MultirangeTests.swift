import Testing

@testable import Centre

/// Ranges as the server writes and reads them.
@Suite struct MultirangeTests {
    @Test func whatTheServerWritesIsRead() {
        #expect(Multirange("{}").ranges.isEmpty)
        #expect(Multirange("{[5,6)}").ranges == [5...5])
        #expect(Multirange("{[-7,0),[1,6),[9,10)}").ranges == [-7 ... -1, 1...5, 9...9])
        #expect(Multirange("{[0,9223372036854775807)}").ranges == [0...(Int64.max - 1)])
    }

    @Test func whatHasNoBoundsIsNoRange() {
        #expect(Multirange("{(,3),[4,6)}").ranges == [4...5])
        #expect(Multirange("{[7,)}").ranges.isEmpty)
        #expect(Multirange("").ranges.isEmpty)
    }

    @Test func whetherAllOfItIsRead() {
        #expect(Multirange("{}").isWhole && Multirange("{[5,6),[8,9)}").isWhole && Multirange([5...5]).isWhole)
        #expect(!Multirange("{(,3),[4,6)}").isWhole && !Multirange("{[7,)}").isWhole && !Multirange("{(,)}").isWhole)
    }

    @Test func asTheServerWritesIt() {
        for text in ["{}", "{[5,6)}", "{[-7,0),[1,6),[9,10)}"] { #expect(Multirange(text).written == text) }
        // Nothing has a number behind it; it is no reason to end.
        #expect(Multirange([0...Int64.max]).written.hasPrefix("{[0,"))
    }

    @Test func theServerReadsWhatIsWritten() {
        #expect(Multirange([]).text == "{}")
        #expect(Multirange([-7 ... -1, 1...5]).text == "{[-7,-1],[1,5]}")
    }
}
