import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Rehearsal

/// Impedances of a Ganglion, asked for through the database while it is recorded.
struct ImpedanceTests {
    private let world: SimulatedWorld
    private let store: AcquisitionStore
    private let recording: RecordingID
    private var driver: VirtualDriver
    private let start = MonotonicTime(nanoseconds: 60_000_000_000)

    init() throws {
        world = SimulatedWorld(seed: 3, headsets: [.ganglion()], start: start)
        store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "impedance"))
        recording = try store.control.startRecording(headset: "left", model: "ganglion", at: start)
        driver = try Self.driver(in: world, store)
    }

    private static func driver(in world: SimulatedWorld, _ store: AcquisitionStore) throws -> VirtualDriver {
        try VirtualDriver(
            in: world, store: store, seed: 1, unixNanosecondsAtBoot: 1_700_000_000_000_000_000,
            lookUp: { KnownHeadset(name: $0.headsetName, profile: GanglionProfile()) })
    }

    private func advance(_ seconds: Int) {
        driver.advance(world, to: world.now + .seconds(seconds))
    }

    private func measure(for seconds: Int = 3600) throws -> ImpedanceMeasurementID {
        try store.control.start(
            ImpedanceMeasurementID.self, headset: "left", at: world.now, until: world.now + .seconds(seconds))
    }

    private func finish() throws {
        try store.control.stopRecording(recording, at: world.now)
        #expect(driver.finish(world, within: .seconds(60)))
    }

    /// Missing EEG samples and their causes, in order; those that firmware 3 never sends left out.
    private func gaps() throws -> [(cause: String, count: Int64)] {
        try store.gaps(of: recording).filter { $0.stream == "eeg" && $0.cause != "notSent" }
            .map { (cause: $0.cause, count: $0.count ?? -1) }
    }

    private func annotations() throws -> [String] { try store.reader(of: recording).contents.annotations.map(\.description) }

    @Test("They are stored as they come, and the samples that were not taken meanwhile are no loss of the radio's")
    func measured() throws {
        advance(20)
        let measurement = try measure()
        advance(10)
        #expect(try !store.control.isComplete(measurement))
        try store.control.stop(measurement)
        advance(20)
        #expect(try store.control.isComplete(measurement))
        try finish()
        let (values, position) = try store.control.impedances(of: "left", since: start)
        #expect((18...20).contains(values.count))
        #expect(values.prefix(5).map(\.electrode) == ["Ch1", "Ch2", "Ch3", "Ch4", "reference"])
        #expect(values.prefix(5).map(\.kilohms) == [7, 14, 21, 28, 35])
        #expect(try store.control.impedances(of: "left", since: start, after: position).values.isEmpty)
        #expect(try store.control.impedances(of: "left", since: start + .seconds(3600)).values.isEmpty)
        let gaps = try gaps()
        #expect(gaps.map(\.cause) == ["impedance"])
        #expect((1950...2150).contains(gaps.first?.count ?? 0), "\(gaps)")
        #expect(
            try annotations() == [
                "Impedance measurement begins",
                "Impedance measurement ends: Ch1 7, Ch2 14, Ch3 21, Ch4 28, reference 35 kOhm as sent",
            ])
        #expect(try store.audit(recording: recording).findings.isEmpty)
    }

    @Test("One that is ended at once goes on to its first value: nothing else divides the samples before from those behind")
    func endedAtOnce() throws {
        advance(20)
        let measurement = try measure()
        driver.advance(world, to: world.now + .milliseconds(300))
        try store.control.stop(measurement)
        advance(20)
        #expect(try store.control.isComplete(measurement))
        try finish()
        #expect(try store.control.impedances(of: "left", since: start).values.map(\.electrode) == ["Ch1"])
        let gaps = try gaps()
        #expect(gaps.map(\.cause) == ["impedance"], "\(gaps)")
        // 0.5 s at 200 Hz, and what the commands take.
        #expect((100...140).contains(gaps.first?.count ?? 0), "\(gaps)")
        #expect(try store.audit(recording: recording).findings.isEmpty)
    }

    @Test("One whose values were lost has interrupted the samples as well", arguments: 0..<4)
    func withoutValue(tenths: Int) throws {
        advance(20)
        // At different places of a cycle, also where its last sample, which is never sent, is due.
        driver.advance(world, to: world.now + .milliseconds(tenths * 300))
        let measurement = try measure()
        driver.advance(world, to: world.now + .milliseconds(300))
        // The samples have ended; the first four values do not arrive.
        let begun = try #require(world.headsets.first?.sessions?.sessions.first?.ended)
        world.schedule(ScriptedFault(at: begun + .milliseconds(200), .lostNotification, for: .milliseconds(1900)))
        try store.control.stop(measurement)
        advance(20)
        try finish()
        #expect(try store.control.impedances(of: "left", since: start).values.isEmpty)
        let gaps = try gaps()
        #expect(gaps.map(\.cause) == ["impedance"], "\(gaps)")
        #expect((400...450).contains(gaps.first?.count ?? 0), "\(gaps)")
        #expect(try store.audit(recording: recording).findings.isEmpty)
    }

    @Test("A headset that has not heard the command has lost nothing")
    func unheard() throws {
        advance(20)
        let measurement = try measure(for: 1)
        world.schedule(ScriptedFault(at: world.now, .writeError, for: .seconds(1)))
        advance(20)
        #expect(try store.control.isComplete(measurement))
        try finish()
        #expect(try store.control.impedances(of: "left", since: start).values.isEmpty)
        #expect(try gaps().isEmpty)
        #expect(world.headsets.first?.sessions?.sessions.count == 1)
        #expect(try store.audit(recording: recording).findings.isEmpty)
    }

    @Test("Samples that arrive late are those before the measurement, or those behind it", arguments: [30, 300, 900])
    func late(milliseconds: Int64) throws {
        var plan = RehearsalPlan(
            seed: 6, headsets: [RehearsedHeadset(name: "left", specification: .ganglion(), profile: GanglionProfile())])
        plan.lateness = LatenessModel(tailProbability: 1, tail: .milliseconds(milliseconds))
        plan.impedanceMeasurements = (1...10).map { number in
            RehearsalPlan.OperatorMeasurement(
                headset: 0, at: .milliseconds(10_000 * number + 37 * number), duration: .milliseconds(60 * number))
        }
        let rehearsal = try Rehearsal(plan)
        #expect(try rehearsal.run().violations == [])
        let gaps = try rehearsal.store.gaps(of: RecordingID(rawValue: 1)).filter { $0.stream == "eeg" }
        #expect(gaps.count { $0.cause == "impedance" } == 10)
        #expect(!gaps.contains { $0.cause == "packetLost" }, "\(gaps)")
    }

    @Test("A command that was killed leaves no headset measuring: its wish ends by itself")
    func leaseEnds() throws {
        advance(20)
        let measurement = try measure(for: 5)
        advance(20)
        #expect(try store.control.isComplete(measurement))
        #expect((950...1150).contains(try gaps().first?.count ?? 0))
        let sessions = try #require(world.headsets.first?.sessions?.sessions)
        #expect(sessions.count == 2 && sessions.last?.ended == nil)
    }

    @Test("A link that breaks meanwhile ends with its own cause, and the measurement goes on on the next one")
    func linkLost() throws {
        advance(20)
        let measurement = try measure()
        advance(5)
        world.schedule(ScriptedFault(at: world.now, .outOfRange, for: .seconds(15)))
        advance(40)
        let before = try store.control.impedances(of: "left", since: start).values.count
        advance(5)
        #expect(try store.control.impedances(of: "left", since: start).values.count > before + 5)
        try store.control.stop(measurement)
        advance(20)
        try finish()
        let causes = try gaps().map(\.cause)
        #expect(causes == ["impedance", "linkLost", "impedance"], "\(causes)")
        #expect(try annotations().count == 4)
        #expect(try store.audit(recording: recording).findings.isEmpty)
    }

    @Test("The next process goes on with what is still wanted, and ends what is not", arguments: [true, false])
    mutating func processKilled(isStillWanted: Bool) throws {
        advance(20)
        let measurement = try measure()
        advance(5)
        world.kill()
        if !isStillWanted { try store.control.stop(measurement) }
        driver = try Self.driver(in: world, store)
        advance(20)
        let before = try store.control.impedances(of: "left", since: start).values.count
        advance(5)
        let isMeasuring = try store.control.impedances(of: "left", since: start).values.count > before
        #expect(isMeasuring == isStillWanted)
        try store.control.stop(measurement)
        advance(10)
        #expect(try store.control.isComplete(measurement))
        try finish()
        #expect(world.headsets.first?.sessions?.sessions.count == (isStillWanted ? 3 : 2))
        let causes = try gaps().map(\.cause)
        #expect(causes == ["impedance", "daemonDown"] + (isStillWanted ? ["impedance"] : []), "\(causes)")
        #expect(try store.audit(recording: recording).findings.isEmpty)
    }

    @Test("A recording that is stopped meanwhile leaves the headset stopped, and no gap open")
    func recordingStopped() throws {
        advance(20)
        _ = try measure()
        advance(5)
        try finish()
        #expect(try gaps().map(\.cause) == ["impedance"])
        #expect(try gaps().allSatisfy { $0.count > 0 })
        #expect(world.headsets.first?.isStreamingLive == false)
    }
}
