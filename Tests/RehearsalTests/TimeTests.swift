import Assembly
import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Rehearsal

/// The times of stored rows against when the simulated headsets took them.
struct TimeTests {
    /// Of every model one for each set of streams that it may have.
    static let headsets = RehearsedHeadset.ofEachShape

    static func plan(
        _ headset: RehearsedHeadset, _ crystal: Crystal, lateness: LatenessModel = LatenessModel(), minutes: Int64 = 4
    ) -> RehearsalPlan {
        var plan = RehearsalPlan(seed: 11, headsets: [headset])
        plan.headsets[0].specification.crystal = crystal
        plan.lateness = lateness
        plan.faultyPeriod = .seconds(60 * minutes - 30)
        plan.calmPeriod = .seconds(30)
        return plan
    }

    static func report(_ rehearsal: Rehearsal, _ name: String) throws -> RehearsalReport {
        let report = try rehearsal.run()
        for times in report.times {
            print(
                "\(name) \(times.stream).\(times.bank): delay \(times.delay), rows \(times.settledRows)/\(times.rows), "
                    + "SD \(times.deviation), worst \(times.worst), first minute \(times.unsettledWorst)")
        }
        return report
    }

    @Test("Where nothing is late, each row has its time", arguments: headsets.indices)
    func plain(_ index: Int) throws {
        let headset = Self.headsets[index]
        let report = try Self.report(Rehearsal(Self.plan(headset, Crystal(errorPPM: 35))), "plain \(headset.name)")
        #expect(report.violations == [])
        #expect(!report.times.isEmpty)
    }

    static let worlds: [(name: String, crystal: Crystal, lateness: LatenessModel)] = [
        ("slow", Crystal(errorPPM: -20_000), LatenessModel()), ("fast", Crystal(errorPPM: 5000), LatenessModel()),
        ("wandering", Crystal(errorPPM: 20, wanderPPM: 40), .busy),
        ("batches", Crystal(errorPPM: -5000, wanderPPM: 40), .batches),
    ]

    @Test(
        "Whatever the crystal and the machine, each row has its time; refitted, in half of the worlds, it is no worse",
        arguments: headsets.indices, worlds.indices)
    func hard(_ index: Int, _ world: Int) throws {
        let headset = Self.headsets[index]
        let (name, crystal, lateness) = Self.worlds[world]
        let rehearsal = try Rehearsal(Self.plan(headset, crystal, lateness: lateness))
        let report = try Self.report(rehearsal, "\(name) \(headset.name)")
        #expect(report.violations == [], "\(name) \(headset.name)")
        if (index + world).isMultiple(of: 2) {
            try Self.expectRefitIsNoWorse(than: report, of: rehearsal, errorPPM: crystal.errorPPM)
        }
    }

    @Test(
        "A hundredth of the notifications of a headset without counter is lost: the ledger and the times tell", arguments: 1...3
    )
    func uncountedLosses(seed: UInt64) throws {
        let headset = RehearsedHeadset(name: "mindwave", specification: .mindWave(), profile: MindWaveProfile())
        var plan = Self.plan(headset, Crystal(errorPPM: 35), minutes: 10)
        plan.seed = seed
        plan.faults.lostNotification = 0.01
        let report = try Self.report(Rehearsal(plan), "losses \(seed)")
        #expect(report.violations == [])
        #expect(report.injected[.lostNotification] > 100)
    }
}

/// Times of rehearsed recordings that are computed anew.
extension TimeTests {
    /// Computes the times of what `rehearsal` has recorded anew, and compares them with those of its report.
    static func expectRefitIsNoWorse(than before: RehearsalReport, of rehearsal: Rehearsal, errorPPM: Double) throws {
        let recording = RecordingID(rawValue: 1)
        let store = rehearsal.store
        var replacements: [SegmentReplacement] = []
        rehearsal.checker.segments = [:]
        for stream in try store.streams(of: recording) {
            let evidence = try store.evidence(of: stream)
            let refit = Refit(evidence)
            let fast = refit.rate.map { $0.fast * 1e6 } ?? .infinity
            // Of one sample a second there are 240, each with a second in which it may have come.
            let tolerance = evidence.samplingFrequency < 10 ? 500.0 : 60
            #expect(abs(fast - errorPPM) < tolerance, "\(evidence.name): \(fast) ppm")
            replacements.append(
                SegmentReplacement(
                    stream: stream, before: evidence.segments, after: refit.segments, evidenceCount: refit.evidenceCount,
                    shiftMaximum: refit.shiftMaximum, shiftMean: refit.shiftMean))
            for segment in refit.segments.map(\.record) {
                rehearsal.checker.segments[stream, default: [:]][segment.firstN] = segment
            }
        }
        try store.control.replaceSegments(of: recording, with: replacements, version: "1", at: .boot)
        #expect(try store.audit(recording: recording).holds)
        var after = RehearsalReport(seed: 11)
        try rehearsal.checker.checkTimes(
            of: recording, rehearsal.world.headsets[0], try store.reader(of: recording), &after)
        #expect(after.violations == [])
        #expect(after.times.count == before.times.count && !after.times.isEmpty)
        let slow = Set(
            try store.streams(of: recording).map { try store.evidence(of: $0) }.filter { $0.samplingFrequency < 10 }
                .map(\.name))
        for (old, new) in zip(before.times, after.times) {
            let tolerance: Duration = slow.contains(new.stream) ? .milliseconds(10) : .microseconds(300)
            #expect(new.deviation <= old.deviation + tolerance, "\(rehearsal.plan.headsets[0].name) \(new.stream)")
        }
    }
}
