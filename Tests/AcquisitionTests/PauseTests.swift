import Bluetooth
import Headsets
import Reconnection
import Rehearsal
import Storage
import Testing

@testable import Acquisition

/// A person wants nothing recorded for a while.
struct PauseTests {
    private static func streaming() throws -> (EngineUnderTest, RecordingID) {
        let test = try EngineUnderTest()
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(5), until: .streaming)
        try test.run(.seconds(3))
        return (test, recording)
    }

    /// A person pauses, and changes their mind before the headset was let go.
    private static func pauseAndResume(_ test: EngineUnderTest) throws {
        try test.store.control.pause(at: test.now)
        try test.reconcile()
        try test.store.control.resume(at: test.now)
    }

    private static func rows(_ test: EngineUnderTest) throws -> Int64 {
        try test.store.audit().streams.reduce(0) { $0 + $1.rows }
    }

    @Test("A pause tells the headset to stop and lets it go; the recording stays open, with a gap of the operator's")
    func pause() throws {
        let (test, recording) = try Self.streaming()
        test.script.forgetCalls()
        try test.store.control.pause(at: test.now)
        try test.reconcile()
        try test.run(.seconds(5))
        #expect(test.engine.recordings.isEmpty)
        #expect(test.script.calls.contains(.command(BufferedEEGCommand.stop.opcode)))
        #expect(test.script.calls.contains(.cancel))
        let rows = try Self.rows(test)
        try test.run(.seconds(60))
        #expect(try Self.rows(test) == rows)
        #expect(!test.script.calls.contains(.connect))
        #expect(try test.store.openRecordings().map(\.isWanted) == [true])
        #expect(try test.store.gaps(of: recording).filter { $0.count == nil }.map(\.cause) == ["operator"])
    }

    @Test("It outlives the process, and ends when a person says so, in the same recording")
    func resume() throws {
        let (test, recording) = try Self.streaming()
        try test.store.control.pause(at: test.now)
        try test.reconcile()
        try test.run(.seconds(5))
        let rows = try Self.rows(test)
        // What is read at a start says the same.
        #expect(try test.store.wishes(unlessVersion: nil).contents?.isPaused == true)
        // A recording that is started meanwhile waits, too.
        try test.reconcile()
        try test.run(.seconds(5))
        #expect(test.engine.recordings.isEmpty)
        try test.store.control.resume(at: test.now)
        try test.reconcile()
        try test.run(.seconds(10), until: .streaming)
        try test.run(.seconds(3))
        #expect(test.engine.recordings == [recording])
        #expect(try Self.rows(test) > rows)
        #expect(try test.store.audit(recording: recording).findings.isEmpty)
    }

    @Test("A recording that is stopped during a pause ends")
    func stopDuringPause() throws {
        let (test, recording) = try Self.streaming()
        try test.store.control.pause(at: test.now)
        try test.reconcile()
        try test.run(.seconds(5))
        try test.store.control.stopRecording(recording, at: test.now)
        try test.reconcile()
        try test.run(.seconds(5))
        #expect(try test.store.openRecordings().isEmpty)
        try test.store.control.resume(at: test.now)
        try test.reconcile()
        try test.run(.seconds(5))
        #expect(test.engine.recordings.isEmpty)
    }

    @Test("Wishes that cannot be read are tried again when that is due, whatever waits for them")
    func unreadableWishes() throws {
        let (test, recording) = try Self.streaming()
        // Released, and wanted again: it is let go, and begins with the next wishes.
        try Self.pauseAndResume(test)
        test.driver.handle(.wishesChanged, at: test.now)
        test.readsFail = true
        let before = test.iterationCount
        try test.run(.seconds(30))
        #expect(test.iterationCount - before < 2000)
        test.readsFail = false
        try test.run(.seconds(10), until: .streaming)
        #expect(test.engine.recordings == [recording])
    }

    @Test("Whoever pauses and resumes at once loses no recording")
    func shortPause() throws {
        let (test, recording) = try Self.streaming()
        try Self.pauseAndResume(test)
        try test.reconcile()
        try test.run(.seconds(10), until: .streaming)
        try test.run(.seconds(1))
        #expect(test.engine.recordings == [recording])
        #expect(test.phase == .streaming)
    }
}
