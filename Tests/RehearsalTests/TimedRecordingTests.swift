import Headsets
import Storage
import Testing

@testable import Rehearsal

@Suite("Recordings that begin and end by themselves, in rehearsals")
struct TimedRecordingTests {
    /// One recording that ends by itself after 15 s, and one of a schedule; nothing else goes wrong.
    static func plan(seed: UInt64) -> RehearsalPlan {
        var plan = RehearsalPlan(seed: seed)
        plan.faultyPeriod = .seconds(100)
        plan.calmPeriod = .seconds(15)
        plan.timedRecording = RehearsalPlan.TimedRecording(saidAt: .seconds(5), endsAfter: .seconds(15), scheduledSeconds: 20)
        return plan
    }

    @Test("A recording ends when it was asked to, the schedule begins the next with the full minute, and that ends, too")
    func undisturbed() throws {
        let rehearsal = try Rehearsal(Self.plan(seed: 1))
        #expect(try rehearsal.run().violations == [])
        #expect(try rehearsal.store.openRecordings().map(\.recording.rawValue) == [3])
        let lengths = try (Int64(1)...2).map { recording in
            let stream = try rehearsal.store.reader(of: RecordingID(rawValue: recording)).contents.streams[0]
            return Double(stream.lastN ?? 0) / stream.description.samplingFrequency
        }
        // The first one is looked for by a scan.
        #expect((15.0...20.5).contains(lengths[0]) && (18.0...20.5).contains(lengths[1]), "\(lengths)")
    }

    @Test("Some seeds draw them, beside faults of every kind")
    func drawn() throws {
        let drawn = (UInt64(1)...60).filter { RehearsalPlan.seeded($0).timedRecording != nil }
        #expect((8...30).contains(drawn.count), "\(drawn)")
        for seed in drawn.prefix(3) { #expect(try Rehearsal(.seeded(seed)).run().violations == [], "seed \(seed)") }
    }
}
