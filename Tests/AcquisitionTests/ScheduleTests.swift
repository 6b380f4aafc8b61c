import Bluetooth
import Foundation
import Storage
import Testing

@testable import Acquisition

/// Recordings that begin and end by themselves, over restarts, reboots and clocks that are set.
struct ScheduleTests {
    /// A machine with a database: its clocks, and a process that dies and comes back.
    private final class Machine {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)")
        private var boot = 1
        private(set) var store: AcquisitionStore
        private var engine: AcquisitionEngine
        private(set) var now = MonotonicTime.boot + .seconds(3600)
        /// UTC in seconds since 1970, as the wall clock shows it.
        var wall: Int64
        var isSynchronised = true
        /// While true nothing can be written.
        var isDiskFull = false
        /// Decisions that were written.
        private(set) var decisions: [TimedDecision] = []

        init(at text: String) throws {
            wall = try CivilTimeTests.unix(text)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            store = try AcquisitionStore(
                path: directory.appendingPathComponent("eegsync.sqlite").path, hostBoot: HostBoot(uuid: "boot 1"))
            engine = Self.makeEngine()
            try tick()
        }

        deinit { try? FileManager.default.removeItem(at: directory) }

        private static func makeEngine() -> AcquisitionEngine {
            var limits = AcquisitionLimits()
            limits.wishesInterval = nil
            let engine = AcquisitionEngine(nextStreamID: 1, limits: limits, seed: 1, lookUp: { _ in nil })
            engine.utcOffset = CivilTimeTests.utcOffset
            return engine
        }

        private var reading: ClockOffsetRecord {
            ClockOffsetRecord(
                at: now, offsetNanoseconds: wall * 1_000_000_000 - now.nanoseconds, stepNanoseconds: 0,
                isSynchronised: isSynchronised)
        }

        /// The process reads the wall clock, and what is due is done.
        func tick() throws {
            // As a batch of the engine would note it.
            try store.control.noteClockOffset(reading)
            perform(engine.handle(.wishesChanged, at: now))
            perform(engine.handle(.central([]), at: now))
            perform(engine.handle(.clock(reading), at: now))
        }

        private func perform(_ effects: [EngineEffect]) {
            for effect in effects {
                switch effect {
                case .readWishes:
                    perform(
                        engine.handle(
                            .wishes(Result { () throws(StorageError) in try store.wishes(unlessVersion: nil) }), at: now))
                case .decide(let decision):
                    guard !isDiskFull else {
                        perform(engine.handle(.decided(decision, .failure(.diskFull(detail: "test"))), at: now))
                        continue
                    }
                    perform(
                        engine.handle(
                            .decided(
                                decision, Result { () throws(StorageError) in try store.control.follow(decision, at: now) }),
                            at: now))
                    decisions.append(decision)
                default: break
                }
            }
        }

        /// Both clocks go on; the process looks each quarter of an hour, and at the end.
        func run(hours: Double) throws {
            var rest = Int64(hours * 3600)
            while rest > 0 {
                let step = min(900, rest)
                rest -= step
                now = now + .seconds(step)
                wall += step
                try tick()
            }
        }

        /// No process runs for so long.
        func beDead(hours: Int64) {
            now = now + .seconds(hours * 3600)
            wall += hours * 3600
        }

        func killAndStart() throws {
            engine = Self.makeEngine()
            try tick()
        }

        /// The machine reboots, which takes no time.
        func reboot() throws {
            try store.close()
            boot += 1
            now = .boot + .seconds(1)
            store = try AcquisitionStore(
                path: directory.appendingPathComponent("eegsync.sqlite").path, hostBoot: HostBoot(uuid: "boot \(boot)"))
            try killAndStart()
        }

        func schedule(_ minute: Int, hours: Int64, days: Int = DailyTime.everyDay, zone: String = "Europe/Berlin") throws {
            _ = try store.control.addSchedule(
                headset: "left", model: "muse", at: DailyTime(minuteOfDay: minute, days: days, timeZone: zone),
                durationSeconds: hours * 3600, now: wall)
            try tick()
        }

        /// Wanted recordings.
        var open: [Int64] {
            get throws { try store.openRecordings().filter(\.isWanted).map(\.recording.rawValue) }
        }

        /// All recordings, wanted or not.
        var count: Int { get throws { try store.openRecordings().count } }

        var decision: RecordingSchedule.Decision? { get throws { try store.schedules().first?.starts.first?.decision } }
    }

    // 22:00 in Berlin is 21:00 UTC in winter.
    private static let late = 22 * 60

    @Test("A recording begins at its time and ends after its length, each day anew")
    func daily() throws {
        let machine = try Machine(at: "2026-01-10T20:00:00Z")
        try machine.schedule(Self.late, hours: 8)
        #expect(try machine.open.isEmpty)
        try machine.run(hours: 0.75)
        #expect(try machine.open.isEmpty)
        try machine.run(hours: 0.25)
        #expect(try machine.open == [1])
        try machine.run(hours: 7.75)
        #expect(try machine.open == [1])
        try machine.run(hours: 0.25)
        #expect(try machine.open.isEmpty)
        try machine.run(hours: 16)
        #expect(try machine.open == [2])
        #expect(try machine.decision == .started)
    }

    @Test("Only on its days")
    func weekdays() throws {
        // 9 January 2026 is a Friday.
        let machine = try Machine(at: "2026-01-09T20:00:00Z")
        try machine.schedule(Self.late, hours: 1, days: 0b001_1111)
        try machine.run(hours: 24 * 7)
        // Friday, and Monday to Thursday.
        #expect(try machine.count == 5)
    }

    @Test("In the night of a change the length is elapsed time")
    func change() throws {
        let machine = try Machine(at: "2026-03-28T20:00:00Z")
        try machine.schedule(Self.late, hours: 8)
        try machine.run(hours: 1)
        #expect(try machine.open == [1])
        try machine.run(hours: 7.75)
        #expect(try machine.open == [1])
        try machine.run(hours: 0.25)
        #expect(try machine.open.isEmpty)
        // 22:00 of the next day is 20:00 UTC.
        try machine.run(hours: 14.75)
        #expect(try machine.open.isEmpty)
        try machine.run(hours: 0.25)
        #expect(try machine.open == [2])
    }

    @Test("Who was off begins late and ends in time; where all has passed, it was missed")
    func missed() throws {
        let machine = try Machine(at: "2026-01-10T20:00:00Z")
        try machine.schedule(Self.late, hours: 8)
        machine.beDead(hours: 3)
        try machine.killAndStart()
        #expect(try machine.open == [1])
        // Six of eight hours are left.
        try machine.run(hours: 5.75)
        #expect(try machine.open == [1])
        try machine.run(hours: 0.25)
        #expect(try machine.open.isEmpty)
        machine.beDead(hours: 24)
        try machine.killAndStart()
        #expect(try machine.open.isEmpty)
        #expect(try machine.decision == .missed)
        try machine.run(hours: 24)
        #expect(try machine.count == 2)
    }

    @Test("What a person wants goes first")
    func operatorsWill() throws {
        let machine = try Machine(at: "2026-01-10T20:00:00Z")
        try machine.schedule(Self.late, hours: 8)
        try machine.store.control.startRecording(headset: "left", model: "muse", at: machine.now)
        // It goes on: the start is left out, and nothing ends it.
        try machine.run(hours: 12)
        #expect(try machine.open == [1])
        #expect(try machine.decision == .wasRecording)
        try machine.store.control.stopRecording(headset: "left", at: machine.now)
        try machine.run(hours: 13)
        #expect(try machine.open == [2])
        // Stopped by hand it stays stopped, whatever restarts, until the next start.
        try machine.store.control.stopRecording(headset: "left", at: machine.now)
        try machine.run(hours: 1)
        try machine.killAndStart()
        try machine.reboot()
        try machine.run(hours: 21)
        #expect(try machine.open.isEmpty)
        try machine.run(hours: 2)
        #expect(try machine.open == [3])
        // A removed schedule lets its recording end.
        try machine.store.control.removeSchedule(ScheduleID(rawValue: 1))
        try machine.run(hours: 8)
        #expect(try machine.open.isEmpty)
        try machine.run(hours: 48)
        #expect(try machine.count == 3)
    }

    @Test("A recording of a whole day is followed by the next at once")
    func wholeDays() throws {
        let machine = try Machine(at: "2026-01-10T20:00:00Z")
        try machine.schedule(Self.late, hours: 24)
        try machine.run(hours: 1 + 24 * 3)
        #expect(try machine.open == [4])
        #expect(try machine.count == 4)
    }

    @Test("A clock that is set, in either direction and by years, begins nothing twice and misses nothing for ever")
    func steps() throws {
        let machine = try Machine(at: "2026-01-10T20:30:00Z")
        try machine.schedule(Self.late, hours: 8)
        try machine.run(hours: 1)
        #expect(try machine.open == [1])
        try machine.store.control.stopRecording(headset: "left", at: machine.now)
        // Two hours back: 22:00 comes again.
        machine.wall -= 2 * 3600
        try machine.run(hours: 4)
        #expect(try machine.count == 1)
        // Seventy years ahead, in the middle of a recording's time, and back again.
        let right = machine.wall
        machine.wall = try CivilTimeTests.unix("2096-06-01T23:00:00Z")
        try machine.tick()
        #expect(try machine.open == [2])
        try machine.store.control.stopRecording(headset: "left", at: machine.now)
        machine.wall = right
        // What a person has stopped of this night stays stopped.
        try machine.run(hours: 1)
        #expect(try machine.open.isEmpty)
        try machine.run(hours: 23)
        #expect(try machine.open == [3])
        // To 1970: nothing begins, and the recording ends by the clock that nobody sets.
        machine.wall = 3600
        try machine.run(hours: 8)
        #expect(try machine.open.isEmpty)
        #expect(try machine.count == 3)
    }

    @Test("A machine without a clock of its own waits for synchronisation, but not for ever")
    func unsynchronised() throws {
        let machine = try Machine(at: "2026-01-10T20:00:00Z")
        try machine.schedule(Self.late, hours: 8)
        machine.isSynchronised = false
        machine.wall += 2 * 3600
        try machine.reboot()
        #expect(try machine.open.isEmpty)
        machine.isSynchronised = true
        try machine.tick()
        #expect(try machine.open == [1])
        // Its end, too, waits after a reboot.
        machine.isSynchronised = false
        machine.wall += 9 * 3600
        try machine.reboot()
        #expect(try machine.open == [1])
        try machine.run(hours: 0.25)
        #expect(try machine.open.isEmpty)
    }

    @Test("The end of a recording outlives kill -9 and a reboot; within a boot nobody can set it")
    func end() throws {
        let machine = try Machine(at: "2026-01-10T20:00:00Z")
        try machine.store.control.startRecording(
            headset: "left", model: "muse", until: machine.now + .seconds(8 * 3600), at: machine.now)
        try machine.tick()
        machine.wall += 365 * 86_400
        try machine.run(hours: 4)
        #expect(try machine.open == [1])
        machine.wall -= 365 * 86_400
        try machine.killAndStart()
        #expect(try machine.open == [1])
        try machine.reboot()
        try machine.run(hours: 3.75)
        #expect(try machine.open == [1])
        try machine.run(hours: 0.25)
        #expect(try machine.open.isEmpty)
    }

    @Test("What could not be written is decided again, and what was written twice happened once")
    func refused() throws {
        let machine = try Machine(at: "2026-01-10T20:55:00Z")
        try machine.schedule(Self.late, hours: 8)
        machine.isDiskFull = true
        try machine.run(hours: 1)
        #expect(try machine.open.isEmpty)
        machine.isDiskFull = false
        try machine.tick()
        #expect(try machine.open == [1])
        #expect(machine.decisions.count == 1)
        try machine.store.control.stopRecording(headset: "left", at: machine.now)
        for decision in machine.decisions { try machine.store.control.follow(decision, at: machine.now) }
        try machine.store.control.follow(.end(RecordingID(rawValue: 1)), at: machine.now)
        #expect(try machine.open.isEmpty)
        #expect(try machine.count == 1)
    }
}
