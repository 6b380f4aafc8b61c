import Bluetooth
import Foundation
import GRDB
import Headsets
import Testing

@testable import Alerts
@testable import Storage
@testable import eegsync

/// How things stand, read from a real database and a directory that stands for the machine's files.
@Suite struct AlertFactsTests {
    private func reader(_ database: RecordedDatabase) throws -> AlertFactsReader {
        AlertFactsReader(
            databasePath: database.path, configured: ["left"], files: SystemFiles(root: database.directory.path),
            hostBoot: try HostBoot.current())
    }

    private func facts(_ database: RecordedDatabase, at now: AlertInstant) throws -> AlertFacts {
        var reader = try reader(database)
        return reader.facts(at: now)
    }

    private func later(_ duration: Duration) -> AlertInstant {
        let now = AlertInstant.now
        return AlertInstant(time: now.time + duration, unixNanoseconds: now.unixNanoseconds + duration.nanoseconds)
    }

    @Test func silenceIsJudgedByWhatIsCommitted() throws {
        let database = try RecordedDatabase()
        try database.record()
        let headset = try #require(try facts(database, at: later(.seconds(300))).headsets?.first)
        #expect(headset.name == "left" && headset.situation == "waits for eegsync run, which does not run")
        let silence = try #require(headset.silence)
        #expect(silence >= .seconds(300) && silence < .seconds(330))
        #expect(headset.batteryPercent == 81)
        #expect(headset.badContacts == nil, "nothing flows")
        // A commit with newer samples ends it.
        let store = try database.acquisitionStore()
        var batch = WriteBatch(number: 9)
        batch.samples = [
            SampleRows(
                stream: StreamID(rawValue: 1), channelCount: 4, firstN: 2500, values: [Int32](repeating: 7, count: 4 * 75_000))
        ]
        try store.commit(batch)
        #expect(try facts(database, at: later(.seconds(300))).headsets?.first?.silence.map { $0 < .seconds(30) } == true)
    }

    /// What a rule of ten seconds says while transactions come each ten seconds, after a minute without any.
    private func noticesOfTransactionsEachTenSeconds(judgedBy interval: Duration) throws -> [Notice.Event] {
        let database = try RecordedDatabase()
        try database.record()
        var reader = AlertFactsReader(
            databasePath: database.path, configured: nil, commitInterval: interval, hostBoot: try HostBoot.current())
        // All instants are counted from one, however long the test takes.
        let began = AlertInstant.now
        func after(_ duration: Duration) -> AlertInstant {
            AlertInstant(time: began.time + duration, unixNanoseconds: began.unixNanoseconds + duration.nanoseconds)
        }
        let newest = try #require(reader.facts(at: after(.seconds(60))).headsets?.first?.silence) - .seconds(60)
        let rule = AlertRule(
            name: "no_samples", condition: .noSamples, holding: .seconds(10), clearing: .seconds(60), severity: .critical)
        var engine = AlertEngine(
            rules: [rule], machine: "pi", repeating: nil, state: AlertState(origin: "origin", boot: "boot", at: began))
        var events: [Notice.Event] = []
        for second in stride(from: 0, to: 300, by: 2) {
            // How old the newest committed sample is; the instant of the facts is nothing but that.
            let age = second < 60 ? second : second % 10
            let facts = reader.facts(at: after(.seconds(age) - newest))
            events += engine.step(facts, at: after(.seconds(second))).map(\.event)
        }
        return events
    }

    @Test("Samples that wait for the next transaction are no silence, and a rule as short as its interval is over again")
    func commitInterval() throws {
        #expect(try noticesOfTransactionsEachTenSeconds(judgedBy: .seconds(10)) == [.raised, .recovered])
        // The planted defect: an age that goes up and down with each transaction is taken for silence, and no minute is clear.
        #expect(try noticesOfTransactionsEachTenSeconds(judgedBy: .zero) == [.raised])
    }

    @Test func aRecordingThatWasAskedForJustNowIsNotSilentYet() throws {
        let database = try RecordedDatabase()
        let store = try database.acquisitionStore()
        try store.control.startRecording(headset: "left", model: "buffered-eeg", at: HostClock.now)
        let silence = try facts(database, at: later(.seconds(40))).headsets?.first?.silence
        #expect(silence.map { $0 >= .seconds(40) && $0 < .seconds(70) } == true)
    }

    @Test func aStoppedRecordingIsNotWatchedAndAPausedOneIsSaidToBe() throws {
        let database = try RecordedDatabase()
        try database.record()
        let store = try database.acquisitionStore()
        try store.control.pause(at: HostClock.now)
        #expect(try facts(database, at: .now).isPaused)
        try store.control.resume(at: HostClock.now)
        let resumed = try facts(database, at: later(.seconds(5)))
        #expect(!resumed.isPaused)
        #expect(resumed.headsets?.first?.silence.map { $0 < .seconds(15) } == true, "since the end of the pause")
        try store.control.stopRecording(headset: "left", at: HostClock.now)
        #expect(try facts(database, at: .now).headsets == [])
    }

    @Test func aSampleOfAnotherBootSaysNothingOfThisOne() throws {
        let database = try RecordedDatabase()
        try database.record()
        var reader = try reader(database)
        // The machine has booted since: its clock begins at 0.
        reader = AlertFactsReader(
            databasePath: database.path, configured: nil, files: reader.files, hostBoot: HostBoot(uuid: "another"))
        let now = AlertInstant(time: .boot + .seconds(90), unixNanoseconds: AlertInstant.now.unixNanoseconds)
        let facts = reader.facts(at: now)
        #expect(facts.headsets?.first?.silence == .seconds(90))
    }

    @Test func deathsAreStartsAfterAProcessThatDidNotEndInOrder() throws {
        let database = try RecordedDatabase()
        let store = try database.acquisitionStore()
        try store.control.noteClockOffset(HostClock.offset())
        let now = HostClock.now
        try store.database.write { db in
            // Ended in order; died; died; runs.
            for (age, ended) in [(4000, true), (3000, false), (2000, false), (1000, false)] {
                let started = (now - .seconds(age)).nanoseconds
                try db.execute(
                    sql: """
                        INSERT INTO process (version, pid, host_boot_id, started_boottime_ns, taken_over, alive_boottime_ns,
                            ended_boottime_ns) VALUES ('0', 1, ?, ?, 0, ?, ?)
                        """, arguments: [store.presentBoot, started, started, ended ? started + 1 : nil])
            }
        }
        let restarts = try facts(database, at: .now).restarts ?? []
        #expect(restarts.map { Int(($0.inSeconds / 1000).rounded()) } == [1, 2])
    }

    @Test func theDiskAndTheBoardAreLookedAt() throws {
        let database = try RecordedDatabase()
        try database.record()
        let zone = database.directory.appendingPathComponent("sys/class/thermal/thermal_zone0")
        try FileManager.default.createDirectory(at: zone, withIntermediateDirectories: true)
        try Data("61000\n".utf8).write(to: zone.appendingPathComponent("temp"))
        let facts = try facts(database, at: .now)
        #expect(facts.temperatureCelsius == 61)
        #expect(facts.isUndervoltage == nil)
        let free = try #require(facts.freeBytes)
        let usable = Double(free - DiskReserve.bytesMaximum)
        #expect(facts.diskDays.map { abs($0 - usable / (250 * RowSize.standardBytes) / 86_400) < 1 } == true)
    }

    @Test func howLongTheDiskLastsIsMeasuredAsSoonAsThereIsEnoughToMeasure() throws {
        let database = try RecordedDatabase()
        try database.record()
        let store = try database.acquisitionStore()
        #expect(try store.bytesPerRow() == RowSize.standardBytes)
        var batch = WriteBatch(number: 9)
        let rows = Int(RowSize.rowsMinimum)
        batch.samples = [
            SampleRows(
                stream: StreamID(rawValue: 1), channelCount: 4, firstN: 10_000, values: [Int32](repeating: 7, count: 4 * rows))
        ]
        try store.commit(batch)
        // Four channels of one byte, n and the key, with what the schema and the evidence take.
        let measured = try store.bytesPerRow()
        #expect((12...30).contains(measured), "\(measured)")
        let facts = try facts(database, at: .now)
        let free = try #require(facts.freeBytes)
        #expect(facts.diskDays.map { abs($0 / (Double(free) / (250 * measured) / 86_400) - 1) < 0.01 } == true)
    }

    @Test func aDatabaseThatIsNotThereOrNoneIsAProblemAndNothingElseIsSaid() throws {
        let database = try RecordedDatabase()
        let absent = try facts(database, at: .now)
        #expect(absent.headsets == nil && absent.databaseProblem?.contains("it is not there") == true)
        try Data("no database".utf8).write(to: URL(fileURLWithPath: database.path))
        let damaged = try facts(database, at: .now)
        #expect(damaged.headsets == nil && damaged.databaseProblem != nil)
    }
}
