import Bluetooth
import Foundation
import Testing

@testable import Storage

/// Annotations that were corrected in two databases.
@Suite struct MergedAnnotationTests {
    private static let present = "SELECT description FROM annotation WHERE withdrawn_boottime_ns IS NULL ORDER BY 1"
    private static let now = Fixture.start + .seconds(20)

    /// Two copies of a database with the marks `begun` (1) and `lamp` (2). In the one the first is corrected to `uno` and the
    /// second is deleted; in the other one they are corrected to `eins` and `drei`; a third one is as it was.
    private static func copies() throws -> MergeFixture {
        let fixture = try MergeFixture("here")
        func change(_ name: String, _ body: (ControlStore) throws -> Void) throws {
            let store = try ControlStore(path: fixture.path(name), hostBoot: Fixture.boot)
            try body(store)
            try store.close()
        }
        try change("here") { store in
            try store.mark(RecordingID(rawValue: 1), text: "lamp", at: Fixture.start + .seconds(1))
            try store.stopRecording(headset: "left", at: Fixture.start + .seconds(10))
        }
        for name in ["other", "plain"] { try copy("here", to: name, in: fixture) }
        try change("here") { store in
            try store.correctAnnotation(1, AnnotationChange(description: "uno"), at: now)
            try store.withdrawAnnotations([2], at: now)
        }
        try change("other") { store in
            let corrected = try store.correctAnnotation(1, AnnotationChange(description: "ein"), at: now)
            try store.correctAnnotation(corrected, AnnotationChange(description: "eins"), at: now)
            try store.correctAnnotation(2, AnnotationChange(description: "drei"), at: now)
        }
        return fixture
    }

    private static func copy(_ name: String, to other: String, in fixture: MergeFixture) throws {
        try FileManager.default.copyItem(atPath: fixture.path(name), toPath: fixture.path(other))
    }

    @Test func ofTwoCorrectionsTheOneHereHolds() throws {
        let fixture = try Self.copies()
        let report = try fixture.merge("other", into: "here")
        #expect(report.recordings.first?.contradictedAnnotations.count == 2)
        #expect(try fixture.rows("here", Self.present) == [#"["uno"]"#])
        #expect(try fixture.rows("here", "SELECT count(*) FROM annotation") == ["[6]"])
        #expect(try fixture.audit("here").holds)
        let again = try fixture.merge("other", into: "here")
        #expect(again.isNothingNew && again.recordings.first?.contradictedAnnotations == [])
        // What was decided here holds there, too.
        let back = try fixture.merge("here", into: "other")
        #expect(back.recordings.first?.contradictedAnnotations == [])
        #expect(try fixture.rows("other", Self.present) == [#"["uno"]"#])
        #expect(try fixture.audit("other").holds)
        for (one, other) in [("here", "other"), ("other", "here")] {
            #expect(try fixture.merge(one, into: other).isNothingNew)
        }
    }

    @Test func twoThatWereMergedIntoEachOtherKeepWhatEachSays() throws {
        let fixture = try Self.copies()
        try Self.copy("here", to: "first", in: fixture)
        try fixture.merge("other", into: "here")
        try fixture.merge("first", into: "other")
        #expect(try fixture.rows("other", Self.present) == [#"["drei"]"#, #"["eins"]"#])
        for _ in 0..<2 {
            try fixture.merge("other", into: "here")
            try fixture.merge("here", into: "other")
        }
        #expect(try fixture.rows("here", Self.present) == [#"["uno"]"#])
        // The deletion is known now, as each is.
        #expect(try fixture.rows("other", Self.present) == [#"["eins"]"#])
    }

    @Test func aCorrectionOfWhatHoldsHereHolds() throws {
        let fixture = try Self.copies()
        let report = try fixture.merge("other", into: "plain")
        #expect(report.recordings.first?.contradictedAnnotations == [])
        #expect(try fixture.rows("plain", Self.present) == [#"["drei"]"#, #"["eins"]"#])
    }
}
