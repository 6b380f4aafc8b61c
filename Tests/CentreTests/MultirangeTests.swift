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

    @Test func theServerReadsWhatIsWritten() {
        #expect(Multirange([]).text == "{}")
        #expect(Multirange([-7 ... -1, 1...5]).text == "{[-7,-1],[1,5]}")
    }
}
