import Foundation
import Testing

@testable import Report
@testable import Storage

@Suite("Pictures over time")
struct CourseTests {
    @Test("However many intervals there are, a raster has no more runs than columns, and shows each of them")
    func raster() {
        var raster = ColumnRaster(columnCount: 10, kindCount: 3)
        raster.add(0, from: 0, to: 0.5)
        raster.add(1, from: 0.5, to: 0.501)
        #expect(raster.runs == [.init(kind: 0, columns: 0..<5), .init(kind: 1, columns: 5..<6)])
        for index in 0..<100_000 { raster.add(2, from: Double(index) / 1e5, to: Double(index) / 1e5 + 1e-6) }
        #expect(raster.runs == [.init(kind: 0, columns: 0..<5), .init(kind: 2, columns: 5..<10)])
    }

    @Test("An instant, an interval that is out of the picture, and one that is no number do no harm")
    func oddIntervals() {
        var raster = ColumnRaster(columnCount: 4, kindCount: 1)
        raster.add(0, from: 0.6, to: 0.6)
        raster.add(0, from: .nan, to: 1)
        raster.add(7, from: 0, to: 1)
        #expect(raster.runs == [.init(kind: 0, columns: 2..<3)])
        raster.add(0, from: 2, to: 3)
        raster.add(0, from: -5, to: -4)
        #expect(raster.runs.map(\.columns) == [0..<1, 2..<4])
    }

    @Test("Columns of values keep the least and the greatest, so that no spike is hidden")
    func values() {
        var raster = ValueRaster(columnCount: 2)
        for index in 0..<1000 { raster.add(index == 333 ? 99 : 1, at: Double(index) / 1000) }
        #expect(raster.columns.map(\.greatest) == [99, 1])
        #expect(raster.columns.map(\.least) == [1, 1])
        raster.add(.infinity, at: 0.9)
        raster.add(5, from: 0.5, to: 1)
        #expect(raster.columns.map(\.greatest) == [99, 5])
    }

    @Test(
        "Ticks are at whole steps of the reader's clock, and at most a dozen",
        arguments: [1, 90, 4000, 36_000, 86_400, 1_814_400])
    func ticks(seconds: Int64) throws {
        // Half an hour beside UTC: whole hours there are none of UTC.
        let zone = try #require(TimeZone(secondsFromGMT: 19_800))
        let axis = TimeAxis(
            start: RecordedHour.start + 123_000_000_000, end: RecordedHour.start + (123 + seconds) * 1_000_000_000,
            clock: ReportClock(zone: zone))
        let ticks = axis.ticks
        #expect(ticks.count <= 12 && ticks.allSatisfy { (0...1).contains($0.fraction) })
        #expect(ticks.map(\.fraction) == ticks.map(\.fraction).sorted())
        if seconds >= 3600, seconds < 1_000_000 {
            #expect(ticks.allSatisfy { $0.label.hasSuffix("0") || $0.label.contains("-") })
        }
        if seconds == 36_000 { #expect(ticks.first?.label == "16:00") }
    }

    /// Summer time ends in Berlin on 2026-10-25 at 01:00 UTC.
    @Test("Where clocks are changed, days begin at midnight, and hours are those that the clock shows")
    func changedClocks() throws {
        let clock = ReportClock(zone: try #require(TimeZone(identifier: "Europe/Berlin")))
        func texts(_ step: Int64, _ seconds: ClosedRange<Int64>) -> [String] {
            let instants = clock.instants(
                everySeconds: step, from: seconds.lowerBound * 1_000_000_000, to: seconds.upperBound * 1_000_000_000)
            return instants.map { "\(clock.parts($0).day) \(clock.parts($0).second)" }
        }
        // 2026-10-22T12:00Z, and seven days later.
        let week: ClosedRange<Int64> = 1_792_670_400...(1_792_670_400 + 7 * 86_400)
        let days = (23...29).map { "10-\($0)" }
        #expect(texts(86_400, week) == days.map { "\($0) 00:00:00" })
        let axis = TimeAxis(
            start: week.lowerBound * 1_000_000_000, end: week.upperBound * 1_000_000_000, clock: clock)
        #expect(axis.ticks.map(\.label) == days)
        // 2026-10-24T23:30Z, and three hours later: two o'clock comes twice.
        let night: ClosedRange<Int64> = 1_792_884_600...(1_792_884_600 + 3 * 3600)
        #expect(texts(3600, night) == ["02:00:00", "02:00:00", "03:00:00"].map { "10-25 \($0)" })
        #expect(texts(7200, 1_792_884_600...1_792_900_800) == ["02:00:00", "04:00:00"].map { "10-25 \($0)" })
        // In spring, on 2026-03-29 at 01:00 UTC, two o'clock does not come.
        #expect(texts(3600, 1_774_740_600...1_774_747_800) == ["01:00:00", "03:00:00"].map { "03-29 \($0)" })
    }

    /// In Havana clocks go on at midnight: 2026-03-08 begins at 01:00, 05:00 UTC.
    @Test("A day without midnight begins where its clock goes on")
    func noMidnight() throws {
        let clock = ReportClock(zone: try #require(TimeZone(identifier: "America/Havana")))
        let start: Int64 = 1_772_928_000 * 1_000_000_000
        let instants = clock.instants(everySeconds: 86_400, from: start, to: start + 43_200 * 1_000_000_000)
        #expect(instants == [start + 18_000 * 1_000_000_000])
        #expect(clock.parts(instants.first ?? 0).minute == "01:00")
    }

    @Test("An axis of less than a second, and one of years, have ticks at whole steps or none")
    func oddAxes() throws {
        let clock = ReportClock(zone: try #require(TimeZone(secondsFromGMT: 3600)))
        #expect(clock.instants(everySeconds: 1, from: 300_000_000, to: 800_000_000) == [])
        let years = TimeAxis(start: RecordedHour.start, end: RecordedHour.start + 1000 * 86_400_000_000_000, clock: clock)
        #expect((8...12).contains(years.ticks.count))
        let instants = clock.instants(everySeconds: 100 * 86_400, from: years.start, to: years.end)
        #expect(instants.allSatisfy { clock.parts($0).second == "00:00:00" })
    }

    @Test("A time map with several pieces gives the time of any sample, and where a gap begins the piece before it")
    func cursor() throws {
        func segment(_ first: Int64, _ last: Int64, at unix: Int64) -> TimeSegment {
            TimeSegment(
                firstN: first, lastN: last, referenceN: first, referenceUnixNanoseconds: unix, periodNanoseconds: 10)
        }
        var times = try #require(
            TimeCursor([segment(0, 99, at: 0), segment(200, 299, at: 5000), segment(300, 399, at: 9000)]))
        #expect(times.unixNanoseconds(ofSample: 50) == 500)
        #expect(times.unixNanoseconds(ofSample: 350) == 9500)
        #expect(times.unixNanoseconds(ofSample: 150) == 1500)
        #expect(times.unixNanoseconds(dueAfterSampleBefore: 300) == 6000)
        #expect(times.unixNanoseconds(ofSample: 300) == 9000)
        #expect(times.unixNanoseconds(ofSample: -5) == -50)
        #expect(TimeCursor([]) == nil)
    }

    @Test("A process that died is drawn as not running until the next state")
    func death() throws {
        func event(_ kind: HistoryEvent.Kind, _ name: String, _ seconds: Double, last: Double? = nil) -> HistoryEvent {
            HistoryEvent(
                kind: kind, headset: nil, name: name, cause: nil, detail: nil, layer: nil, address: nil, attempt: nil, count: 1,
                durationNanoseconds: nil, hostBoot: "b", boottimeNanoseconds: 0, lastBoottimeNanoseconds: nil,
                unixNanoseconds: RecordedHour.unix(seconds), lastUnixNanoseconds: last.map(RecordedHour.unix),
                isSynchronised: true)
        }
        let axis = TimeAxis(
            start: RecordedHour.start, end: RecordedHour.unix(1000), clock: ReportClock(zone: .gmt))
        let context = ReportContext(version: "", now: RecordedHour.unix(2000), clock: axis.clock, stateWords: [:])
        let events = [
            event(.process, "died", 500), event(.connection, "streaming", -100), event(.process, "started", 550),
            event(.connection, "searching", 600, last: 900), event(.connection, "somethingNew", 700),
            event(.attempt, "silent", 650),
        ]
        let reading = ConnectionReading(axis: axis, context: context)
        let course = try #require(reading.course(events))
        #expect(course.lane.runs.map(\.kind) == [.streaming, .notRunning, .searching, .other, .searching])
        #expect(course.sums.first { $0.kind == .notRunning }?.seconds == 100)
        // It was known to be alive at 500 s; the last sample came at 540 s.
        let exact = try #require(reading.course(events, ends: [900, 540, 100].map { RecordedHour.unix($0) }))
        #expect(exact.sums.first { $0.kind == .notRunning }?.seconds == 60)
        #expect(reading.course([]) == nil)
    }

    @Test("Numbers are written as people read them")
    func numbers() {
        #expect(ReportText.count(1_234_567) == "1,234,567")
        #expect(ReportText.fixed(-1.005, 2) == "-1.00" || ReportText.fixed(-1.005, 2) == "-1.01")
        #expect(ReportText.fixed(0.05, 1) == "0.1" && ReportText.fixed(.nan, 1) == "unknown")
        #expect(ReportText.length(12.5004) == "12.5" && ReportText.length(3) == "3" && ReportText.length(-0.0001) == "0")
        #expect(ReportText.percent(0.000_01) == "below 0.01 %" && ReportText.percent(0) == "0.00 %")
        #expect(ReportText.duration(0.085) == "85 ms" && ReportText.duration(7384) == "2 h 03 min")
        #expect(ReportText.signed(0, 1) == "+0.0" && ReportText.signed(-2, 1) == "-2.0")
    }
}
