import Testing

@testable import Storage

/// Gaps of a recording that another machine's recording of the same headset fills.
@Suite struct TwinFillTests {
    private static func nothingWasFilled(in fixture: TwinFixture) throws {
        #expect(try fixture.files.rows("here", TwinFixture.gaps) == ["[200, 0, 100, 0]"])
        #expect(try fixture.files.rows("here", TwinFixture.lateBlocks).isEmpty)
        #expect(try fixture.files.rows("here", "SELECT id FROM annotation").isEmpty)
    }

    @Test func whatTheTwinHasComesInByTheHeadsetsIndex() throws {
        let fixture = try TwinFixture.withGaps()
        // As if nothing had been lost but what both lack.
        try fixture.record("whole", [0..<250, 260..<400])
        let (report, found) = try fixture.merge()
        let twin = try #require(found)
        #expect(twin.fill == TwinFill(recording: 1, rows: 90))
        #expect((twin.recording, twin.other, twin.shared, twin.differing) == (2, 1, 240, 0))
        #expect(report.differing == 0 && !report.isNothingNew)
        let files = fixture.files
        #expect(try files.rows("here", TwinFixture.own) == files.rows("whole", TwinFixture.own))
        #expect(try files.rows("here", TwinFixture.gaps) == ["[200, 0, 100, 90]"])
        #expect(try files.rows("here", TwinFixture.lateBlocks) == ["[200, 249]", "[260, 299]"])
        let audit = try files.audit("here")
        #expect(audit.holds, "\(audit.findings)")
        // Neither its times nor what the other one has are another.
        #expect(
            try files.rows("here", "SELECT first_n, last_n, epoch FROM segment WHERE stream_id = 1") == [
                "[0, 239, 0]", "[240, 399, 0]",
            ])
        for query in ["SELECT n, c1, c2, c3, c4 FROM sample", "SELECT first_n, channel, count, recovered FROM gap"] {
            let own = try files.rows("other", query + " WHERE stream_id = 1 ORDER BY 1")
            #expect(try files.rows("here", query + " WHERE stream_id = 2 ORDER BY 1") == own)
        }
        let before = try files.everything("here")
        let again = try fixture.merge()
        #expect(again.report.isNothingNew && again.twin?.fill == nil && again.twin?.shared == 330)
        #expect(try files.everything("here") == before)
    }

    @Test func itIsSaidWhereItCameFrom() throws {
        let fixture = try TwinFixture.withGaps()
        let files = fixture.files
        try fixture.merge()
        func word(_ sql: String) throws -> String {
            let row = try #require(try files.rows("other", sql).first)
            return String(row.dropFirst(2).dropLast(2))
        }
        let (recording, machine) = (try word("SELECT uuid FROM recording"), try word("SELECT uuid FROM machine"))
        let words =
            "eegsync: 90 samples of eeg, n 200 to 299, came from recording \(recording) of machine \(machine) "
            + "(late blocks 0 to 1)"
        #expect(
            try files.rows("here", "SELECT recording_id, source, stream_id, n, duration_seconds, description FROM annotation")
                == [#"[1, "eegsync", 1, 200, NULL, "\#(words)"]"#])
        // It is where the samples are: 200 / 256 s after the first one.
        #expect(
            try files.rows("here", "SELECT onset, view_name, n FROM annotation_time") == [
                #"["2026-03-01T10:00:00.781Z", "eeg_1", 200]"#
            ])
    }

    @Test func aRehearsalSaysTheSameAndFillsNothing() throws {
        let fixture = try TwinFixture.withGaps()
        let before = try fixture.files.everything("here")
        let rehearsed = try fixture.files.merge("other", into: "here", isRehearsal: true)
        #expect(rehearsed.twins.first?.fill?.rows == 90)
        #expect(try fixture.files.everything("here") == before)
        #expect(try fixture.merge().report == rehearsed)
    }

    @Test func eachMachineFillsItsOwnAndTheyAgreeAtTheEnd() throws {
        let fixture = try TwinFixture.withGaps()
        let files = fixture.files
        try fixture.merge()
        let back = try files.merge("here", into: "other", in: Fixture.secondBoot)
        #expect(back.twins.compactMap(\.fill) == [TwinFill(recording: 1, rows: 10, gapsClosed: 1)])
        #expect(
            try files.rows("other", TwinFixture.gaps) == ["[100, 0, 10, 10]", "[200, 0, 10, 0]"])
        #expect(try files.rows("other", "SELECT duration_seconds FROM annotation WHERE recording_id = 1") == ["[0.0390625]"])
        // What was filled there comes in with its recording.
        let third = try files.merge("other", into: "here")
        #expect(third.recordings.map { $0.streams.map(\.taken) } == [[10], [0]])
        #expect(third.recordings.map(\.annotations) == [1, 0] && third.twins.allSatisfy { $0.fill == nil })
        for name in ["here", "other"] {
            let audit = try files.audit(name)
            #expect(audit.holds, "\(audit.findings)")
        }
        #expect(try files.merge("other", into: "here").isNothingNew)
        #expect(try files.merge("here", into: "other", in: Fixture.secondBoot).isNothingNew)
    }

    @Test func channelsAreFilledAndWhatTheTwinLacksIsLedgered() throws {
        let fixture = try TwinFixture()
        try fixture.record("here", [0..<200, 300..<400], lacking: 110..<120)
        try fixture.record("other", [50..<400], firstIndex: 50, lacking: 115..<130)
        let channel = try fixture.merge()
        #expect(channel.twin?.fill == TwinFill(recording: 1, rows: 100, values: 5, gapsClosed: 1))
        #expect(try fixture.files.rows("here", TwinFixture.gaps) == ["[110, 2, 10, 5]", "[200, 0, 100, 100]"])
        #expect(try fixture.files.audit("here").holds)
        #expect(try fixture.merge().report.isNothingNew)

        let rows = try TwinFixture()
        try rows.record("here", [0..<200, 300..<400])
        try rows.record("other", [50..<400], firstIndex: 50, lacking: 215..<230)
        #expect(try rows.merge().twin?.fill == TwinFill(recording: 1, rows: 100, gapsClosed: 1))
        #expect(try rows.files.rows("here", TwinFixture.gaps) == ["[200, 0, 100, 100]", "[215, 2, 15, 0]"])
        let audit = try rows.files.audit("here")
        #expect(audit.holds, "\(audit.findings)")
        #expect(try rows.merge().report.isNothingNew)
    }

    /// A headset has one link at a time: the two machines may have no sample in common.
    @Test func machinesThatTookTurnsNeedNoSampleInCommon() throws {
        let fixture = try TwinFixture()
        try fixture.record("here", [0..<200, 300..<400])
        try fixture.record("other", [200..<300], firstIndex: 200)
        let (_, twin) = try fixture.merge()
        #expect(twin?.shared == 0 && twin?.fill == TwinFill(recording: 1, rows: 100, gapsClosed: 1))
        #expect(try fixture.files.audit("here").holds)
    }

    @Test func onlyWhatASegmentOfTheEpochGivesATimeComesIn() throws {
        let fixture = try TwinFixture()
        // The headset restarted within the gap.
        try fixture.record(
            "here", [0..<200, 300..<400], epochs: [(0, 7), (300, 8)], segments: [(0...249, 0), (300...399, 1)])
        try fixture.record("other", [0..<400])
        #expect(try fixture.merge().twin?.fill == TwinFill(recording: 1, rows: 50))
        #expect(try fixture.files.rows("here", TwinFixture.gaps) == ["[200, 0, 100, 50]"])
        #expect(try fixture.files.rows("here", TwinFixture.lateBlocks) == ["[200, 249]"])
        #expect(try fixture.files.audit("here").holds)
    }

    // MARK: What fills nothing

    @Test func oneValueThatDiffersFillsNothing() throws {
        let fixture = try TwinFixture.withGaps(change: [310: -1])
        let (report, twin) = try fixture.merge()
        #expect(twin?.differing == 1 && twin?.fill == nil && report.differing == 1)
        try Self.nothingWasFilled(in: fixture)
    }

    @Test func anotherBootOfTheHeadsetFillsNothing() throws {
        let fixture = try TwinFixture.withGaps(otherBoot: 8)
        #expect(try fixture.merge().twin == nil)
        try Self.nothingWasFilled(in: fixture)
    }

    @Test func aBootThatTwoEpochsNameFillsNothing() throws {
        let fixture = try TwinFixture.withGaps(in: [(0, 7), (350, 7)])
        let (_, twin) = try fixture.merge()
        #expect(twin?.shared == 240 && twin?.differing == 0 && twin?.fill == nil)
        try Self.nothingWasFilled(in: fixture)
    }

    @Test func aCounterThatHasWrappedFillsNothing() throws {
        let fixture = try TwinFixture()
        try fixture.record("here", [65_200..<65_400, 65_500..<65_700], firstIndex: 65_200)
        try fixture.record("other", [65_300..<65_500], firstIndex: 65_300)
        #expect(try fixture.merge().twin == nil)
        try Self.nothingWasFilled(in: fixture)
    }

    @Test func aRecordingThatGoesOnIsNotFilled() throws {
        let fixture = try TwinFixture.withGaps(isWanted: true)
        let (_, twin) = try fixture.merge()
        #expect(twin?.shared == 240 && twin?.fill == nil)
        try Self.nothingWasFilled(in: fixture)
    }

    @Test func whatCameFromElsewhereStaysAsItIsThere() throws {
        let fixture = try TwinFixture.withGaps()
        let files = fixture.files
        try AcquisitionStore(path: files.path("study"), hostBoot: Fixture.boot).close()
        try files.merge("here", into: "study")
        let report = try files.merge("other", into: "study")
        #expect(report.twins.first?.shared == 240 && report.twins.allSatisfy { $0.fill == nil })
        #expect(try files.rows("study", TwinFixture.own) == files.rows("here", TwinFixture.own))
        #expect(try files.rows("study", "SELECT sum(recovered) FROM gap") == ["[0]"])
    }

    /// What is here was changed by another program: the other recording comes in, and none of its rows into this one.
    @Test func aRecordingWhoseAuditFailsIsNotFilled() throws {
        let fixture = try TwinFixture.withGaps()
        try fixture.files.write("UPDATE sample SET c1 = 5 WHERE stream_id = 1 AND n = 10", to: "here")
        let (report, twin) = try fixture.merge()
        #expect(report.recordings.map(\.outcome) == [.taken])
        #expect(twin?.fill?.isNothing == true && twin?.fill?.contradiction?.isEmpty == false)
        try Self.nothingWasFilled(in: fixture)
        #expect(try fixture.merge().report.isNothingNew)
    }
}
