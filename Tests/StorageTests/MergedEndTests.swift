import Bluetooth
import Foundation
import Headsets
import Testing

@testable import Storage

/// A recording of two databases that has ended in one of them.
@Suite struct MergedEndTests {
    private static let recording = RecordingID(rawValue: 1)
    private static let ends = """
        SELECT desired_state, stop_requested_host_boot_id, stop_requested_boottime_ns, stopped_host_boot_id,
            stopped_boottime_ns FROM recording
        """
    private static let gaps = "SELECT first_n, count, cause FROM gap WHERE stream_id = 1 ORDER BY 1"

    /// Ends the recording as the acquisition does.
    private static func end(_ name: String, in fixture: MergeFixture, after seconds: Int64, gap: Change? = nil) throws {
        let store = try AcquisitionStore(path: fixture.path(name), hostBoot: Fixture.boot)
        var batch = WriteBatch(number: 8)
        batch.changes = [gap].compactMap(\.self) + [.recording(.stopped(recording, at: Fixture.start + .seconds(seconds)))]
        try store.commit(batch)
        try store.close()
    }

    private static func stop(_ name: String, in fixture: MergeFixture) throws {
        let store = try ControlStore(path: fixture.path(name), hostBoot: Fixture.boot)
        try store.stopRecording(headset: "left", at: Fixture.start + .seconds(200))
        try store.close()
    }

    private static func lost(from firstN: Int64, _ count: Int64?) -> Change {
        .ledger(
            .open(
                stream: Fixture.eeg, firstN: firstN, channel: 0, count: count, cause: .daemonDown,
                noticed: Fixture.start + .seconds(2), certainty: count == nil ? .unknown : .counted))
    }

    @Test func aRecordingThatEndedElsewhereHasEndedHere() throws {
        let fixture = try MergeFixture("full", "copy")
        try fixture.record("full", [100..<300])
        try Self.end("full", in: fixture, after: 10)
        try Self.stop("copy", in: fixture)
        try fixture.merge("full", into: "copy")
        #expect(try fixture.rows("copy", Self.ends) == fixture.rows("full", Self.ends))
        let store = try AcquisitionStore(path: fixture.path("copy"), hostBoot: Fixture.boot)
        #expect(try store.openRecordings().isEmpty, "nobody ends it once more, and finds samples missing")
        try store.close()
        #expect(try fixture.audit("copy").holds)
        #expect(try fixture.merge("full", into: "copy").isNothingNew)
        let before = try fixture.everything("full")
        #expect(try fixture.merge("copy", into: "full").isNothingNew)
        #expect(try fixture.everything("full") == before)
    }

    @Test func theGapThatWasOpenWhereItEndedIsNone() throws {
        let fixture = try MergeFixture("full", "copy")
        try fixture.record("full", [100..<300])
        try Self.end("full", in: fixture, after: 10)
        try fixture.record("copy", [100..<300], isOpen: true)
        try fixture.merge("full", into: "copy")
        #expect(try fixture.rows("copy", Self.gaps).isEmpty)
        #expect(try fixture.rows("copy", Self.ends) == fixture.rows("full", Self.ends))
        #expect(try fixture.audit("copy").holds)
    }

    @Test func whatWentOnHereHasNotEnded() throws {
        let fixture = try MergeFixture("full", "copy")
        try fixture.record("full", [100..<300])
        try Self.end("full", in: fixture, after: 10)
        try fixture.record("copy", [100..<400])
        try fixture.merge("full", into: "copy")
        #expect(try fixture.rows("copy", "SELECT stopped_boottime_ns FROM recording") == ["[NULL]"])
    }

    @Test func whatIsMissingBehindTheEndIsNotMissingHere() throws {
        let fixture = try MergeFixture("full", "copy")
        try fixture.record("full", [100..<300])
        try Self.end("full", in: fixture, after: 10)
        try fixture.record("copy", [100..<300])
        try Self.end("copy", in: fixture, after: 200, gap: Self.lost(from: 300, 51_200))
        let ends = try fixture.rows("full", Self.ends)
        try fixture.merge("copy", into: "full")
        #expect(try fixture.rows("full", Self.gaps).isEmpty)
        #expect(try fixture.rows("full", Self.ends) == ends)
        #expect(try fixture.audit("full").holds)
        #expect(try fixture.merge("copy", into: "full").isNothingNew)
        // Where it had not ended, it is.
        let other = try MergeFixture("full", "copy")
        try other.record("full", [100..<300])
        try other.record("copy", [100..<300])
        try Self.end("copy", in: other, after: 200, gap: Self.lost(from: 300, 51_200))
        try other.merge("copy", into: "full")
        #expect(try other.rows("full", Self.gaps) == [#"[300, 51200, "daemonDown"]"#])
        #expect(try other.rows("full", Self.ends) == other.rows("copy", Self.ends))
    }
}
