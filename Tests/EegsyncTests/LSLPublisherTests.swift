import ArgumentParser
import Bluetooth
import Headsets
import Storage
import Tap
import Testing

@testable import eegsync

/// From messages of the tap to outlets, without liblsl.
@Suite struct LSLPublisherTests {
    /// An outlet that keeps what it is given.
    private final class Outlet: LSLPublisher.Outlet {
        let header: String
        var samples: [(values: [Double], stamp: Double)] = []
        var texts: [(text: String, stamp: Double)] = []

        init(_ header: String) { self.header = header }

        func push(_ values: [Double], stamps: [Double]) {
            let width = values.count / max(1, stamps.count)
            for (row, stamp) in stamps.enumerated() {
                samples.append((Array(values[row * width..<(row + 1) * width]), stamp))
            }
        }

        func push(_ text: String, stamp: Double) { texts.append((text, stamp)) }
    }

    /// A publisher, and everything that it has made.
    private final class Bench {
        var outlets: [Outlet] = []
        /// What the database has.
        var contents: RecordingContents?
        /// Seconds by which LSL's clock is behind, as after a suspension.
        var suspended = 0.0
        /// An outlet whose header holds one of these is not made.
        var refused: [String] = []
        private(set) var attemptCount = 0
        private(set) lazy var publisher = LSLPublisher(
            makeOutlet: { [unowned self] (header, _, _) throws(LSLError) in
                attemptCount += 1
                if let name = refused.first(where: { header.contains($0) }) { throw .outlet(name: name) }
                outlets.append(Outlet(header))
                return outlets[outlets.count - 1]
            }, contents: { [unowned self] _ in contents },
            clock: { [unowned self] in
                LSLClock(local: 1_000 - suspended, boottime: MonotonicTime(nanoseconds: 1_000_000_000_000))
            })
        private var number: UInt64 = 0

        /// Says what a daemon says first.
        func greet(recordings: [Int64] = [3]) throws {
            try say(.hello(TapHello(program: "", droppedReaders: 0)), isGreeting: true)
            for recording in recordings {
                let id = RecordingID(rawValue: recording)
                try say(
                    .headset(TapHeadset(recording: id, headset: HeadsetID(rawValue: 1), name: "left", model: "muse")),
                    isGreeting: true)
                try say(.stream(LSLPublisherTests.stream(of: recording)), isGreeting: true)
            }
        }

        func say(_ content: TapContent, isGreeting: Bool = false) throws {
            if !isGreeting { number += 1 }
            try publisher.take(TapMessage(number: number, at: .boot, content: content))
        }

        func outlet(_ name: String) -> Outlet? { outlets.first { $0.header.contains("<name>\(name)</name>") } }
    }

    private static func stream(of recording: Int64) -> NewStream {
        NewStream(
            id: StreamID(rawValue: recording * 10), recording: RecordingID(rawValue: recording), position: 0,
            description: StreamDescription(
                name: "eeg", samplingFrequency: 250, counterModulus: nil,
                channels: ["TP9", "AF7"].map {
                    ChannelDescription(name: $0, scale: 0.5, offset: 1, rawMinimum: 0, rawMaximum: 4095)
                }))
    }

    private static let contents = RecordingContents(
        id: RecordingID(rawValue: 3), headsetName: "left", model: "muse", serialNumber: "S-7", label: nil, subject: nil,
        task: nil,
        startUnixNanoseconds: nil, streams: [], annotations: [])

    /// Two rows of a stream that began at 900 s.
    ///
    /// - Parameter secondsLate: by how much the time map has them later.
    private static func samples(
        _ firstN: Int64, isLate: Bool = false, hasTime: Bool = true, recording: Int64 = 3, secondsLate: Double = 0
    ) -> TapContent {
        .samples(
            TapSamples(
                rows: SampleRows(
                    stream: StreamID(rawValue: recording * 10), channelCount: 2, firstN: firstN, values: [2, 4, 6, 8],
                    missingChannels: [0, 2]),
                time: hasTime
                    ? TapTime(
                        first: MonotonicTime(
                            nanoseconds: 900_000_000_000 + firstN * 4_000_000 + Int64(secondsLate * 1e9)),
                        periodNanoseconds: 4e6, uncertaintyNanoseconds: nil)
                    : nil, arrival: nil, isLate: isLate))
    }

    private static let committed = TapContent.committed(
        TapCommit(through: 1, rows: [.init(stream: StreamID(rawValue: 30), firstN: 0, count: 1)]))

    @Test func samplesArePhysicalValuesWithTheirTimes() throws {
        let bench = Bench()
        bench.contents = Self.contents
        bench.suspended = 100
        try bench.greet()
        try bench.say(Self.samples(0))
        let outlet = try #require(bench.outlet("left-eeg"))
        #expect(outlet.header.contains("<source_id>eegsync/S-7/eeg</source_id>"))
        #expect(outlet.header.contains("<nominal_srate>250.0</nominal_srate>") && outlet.header.contains("<label>TP9</label>"))
        #expect(outlet.samples.map(\.stamp) == [800, 800.004], "the clock stood still while the machine was suspended")
        #expect(outlet.samples[0].values == [2, 3])
        #expect(outlet.samples[1].values[0] == 4 && outlet.samples[1].values[1].isNaN)
        #expect(bench.publisher.offered == ["left-eeg"])
    }

    @Test func whatComesBeforeTheDatabaseHasTheHeadsetWaitsAndIsSentOnce() throws {
        let bench = Bench()
        try bench.greet()
        for n in 0..<3 { try bench.say(Self.samples(Int64(n) * 2)) }
        #expect(bench.outlets.isEmpty)
        bench.contents = Self.contents
        try bench.say(Self.committed)
        #expect(bench.outlet("left-eeg")?.samples.count == 6)
        try bench.say(Self.samples(6))
        #expect(bench.outlet("left-eeg")?.samples.count == 8 && bench.outlets.count == 3)
    }

    @Test func withoutADatabaseTheStreamIsOfferedAllTheSame() throws {
        let bench = Bench()
        try bench.greet()
        for n in 0...401 { try bench.say(Self.samples(Int64(n) * 2)) }
        let outlet = try #require(bench.outlet("left-eeg"))
        #expect(outlet.header.contains("<source_id>eegsync/left/eeg</source_id>"))
        #expect(outlet.samples.count == 804)
    }

    @Test func whatComesLateHasAnOutletOfItsOwnAndWhatHasNoTimeIsNotSent() throws {
        let bench = Bench()
        bench.contents = Self.contents
        try bench.greet()
        try bench.say(Self.samples(10))
        try bench.say(Self.samples(0, isLate: true))
        try bench.say(Self.samples(12, hasTime: false))
        #expect(bench.outlet("left-eeg")?.samples.count == 2)
        let late = try #require(bench.outlet("left-eeg-late"))
        #expect(late.samples.count == 2 && late.header.contains("<nominal_srate>0.0</nominal_srate>"))
    }

    @Test func marksAreSentAtTheirInstants() throws {
        let bench = Bench()
        bench.contents = Self.contents
        try bench.greet()
        let annotation = AnnotationRecord(
            recording: RecordingID(rawValue: 3), onset: MonotonicTime(nanoseconds: 950_500_000_000), durationSeconds: nil,
            description: "lights out", source: "operator")
        try bench.say(.mark(TapMark(annotation: annotation, isStored: true)))
        let outlet = try #require(bench.outlet("left-markers"))
        #expect(outlet.texts.first?.text == "lights out" && outlet.texts.first?.stamp == 950.5)
        #expect(
            outlet.header.contains("<type>Markers</type>")
                && outlet.header.contains("<source_id>eegsync/S-7/markers</source_id>"))
    }

    /// A restart of the daemon is no end of a stream; the end of its recording is, also while nobody listened.
    @Test func outletsLiveAsLongAsTheirRecording() throws {
        let bench = Bench()
        bench.contents = Self.contents
        try bench.greet()
        try bench.say(Self.samples(0))
        try bench.greet()
        try bench.say(Self.samples(2))
        #expect(bench.outlets.count == 3 && bench.outlet("left-eeg")?.samples.count == 4)
        try bench.greet(recordings: [4])
        try bench.say(Self.samples(0, recording: 4))
        #expect(bench.outlets.count == 6 && bench.publisher.offered == ["left-eeg"])
        try bench.say(.recording(.stopped(RecordingID(rawValue: 4), at: .boot)))
        #expect(bench.publisher.offered == [])
    }

    private static func stored(_ rows: Range<Int64>) -> TapContent {
        .committed(
            TapCommit(
                through: 1,
                rows: [.init(stream: StreamID(rawValue: 30), firstN: rows.lowerBound, count: Int64(rows.count))]))
    }

    /// Stamps of what was sent, as numbers of rows.
    private static func sent(_ outlet: Outlet?) -> [Int64] {
        (outlet?.samples ?? []).map { Int64((($0.stamp - 900) * 250).rounded()) }
    }

    /// What was said and not stored when the daemon was killed comes again from a headset with a memory.
    @Test func whatComesAgainAfterAKillIsSentOnce() throws {
        let bench = Bench()
        bench.contents = Self.contents
        try bench.greet()
        for n in [0, 2, 4] as [Int64] { try bench.say(Self.samples(n)) }
        try bench.say(Self.stored(0..<2))
        // Lost on the radio: 6 and 7. Then killed; the time map is fitted anew.
        try bench.say(Self.samples(8))
        try bench.greet()
        for n in stride(from: 2, to: 12, by: 2) as StrideTo<Int64> { try bench.say(Self.samples(n, secondsLate: 0.02)) }
        let outlet = try #require(bench.outlet("left-eeg"))
        #expect(outlet.samples.count == 12, "0 to 5, 8 and 9 at first; then what is new: 6, 7, 10 and 11")
        #expect(Self.sent(outlet).prefix(8) == [0, 1, 2, 3, 4, 5, 8, 9])
        let stamps = Set(outlet.samples.suffix(4).map { Int64((($0.stamp - 900.02) * 250).rounded()) })
        #expect(stamps == [6, 7, 10, 11])
    }

    @Test func whatComesAgainLateIsNotSentLateToo() throws {
        let bench = Bench()
        bench.contents = Self.contents
        try bench.greet()
        for n in [0, 2, 4] as [Int64] { try bench.say(Self.samples(n)) }
        try bench.greet()
        try bench.say(Self.samples(20))
        for n in stride(from: 0, to: 20, by: 2) as StrideTo<Int64> { try bench.say(Self.samples(n, isLate: true)) }
        #expect(Self.sent(bench.outlet("left-eeg")) == [0, 1, 2, 3, 4, 5, 20, 21])
        #expect(Self.sent(bench.outlet("left-eeg-late")) == Array(6..<20))
    }

    /// Without a memory and without a known rate, a new process goes on from what is stored: the numbers are used anew.
    @Test func laterSamplesWithTheNumbersOfLostOnesAreNotCut() throws {
        let bench = Bench()
        bench.contents = Self.contents
        try bench.greet()
        for n in [0, 2, 4] as [Int64] { try bench.say(Self.samples(n)) }
        try bench.greet()
        for n in [0, 2, 4, 6] as [Int64] { try bench.say(Self.samples(n, secondsLate: 1)) }
        #expect(bench.outlet("left-eeg")?.samples.count == 14)
        // And what is said of them again is cut.
        try bench.greet()
        try bench.say(Self.samples(4, secondsLate: 1))
        #expect(bench.outlet("left-eeg")?.samples.count == 14)
    }

    @Test func whatIsKnownToBeSentIsBounded() {
        var sent = SentRows()
        for number in 0..<1000 as Range<Int64> {
            guard case .samples(let samples) = Self.samples(number * 4) else { continue }
            sent.note(samples)
        }
        #expect(sent.runCount == SentRows.runMaximum)
        sent.forget(0..<4000)
        #expect(sent.runCount == 0)
        for number in 0..<1000 as Range<Int64> {
            guard case .samples(let samples) = Self.samples(number * 2) else { continue }
            sent.note(samples)
        }
        #expect(sent.runCount == 1)
        sent.forget(10..<20)
        #expect(sent.runCount == 2)
    }

    /// Says messages of samples, and counts the errors.
    private func errors(_ bench: Bench, _ numbers: Range<Int64>) throws -> Int {
        var count = 0
        for n in numbers {
            do { try bench.say(Self.samples(n * 2)) } catch is LSLError { count += 1 }
        }
        return count
    }

    @Test func whereNoOutletCanBeMadeThatIsSaidOnceAndTheNewestWait() throws {
        let bench = Bench()
        bench.contents = Self.contents
        bench.refused = ["<name>"]
        try bench.greet()
        #expect(try errors(bench, 0..<5000) == 1)
        #expect(bench.publisher.waitingCount == LSLPublisher.waitingMaximum)
        #expect(bench.attemptCount < 20, "each costs more than a message")
        bench.refused = []
        try bench.say(Self.committed)
        #expect(Self.sent(bench.outlet("left-eeg")).first == 9200)
        #expect(bench.outlet("left-eeg")?.samples.count == 800 && bench.publisher.waitingCount == 0)
    }

    @Test(arguments: ["<name>left-eeg-late</name>", "<name>left-markers</name>", "<name>left-eeg</name>"])
    func allOutletsOfAStreamAreThereOrNone(refused: String) throws {
        let bench = Bench()
        bench.contents = Self.contents
        bench.refused = [refused]
        try bench.greet()
        #expect(try errors(bench, 0..<10) == 1)
        #expect(bench.publisher.offered.isEmpty && bench.publisher.waitingCount == 10)
        let annotation = AnnotationRecord(
            recording: RecordingID(rawValue: 3), onset: .boot, durationSeconds: nil, description: "lights out",
            source: "operator")
        try bench.say(.mark(TapMark(annotation: annotation, isStored: true)))
        bench.refused = []
        try bench.say(Self.committed)
        #expect(bench.publisher.offered == ["left-eeg"])
        #expect(bench.outlets.last { $0.header.contains("<name>left-eeg</name>") }?.samples.count == 20)
        #expect(bench.outlet("left-markers")?.texts.map(\.text) == ["lights out"])
        try bench.say(Self.samples(0, isLate: true))
        #expect(bench.outlet("left-eeg-late") != nil)
    }

    @Test func aMarkerHasTheTimeOfItsArrivalOrOfTheCorrectionThatWasKnown() {
        let clock = LSLClock(local: 50, boottime: MonotonicTime(nanoseconds: 80_000_000_000))
        let arrival = MonotonicTime(nanoseconds: 99_000_000_000)
        var time = LSLMarkerTime()
        #expect(time.waitSeconds == 2)
        let first = time.instant(of: 7, correction: nil, clock: clock, arrival: arrival)
        #expect(first == arrival && time.waitSeconds == 0, "those behind it wait for nothing")
        let second = time.instant(of: 7, correction: 44.5, clock: clock, arrival: arrival)
        #expect(second == MonotonicTime(nanoseconds: 81_500_000_000) && time.waitSeconds == 2)
        let third = time.instant(of: 8, correction: nil, clock: clock, arrival: arrival)
        #expect(third == MonotonicTime(nanoseconds: 82_500_000_000) && time.waitSeconds == 0)
        let none = time.instant(of: .nan, correction: 44.5, clock: clock, arrival: arrival)
        #expect(none == arrival)
    }

    @Test func aCorrectionOfBeforeAnotherMachinesRebootMovesNoMarker() {
        let clock = LSLClock(local: 50, boottime: MonotonicTime(nanoseconds: 80_000_000_000))
        func arrival(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }
        // The other machine has run for a day.
        var time = LSLMarkerTime()
        let first = time.instant(of: 86_400, correction: -86_300, clock: clock, arrival: arrival(130.1))
        #expect(first == arrival(130))
        // No answer for a while, and none is needed.
        let second = time.instant(of: 86_410, correction: nil, clock: clock, arrival: arrival(140.2))
        #expect(second == arrival(140))
        // It has rebooted: its clock is at seven seconds.
        let third = time.instant(of: 7, correction: nil, clock: clock, arrival: arrival(200.1))
        #expect(third == arrival(200.1))
        let fourth = time.instant(of: 8, correction: 163, clock: clock, arrival: arrival(201.1))
        #expect(fourth == arrival(201))
        let fifth = time.instant(of: 9, correction: nil, clock: clock, arrival: arrival(202.1))
        #expect(fifth == arrival(202))
        // What liblsl says now counts, however long the marker was on its way.
        let late = time.instant(of: 10, correction: 163, clock: clock, arrival: arrival(500))
        #expect(late == arrival(203))
    }

    @Test func theTwoClocksAreConvertedBothWays() {
        let clock = LSLClock(local: 50, boottime: MonotonicTime(nanoseconds: 80_000_000_000))
        #expect(clock.stamp(MonotonicTime(nanoseconds: 81_500_000_000)) == 51.5)
        #expect(clock.time(51.5) == MonotonicTime(nanoseconds: 81_500_000_000))
        #expect(clock.time(.nan) == nil && clock.time(.infinity) == nil && clock.time(1e300) == nil)
    }

    @Test func aNameIsAPredicateToo() {
        #expect(LSLMarkers.predicate("PsychoPy") == "name='PsychoPy'")
        #expect(LSLMarkers.predicate("Ann's") == "name=\"Ann's\"")
        #expect(LSLMarkers.predicate("type='Markers' and hostname='a'") == "type='Markers' and hostname='a'")
    }

    @Test func withoutTheLibraryTheMessageSaysWhereItIs() throws {
        let run = try ProgramRun(["lsl", "--library", "/absent/liblsl.so"])
        #expect(run.exitCode == 69)
        #expect(run.errors.contains("/absent/liblsl.so") && run.errors.contains("pylsl"))
        // libc is a library, and has no such function.
        let other = try ProgramRun(["lsl", "--library", "libc.so.6"])
        #expect(other.exitCode == 69 && other.errors.contains("lsl_local_clock"))
    }

    @Test func aMarkCanBeOfAnInstantSinceTheBoot() throws {
        let database = try RecordedDatabase()
        let environment = ["EEGSYNC_DATABASE": database.path]
        let started = try ProgramRun(["record", "start", "left", "--model", "muse"], environment: environment)
        #expect(started.exitCode == 0, "\(started.errors)")
        let time = HostClock.now
        let marked = try ProgramRun(
            ["mark", "--boottime", "\(time.nanoseconds)", "stimulus", "--headset", "left"], environment: environment)
        #expect(marked.exitCode == 0, "\(marked.errors)")
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let recording = try #require(try store.recordings().map(\.id).max())
        let annotation = try #require(try store.annotations(of: RecordingID(rawValue: recording)).first)
        let offset = HostClock.offset().offsetNanoseconds
        let onset = try #require(annotation.onsetUnixNanoseconds)
        #expect(abs(onset - offset - time.nanoseconds) < 200_000_000, "by the clock offset that the database has")
        #expect(try ProgramRun(["mark", "x", "--boottime", "1", "--at", "-5m"], environment: environment).exitCode == 64)
    }
}
