import Bluetooth
import Foundation
import Headsets
import Storage
import Synchronization
import Testing

@testable import Acquisition

/// The live acquisition: threads, commits and the operator.
@Suite(.timeLimit(.minutes(3))) struct AcquisitionServiceTests {
    private static func service(
        _ store: AcquisitionStore, _ turns: TurnCounter, limits: AcquisitionLimits = AcquisitionLimits(),
        commit: (@Sendable (WriteBatch) throws(StorageError) -> Void)? = nil
    ) -> AcquisitionService {
        AcquisitionService(
            store: store, settings: settings(limits), makeCentral: { _ in IdleCentral(turns) },
            tasks: StorageTasks(store, commit: commit))
    }

    /// One with a headset, and quick commits.
    private static func service(
        _ store: AcquisitionStore, _ script: HeadsetScript, synchronise: (@Sendable (Bool) throws(StorageError) -> Void)? = nil
    ) -> AcquisitionService {
        var limits = AcquisitionLimits()
        limits.commitInterval = .milliseconds(40)
        return AcquisitionService(
            store: store, settings: settings(limits), makeCentral: { _ in ScriptedCentral(script) },
            tasks: StorageTasks(store, synchronise: synchronise))
    }

    private static func settings(_ limits: AcquisitionLimits) -> AcquisitionService.Settings {
        var settings = AcquisitionService.Settings(
            headsets: [KnownHeadset(name: "left", profile: BufferedEEGProfile())], seed: 1,
            readClock: {
                ClockOffsetRecord(at: .boot, offsetNanoseconds: 1, stepNanoseconds: 0, isSynchronised: true)
            })
        settings.limits = limits
        return settings
    }

    private static func store() throws -> AcquisitionStore {
        try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "test"))
    }

    @Test func anEndWithoutRecordingsIsOrderly() async throws {
        let service = Self.service(try Self.store(), TurnCounter())
        await service.shutDown()
        try await service.run()
        var last = ""
        for await case .summary(let text) in service.reports { last = text }
        #expect(last == "no recording is wanted")
    }

    @Test func aSlowCommitDelaysNoTurn() async throws {
        let turns = TurnCounter()
        let hasCommitted = Mutex(false)
        let service = Self.service(
            try Self.store(), turns,
            commit: { (_) throws(StorageError) in
                // Returns only after fifty further turns: on the poll thread it would wait for ever.
                turns.wait(for: 50)
                hasCommitted.withLock { $0 = true }
            })
        let run = Task { try await service.run() }
        for await report in service.reports {
            if case .committed = report { break }
        }
        #expect(hasCommitted.withLock { $0 })
        await service.shutDown()
        try await run.value
    }

    @Test func aBatchThatCannotBeWrittenIsKeptAndWrittenLater() async throws {
        let store = try Self.store()
        let attempts = Mutex<[UInt64]>([])
        let service = Self.service(
            store, TurnCounter(),
            commit: { (batch) throws(StorageError) in
                let count = attempts.withLock { attempts in
                    attempts.append(batch.number)
                    return attempts.count
                }
                if count <= 2 { throw .diskFull(detail: "attempt \(count)") }
                try store.commit(batch)
            })
        let run = Task { try await service.run() }
        var failures = 0
        for await report in service.reports {
            if case .writeFailed = report { failures += 1 }
            if case .writeRecovered = report { break }
        }
        #expect(failures == 1, "one line for one cause")
        #expect(attempts.withLock { $0.prefix(3) } == [1, 1, 1])
        await service.shutDown()
        try await run.value
    }

    @Test func anErrorThatOnlyAPersonCanMendEndsTheService() async throws {
        let service = Self.service(
            try Self.store(), TurnCounter(), commit: { (_) throws(StorageError) in throw .corrupt(path: "p", detail: "d") })
        await #expect(throws: StorageError.corrupt(path: "p", detail: "d")) { try await service.run() }
    }

    @Test func aWishOfTheOperatorIsFollowed() async throws {
        let store = try Self.store()
        let service = Self.service(store, TurnCounter())
        let run = Task { try await service.run() }
        let recording = try store.control.startRecording(headset: "left", model: "buffered-eeg", at: .boot)
        let unknown = try store.control.startRecording(headset: "other", model: "thinkgear", at: .boot)
        var seen: [String] = []
        for await report in service.reports {
            switch report {
            case .phaseChanged(let headset):
                #expect(headset.recording == recording)
                seen.append(headset.phase.rawValue)
            case .unknownHeadset(let name, _): seen.append(name)
            default: break
            }
            if seen.count == 2 { break }
        }
        #expect(Set(seen) == ["waitingForAdapter", "other"])
        try store.control.stopRecording(unknown, at: .boot)
        await service.shutDown()
        try await run.value
        #expect(try store.openRecordings().contains { $0.recording == recording && $0.isWanted })
    }

    @Test func aHeadsetIsAskedToForgetOnlyWhatWasFlushed() async throws {
        let store = try Self.store()
        let script = HeadsetScript()
        let canFlush = Mutex(false)
        let service = Self.service(
            store, script,
            synchronise: { (_) throws(StorageError) in
                guard canFlush.withLock({ $0 }) else { throw .diskFull(detail: "flush") }
            })
        let acknowledge = HeadsetScript.Call.command(BufferedEEGCommand.acknowledge(stream: 0, upTo: 0).opcode)
        try store.control.startRecording(headset: "left", model: "buffered-eeg", at: .boot)
        let run = Task { try await service.run() }
        var commits = 0
        for await report in service.reports {
            guard case .committed(_, let rows, _) = report, rows > 0 else { continue }
            commits += 1
            if commits == 5 {
                #expect(!script.calls.contains(acknowledge))
                canFlush.withLock { $0 = true }
            }
            if script.calls.contains(acknowledge) { break }
        }
        #expect(commits > 5)
        await service.shutDown()
        try await run.value
    }

    @Test func aReloadAsksAHeadsetThatWaitsForAPersonAgain() async throws {
        let store = try Self.store()
        let script = HeadsetScript()
        script.change { $0.connectError = .peripheralBlocked }
        let service = Self.service(store, script)
        try store.control.startRecording(headset: "left", model: "buffered-eeg", at: .boot)
        let run = Task { try await service.run() }
        var phases: [ConnectionPhase] = []
        for await report in service.reports {
            guard case .phaseChanged(let headset) = report else { continue }
            phases.append(headset.phase)
            if headset.phase == .waitingForOperator {
                script.change { $0.connectError = nil }
                await service.setHeadsets([KnownHeadset(name: "left", profile: BufferedEEGProfile())])
            }
            if headset.phase == .streaming { break }
        }
        #expect(phases.contains(.waitingForOperator))
        #expect(phases.last == .streaming)
        await service.shutDown()
        try await run.value
    }

    @Test func aRecordingThatIsStoppedAndStartedAtOnceWaitsForTheHeadset() async throws {
        let store = try Self.store()
        let script = HeadsetScript()
        let service = Self.service(store, script)
        let first = try store.control.startRecording(headset: "left", model: "buffered-eeg", at: .boot)
        var second: RecordingID?
        let run = Task { try await service.run() }
        for await report in service.reports {
            guard case .phaseChanged(let headset) = report, headset.phase == .streaming else { continue }
            if headset.recording == second { break }
            try store.control.stopRecording(first, at: .boot)
            second = try store.control.startRecording(headset: "left", model: "buffered-eeg", at: .boot)
        }
        #expect(second != nil)
        let calls = script.calls
        let connects = calls.indices.filter { calls[$0] == .connect }
        #expect(connects.count == 2)
        #expect(calls[(connects.first ?? 0)..<(connects.last ?? 0)].contains(.cancel), "let go before it is taken again")
        #expect(try !store.openRecordings().contains { $0.recording == first })
        await service.shutDown()
        try await run.value
    }
}

/// Counts the turns of the poll thread.
final class TurnCounter: Sendable {
    private let condition = NSCondition()
    private let count = Mutex(0)

    func add() {
        condition.lock()
        count.withLock { $0 += 1 }
        condition.broadcast()
        condition.unlock()
    }

    /// Blocks the thread until so many further turns were taken.
    func wait(for turns: Int) {
        condition.lock()
        let end = count.withLock { $0 } + turns
        while count.withLock({ $0 }) < end { condition.wait() }
        condition.unlock()
    }
}

/// A central without adapter, which wants a turn every millisecond.
final class IdleCentral: Central {
    private let turns: TurnCounter
    private var now = MonotonicTime.boot

    init(_ turns: TurnCounter) { self.turns = turns }

    var state: AdapterState { .absent }
    var deadline: MonotonicTime? { now + .milliseconds(1) }

    func process(at now: MonotonicTime) -> [CentralEvent] {
        self.now = now
        turns.add()
        return []
    }

    func request(_ request: CentralRequest) {}
}
