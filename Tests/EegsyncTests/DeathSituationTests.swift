import Bluetooth
import Foundation
import Storage
import Testing

@testable import eegsync

/// Deaths of processes before the present one, as `status` and `events` show them.
@Suite struct DeathSituationTests {
    private let store: AcquisitionStore
    private let second: Int64 = 1_000_000_000

    init() throws { store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "a")) }

    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * second) }

    /// A process starts, after another that may have died of something.
    private func start(_ number: UInt64, at seconds: Int64, after cause: String? = nil) throws {
        _ = try store.noteStart(at: at(seconds), deathCause: cause)
        var batch = WriteBatch(number: number)
        batch.changes = [.process(.started(ProcessIdentity(version: "1", pid: 1), at: at(seconds)))]
        try store.commit(batch)
    }

    private func situation(at seconds: Int64, isRunning: Bool = true) throws -> DeathSituation? {
        try DeathSituation(store, isRunning: isRunning, now: at(seconds), wallNanoseconds: 0)
    }

    @Test func nothingIsSaidWhereNoneHasDied() throws {
        #expect(try situation(at: 1) == nil)
        try start(1, at: 10)
        #expect(try situation(at: 20) == nil)
        #expect(try situation(at: 20, isRunning: false)?.count == 1, "it is not there, and did not end in order")
    }

    @Test func countCauseAndPauseAreSaid() throws {
        try start(1, at: 10)
        try start(2, at: 11, after: "it was killed by SIGSEGV")
        try start(3, at: 12, after: "it was killed by SIGSEGV")
        try start(4, at: 13, after: "it was killed by SIGABRT")
        let waiting = try #require(try situation(at: 13))
        #expect(waiting.count == 3 && waiting.earlyInARow == 3 && waiting.waitsSeconds == 1)
        #expect(waiting.cause == "it was killed by SIGABRT")
        #expect(waiting.sentence.contains("3 times within the last day"))
        #expect(waiting.sentence.contains("3 times in a row") && waiting.sentence.contains("waits for another"))
        let recording = try #require(try situation(at: 15))
        #expect(recording.waitsSeconds == 0 && !recording.sentence.contains("in a row"))
        try store.noteSettled()
        #expect(try situation(at: 100)?.earlyInARow == 0)
        #expect(try situation(at: 90_000) == nil, "a day later")
    }

    @Test func eventsHaveTheCauseOfEachDeath() throws {
        try store.control.noteClockOffset(
            ClockOffsetRecord(at: at(1), offsetNanoseconds: 0, stepNanoseconds: 0, isSynchronised: true))
        try start(1, at: 10)
        try start(2, at: 11, after: "it was killed by SIGSEGV")
        try start(3, at: 12)
        let deaths = try store.history(limit: 100).filter { $0.name == "died" }
        #expect(deaths.map(\.cause) == ["it was killed by SIGSEGV", nil])
        #expect(deaths[0].words.hasSuffix(": it was killed by SIGSEGV") && deaths[1].words.hasSuffix("without an end"))
    }

    @Test func aProcessThatEndedInOrderGetsNoCause() throws {
        try start(1, at: 10)
        var batch = WriteBatch(number: 2)
        batch.changes = [.process(.ended(at: at(20)))]
        try store.commit(batch)
        // What the unit says is of a process that died before it had a row.
        try start(3, at: 30, after: "it was killed by SIGSEGV")
        #expect(try store.deaths(isRunning: true, limit: 9).isEmpty)
    }
}
