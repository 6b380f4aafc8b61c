import Evidence
import Storage
import Testing

@testable import Centre

/// What a centre is to say that it holds; Tests/Fleet compares it with what one says.
@Suite struct HeldRecordingsTests {
    private static func whole(
        _ streams: [String: ShippedState] = [:], _ series: [RowSeries: RowSeries.State] = [:]
    ) -> HeldRecordings.Whole {
        HeldRecordings.Whole(
            recording: RecordingID(rawValue: 1), uuid: "r", digest: DigestSum(), streams: streams, series: series,
            version: nil, wasSentWhole: false)
    }

    @Test func whatIsThereStandsInOrder() {
        let late = ShippedState.LateEnd(number: 3, rowCount: 40)
        let whole = Self.whole(
            ["b": ShippedState(doneN: 7, late: late), "a": ShippedState(doneN: -1, heads: [5...6]), "c": ShippedState()],
            [
                RowSeries(table: "process", owner: "", part: 0): RowSeries.State(last: 2, count: 1, isComplete: true),
                RowSeries(table: "arrival", owner: "b", part: 0): RowSeries.State(last: 9, count: 5, isComplete: false),
            ])
        #expect(whole.text == "a -1 {[5,7)}  \nb 7 {} 3 40\n\narrival b 0 9 5 false\nprocess  0 2 1 true\n\n")
    }

    @Test func ofARecordingWithoutRowsNothingSaysThatItIsThere() {
        #expect(Self.whole().isSilent && Self.whole(["a": ShippedState()]).isSilent)
        #expect(!Self.whole(["a": ShippedState(doneN: 0)]).isSilent)
        let process = [RowSeries(table: "process", owner: "", part: 0): RowSeries.State(last: 2, count: 1, isComplete: true)]
        #expect(!Self.whole([:], process).isSilent)
        var counted = Self.whole()
        counted.version = 3
        #expect(!counted.isSilent && counted.text == "\n\n\n\n3")
    }
}
