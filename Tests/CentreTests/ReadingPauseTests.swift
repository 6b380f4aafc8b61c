import Testing

@testable import Centre

/// When what cannot be read is tried again.
@Suite struct ReadingPauseTests {
    @Test func eachPauseIsTwiceAsLongUpToAnHour() {
        var pause = ReadingPause()
        #expect(pause.end == 0)
        var pauses: [Int] = []
        var round = 7
        for _ in 1...8 {
            pause.extend(since: round)
            pauses.append(pause.end - round)
            round = pause.end
        }
        #expect(pauses == [60, 120, 240, 480, 960, 1800, 1800, 1800])
    }
}
