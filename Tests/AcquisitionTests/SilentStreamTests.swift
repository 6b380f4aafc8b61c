import Bluetooth
import Headsets
import Storage
import Testing

@testable import Acquisition

/// A stream whose samples end while those of others flow.
struct SilentStreamTests {
    private static func streaming() throws -> (EngineUnderTest, RecordingID) {
        let test = try EngineUnderTest()
        test.script.change { conduct in
            conduct.motion = ScriptedCentral.stream
            conduct.motion?.name = "motion"
        }
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(5), until: .streaming)
        try test.run(.seconds(10))
        return (test, recording)
    }

    private static func gaps(_ test: EngineUnderTest, _ recording: RecordingID) throws -> [GapSummary] {
        try test.store.gaps(of: recording).filter { $0.stream == "motion" }
    }

    @Test("has an open gap, which begins with its last sample")
    func silent() throws {
        let (test, recording) = try Self.streaming()
        test.script.change { $0.sendsMotion = false }
        try test.run(.seconds(30))
        #expect(test.phase == .streaming)
        let gap = try #require(try Self.gaps(test, recording).first)
        #expect(gap.count == nil && gap.cause == "silence")
        let stream = try #require(try test.store.audit(recording: recording).streams.first { $0.name == "motion" })
        #expect(stream.rows > 2400 && stream.rows < 2600 && gap.firstN == stream.rows)
        #expect(try test.store.audit().holds)
    }

    @Test("goes on where it comes back, and the gap is as long as its silence was")
    func comesBack() throws {
        let (test, recording) = try Self.streaming()
        test.script.change { $0.sendsMotion = false }
        try test.run(.seconds(30))
        test.script.change { $0.sendsMotion = true }
        try test.run(.seconds(10))
        let gaps = try Self.gaps(test, recording)
        #expect(gaps.count == 1 && gaps.first?.cause == "silence")
        let count = try #require(gaps.first?.count)
        #expect(abs(count - 7500) <= 16)
        #expect(try test.store.audit().holds)
    }

    @Test("has a gap as long as the time up to the end of the recording", arguments: [4, 30])
    func end(seconds: Int) throws {
        let (test, recording) = try Self.streaming()
        test.script.change { $0.sendsMotion = false }
        try test.run(.seconds(seconds))
        try test.store.control.stopRecording(recording, at: test.now)
        try test.reconcile()
        try test.run(.seconds(5))
        let gaps = try Self.gaps(test, recording)
        #expect(gaps.map(\.cause) == ["silence"])
        let count = try #require(gaps.first?.count)
        #expect(abs(count - Int64(seconds) * 250) <= 32)
        #expect(try test.store.audit().holds)
    }
}
