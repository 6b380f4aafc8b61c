import Bluetooth
import Headsets
import Rehearsal
import Storage
import Testing

@testable import Acquisition

/// One headset whose description or data break a rule is let go alone: the others lose nothing.
struct QuarantineTests {
    /// What a headset may say of itself that cannot be computed with.
    enum Claim: String, CaseIterable {
        case rare, fast, nan, endless, hugeScale, noScale, vanishingScale, endlessOffset, hugeOffset

        var stream: StreamDescription {
            var stream = ScriptedCentral.stream
            switch self {
            case .rare: stream.samplingFrequency = 1e-10
            case .fast: stream.samplingFrequency = 1e6
            case .nan: stream.samplingFrequency = .nan
            case .endless: stream.samplingFrequency = .infinity
            case .hugeScale: stream.channels[1].scale = 1e305
            case .noScale: stream.channels[0].scale = 0
            case .vanishingScale: stream.channels[0].scale = .leastNonzeroMagnitude
            case .endlessOffset: stream.channels[1].offset = -.infinity
            case .hugeOffset: stream.channels[0].offset = 1e301
            }
            return stream
        }
    }

    private static func rows(_ test: EngineUnderTest, _ recording: RecordingID) throws -> Int64 {
        try test.store.audit(recording: recording).streams.reduce(0) { $0 + $1.rows }
    }

    private static func openGaps(_ test: EngineUnderTest, _ recording: RecordingID) throws -> [String] {
        try test.store.gaps(of: recording).filter { $0.count == nil }.map(\.cause)
    }

    @Test("A headset that describes nonsense is quarantined, and its neighbour loses nothing", arguments: Claim.allCases)
    func description(_ claim: Claim) throws {
        let test = try EngineUnderTest(hasNeighbour: true)
        test.script.change { $0.stream = claim.stream }
        try test.want()
        let neighbour = try test.want("right")
        try test.reconcile()
        try test.run(.seconds(20))
        #expect(test.phase(of: "left") == .quarantined)
        #expect(test.phase(of: "right") == .streaming)
        #expect(try Self.rows(test, neighbour) > 4500)
        let shown = try #require(try test.store.headsets(at: test.now).first { $0.name == "left" })
        #expect(shown.state == "quarantined" && shown.stateCause == "description")
        #expect(try test.store.audit().holds)
        #expect(test.script.calls.contains(.cancel), "it was let go")
    }

    @Test("Nothing is tried before a person says so; then a headset that has learnt better streams")
    func release() throws {
        let test = try EngineUnderTest()
        test.script.change { $0.stream = Claim.rare.stream }
        try test.want()
        try test.reconcile()
        try test.run(.seconds(5))
        test.script.forgetCalls()
        test.script.change { $0.stream = ScriptedCentral.stream }
        try test.run(.seconds(600))
        #expect(test.script.calls.isEmpty)
        test.reload()
        try test.run(.seconds(7), until: .streaming)
        #expect(test.phase == .streaming)
    }

    @Test("A database with a stream that an earlier version has believed is quarantined, and its neighbour is recorded")
    func storedDescription() throws {
        let test = try EngineUnderTest(hasNeighbour: true)
        let recording = try test.want()
        var old = WriteBatch(number: 1)
        var stream = Claim.rare.stream
        stream.samplingFrequency = 1e-8
        old.changes += [.stream(NewStream(id: StreamID(rawValue: 900), recording: recording, position: 0, description: stream))]
        old.samples = [SampleRows(stream: StreamID(rawValue: 900), channelCount: 2, firstN: 0, values: [1, 2, 3, 4])]
        old.changes += [
            .epoch(
                EpochRecord(
                    stream: StreamID(rawValue: 900), number: 0, bootIdentifier: nil, firstN: 0, firstIndex: 0,
                    began: test.now)),
            .segment(
                SegmentRecord(
                    stream: StreamID(rawValue: 900), firstN: 0, lastN: 1, epoch: 0, referenceN: -1_000_000,
                    referenceTime: test.now, periodNanoseconds: 1e17, residualNanoseconds: nil, observationCount: 1)),
        ]
        try test.store.commit(old)
        let neighbour = try test.want("right")
        try test.reconcile()
        try test.run(.seconds(20))
        #expect(test.phase(of: "left") == .quarantined)
        #expect((test.script.calls + test.neighbour.calls).count { $0 == .connect } == 1, "nothing is connected for it")
        #expect(try Self.rows(test, neighbour) > 4500)
        #expect(try Self.openGaps(test, recording) == ["quarantined"])
        #expect(try test.store.recordings().count == 2)
        // It can be ended all the same.
        try test.store.control.stopRecording(recording, at: test.now)
        try test.reconcile()
        try test.run(.seconds(2))
        try test.reconcile()
        try test.run(.seconds(2))
        #expect(try !test.store.openRecordings().contains { $0.recording == recording })
    }

    @Test("What the database refuses of one headset is left out; the others' part of the batch is stored")
    func refusal() throws {
        let test = try EngineUnderTest(hasNeighbour: true)
        let recording = try test.want()
        let neighbour = try test.want("right")
        try test.reconcile()
        try test.run(.seconds(10))
        let before = try Self.rows(test, recording)
        let acknowledge = HeadsetScript.Call.command(BufferedEEGCommand.acknowledge(stream: 0, upTo: 0).opcode)
        var isSpoiled = false
        test.driver.willCommit = { batch in
            guard let stream = batch.parts.first(where: { $0.recording == recording })?.presentStreams.first,
                !isSpoiled
            else { return }
            for (index, change) in batch.changes.enumerated() {
                guard case .segment(var segment) = change, segment.stream == stream else { continue }
                isSpoiled = true
                segment.periodNanoseconds = -1
                batch.changes[index] = .segment(segment)
            }
            guard isSpoiled else { return }
            test.script.forgetCalls()
        }
        try test.run(.seconds(10))
        #expect(isSpoiled)
        #expect(test.phase(of: "left") == .quarantined)
        #expect(!test.script.calls.contains(acknowledge))
        #expect(try Self.rows(test, recording) == before, "nothing of what was refused")
        #expect(try Self.openGaps(test, recording) == ["quarantined"])
        #expect(test.phase(of: "right") == .streaming)
        let audit = try test.store.audit(recording: neighbour)
        #expect(audit.holds && audit.streams.allSatisfy { $0.missing == 0 && $0.rows > 4500 })
        let shown = try #require(try test.store.headsets(at: test.now).first { $0.name == "left" })
        #expect(shown.stateDetail?.contains("CHECK constraint failed") == true)
        #expect(shown.stateDetail?.contains("INSERT") == false)
        // A person tries it again: it goes on from what the database has.
        test.reload()
        try test.run(.seconds(2))
        try test.reconcile()
        try test.run(.seconds(10))
        #expect(test.phase(of: "left") == .streaming)
        #expect(try Self.openGaps(test, recording).isEmpty)
        #expect(try Self.rows(test, recording) > before)
        #expect(try test.store.audit().holds)
    }

    @Test("What came while the refused batch was being committed is left out, too: the ledger has all that is missing")
    func refusalWithLaterRows() throws {
        var limits = AcquisitionLimits()
        (limits.commitInterval, limits.spoolInterval) = (.seconds(10), .seconds(1))
        let test = try EngineUnderTest(limits: limits)
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(25))
        var isSpoiled = false
        test.driver.willCommit = { batch in
            for (index, change) in batch.changes.enumerated() where !isSpoiled {
                guard case .segment(var segment) = change else { continue }
                isSpoiled = true
                segment.periodNanoseconds = -1
                batch.changes[index] = .segment(segment)
            }
        }
        // Long enough for what comes meanwhile to be gathered.
        test.driver.conduct = { effect, _ in
            switch effect {
            case .commit, .commitByHeadset: VirtualDriver.TaskConduct(duration: .seconds(3))
            default: VirtualDriver.TaskConduct()
            }
        }
        try test.run(.seconds(20))
        #expect(isSpoiled && test.phase == .quarantined)
        #expect(try test.store.audit(recording: recording).holds)
        #expect(try Self.openGaps(test, recording) == ["quarantined"])
        test.reload()
        try test.run(.seconds(2))
        try test.reconcile()
        try test.run(.seconds(30))
        #expect(test.phase == .streaming)
        #expect(try Self.openGaps(test, recording).isEmpty)
        #expect(try test.store.audit().holds)
    }

    @Test("A refusal while a recording ends is no reason to keep it open")
    func refusalAtTheEnd() throws {
        let test = try EngineUnderTest()
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(5))
        var isSpoiled = false
        test.driver.willCommit = { batch in
            let hasStop = batch.changes.contains { if case .recording(.stopped) = $0 { true } else { false } }
            guard hasStop, !isSpoiled else { return }
            isSpoiled = true
            let stream = batch.parts[0].presentStreams[0]
            batch.samples.append(SampleRows(stream: stream, channelCount: 2, firstN: 0, values: [1, 2]))
        }
        try test.store.control.stopRecording(recording, at: test.now)
        for _ in 0..<4 {
            try test.reconcile()
            try test.run(.seconds(2))
        }
        #expect(isSpoiled)
        #expect(try test.store.openRecordings().isEmpty)
        #expect(try test.store.audit().holds)
    }

    @Test("A headset that describes something else with every report is let go after a few streams")
    func changes() throws {
        let test = try EngineUnderTest()
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(5), until: .streaming)
        try test.run(.seconds(1))
        for report in 1...2000 {
            test.script.change { conduct in
                conduct.stream.samplingFrequency = 250 + Double(report)
                conduct.sendsStatus = true
            }
            try test.run(.milliseconds(10))
        }
        #expect(test.phase == .quarantined)
        let streams = try test.store.audit(recording: recording).streams.count
        #expect(streams <= 1 + AcquisitionLimits().changeLimit)
        #expect(try Self.openGaps(test, recording).contains("quarantined"))
    }

    @Test("Changes that take their time are bounded for the whole recording")
    func furtherStreams() throws {
        var limits = AcquisitionLimits()
        limits.furtherStreamLimit = 6
        let test = try EngineUnderTest(limits: limits)
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(5), until: .streaming)
        for report in 1...10 {
            try test.run(.seconds(20))
            test.script.change { conduct in
                conduct.stream.samplingFrequency = 250 + Double(report)
                conduct.sendsStatus = true
            }
        }
        #expect(test.phase == .quarantined)
        #expect(try test.store.audit(recording: recording).streams.count == 7)
        #expect(try test.store.audit().holds)
    }
}
