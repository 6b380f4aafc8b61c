import Bluetooth
import Rehearsal
import Storage
import Testing

@testable import Acquisition

/// From records in memory to rows that survive a power cut, event by event: the wall clock steps each second, so that there is
/// something to write.
struct EngineCommitTests {
    /// Answers what an engine wants of its database, and keeps what that was.
    private struct Disk {
        let engine: AcquisitionEngine
        var now = MonotonicTime(nanoseconds: 60_000_000_000)
        /// Why nothing can be written; nil where it can.
        var refusal: StorageError?
        var refusesFlushes = false
        /// A batch that may use what is kept free is taken all the same.
        var takesLast = false
        /// Batches are taken and not answered.
        var isStalled = false
        /// An answer is followed by an iteration.
        private var wasAnswered = false
        private(set) var done: [String] = []
        private(set) var unanswered: [WriteBatch] = []
        /// The numbers of the batches that stand in the spool, and those of batches to commit that did not stand there.
        private(set) var spooled: [UInt64] = []
        private(set) var unspooled: [UInt64] = []
        private(set) var reports: [AcquisitionReport] = []

        /// Why the spool takes nothing; nil where it does.
        var spoolRefusal: StorageError?

        /// - Parameter hasSpool: commits come each ten seconds, and the spool is filled each second.
        init(hasSpool: Bool = false) {
            var limits = AcquisitionLimits()
            if hasSpool { (limits.commitInterval, limits.spoolInterval) = (.seconds(10), .seconds(1)) }
            limits.wishesInterval = nil
            engine = AcquisitionEngine(nextStreamID: 1, limits: limits, seed: 1, lookUp: { _ in nil })
        }

        mutating func run(seconds: Int64) {
            let end = now + .seconds(seconds)
            while wasAnswered || engine.deadline.map({ $0 < end }) ?? false {
                now = wasAnswered ? now : max(now, engine.deadline ?? now)
                wasAnswered = false
                handle(.central([]))
            }
            now = end
        }

        mutating func handle(_ event: EngineEvent) {
            for effect in engine.handle(event, at: now) { perform(effect) }
        }

        /// Answers the batches of a stalled disk.
        mutating func goOn() {
            isStalled = false
            let batches = unanswered
            unanswered.removeAll()
            for batch in batches { answer(.committed(batch.number, refusal.map { .failure($0) } ?? .success([]))) }
        }

        mutating func takeDone() -> [String] {
            defer { done.removeAll() }
            return done
        }

        private mutating func answer(_ event: EngineEvent) {
            wasAnswered = true
            handle(event)
        }

        private mutating func perform(_ effect: EngineEffect) {
            switch effect {
            case .readClock:
                handle(
                    .clock(
                        ClockOffsetRecord(
                            at: now, offsetNanoseconds: now.nanoseconds, stepNanoseconds: 0, isSynchronised: true)))
            case .spool(let batch):
                done.append("spool")
                spooled.append(batch.number)
                answer(.spooled(batch.number, spoolRefusal.map { .failure($0) } ?? .success(())))
            case .commit(let batch):
                done.append("commit")
                if !spooled.contains(batch.number) { unspooled.append(batch.number) }
                if isStalled { return unanswered.append(batch) }
                let refusal = batch.usesReserve && takesLast ? nil : refusal
                answer(.committed(batch.number, refusal.map { .failure($0) } ?? .success([])))
            case .flush(let rewriting):
                done.append(rewriting ? "rewrite" : "flush")
                answer(.flushed(refusesFlushes ? .failure(.sqlite(code: 10, detail: "test")) : .success(())))
            case .checkpoint: answer(.checkpointed)
            case .noteUnstored(let isUnstored): done.append(isUnstored ? "rows wait" : "all is written")
            case .report(let report): reports.append(report)
            case .finished(let error): done.append(error == nil ? "ended" : "ended by an error")
            case .readWishes: handle(.wishes(.failure(.busy(detail: "test"))))
            case .request, .loadResumeState, .commitByHeadset, .trimHistory, .decide, .beat, .readMarks, .tap, .greetReader:
                break
            }
        }
    }

    private static let full = StorageError.diskFull(detail: "test")

    @Test("Commits survive a power cut after a flush, which follows a commit every ten seconds")
    func interval() {
        var disk = Disk()
        disk.run(seconds: 25)
        let done = disk.takeDone()
        #expect(done.prefix(3) == ["commit", "all is written", "flush"])
        let commits = done.filter { $0 != "all is written" }.split(separator: "flush", omittingEmptySubsequences: false)
        #expect(commits.map(\.count) == [1, 10, 10, 3])
    }

    /// What was done, with what is done several times in a row counted.
    private static func counted(_ done: [String]) -> [String] {
        done.filter { $0 != "all is written" }.reduce(into: [(word: String, count: Int)]()) { runs, word in
            if runs.last?.word == word { runs[runs.count - 1].count += 1 } else { runs.append((word, 1)) }
        }.map { "\($0.count) \($0.word)" }
    }

    @Test("With a spool, transactions go with the flush each ten seconds, and the spool is filled each second")
    func spooling() {
        var disk = Disk(hasSpool: true)
        disk.run(seconds: 12)
        _ = disk.takeDone()
        disk.run(seconds: 30)
        let done = Self.counted(disk.takeDone())
        #expect(done.count { $0 == "1 commit" } == 3 && done.count { $0 == "1 flush" } == 3, "\(done)")
        #expect(done.filter { $0.hasSuffix("spool") }.dropFirst().dropLast().allSatisfy { $0 == "10 spool" }, "\(done)")
    }

    @Test("What a headset does is committed within two seconds, thrice within three intervals where it goes on changing")
    func early() {
        var commits = EarlyCommits()
        let start = MonotonicTime(nanoseconds: 100_000_000_000)
        let due = (0..<60).compactMap { second -> Duration? in
            let now = start + .seconds(second)
            // As if each regular one were far away.
            return commits.take(at: now, before: now + .seconds(10), interval: .seconds(10)).map { $0 - start }
        }
        // The fourth waits for thirty seconds after the first.
        #expect(due.prefix(4) == [.seconds(1), .seconds(2), .seconds(3), .seconds(31)])
        #expect(Set(due).count { $0 <= .seconds(60) } == 6, "\(due)")
        // One that comes soon anyway is not brought forward.
        #expect(commits.take(at: start + .seconds(200), before: start + .seconds(200.5), interval: .seconds(10)) == nil)
    }

    @Test("With rare transactions, that a headset streams is committed with its first samples", arguments: [true, false])
    func phase(hasSpool: Bool) throws {
        var limits = AcquisitionLimits()
        limits.commitInterval = .seconds(10)
        limits.spoolInterval = hasSpool ? .seconds(1) : nil
        let engine = try EngineUnderTest(limits: limits, flushInterval: .seconds(10))
        try engine.run(.seconds(20))
        try engine.want()
        try engine.reconcile()
        try engine.run(.seconds(60), until: .streaming)
        let count = engine.batches.count
        try engine.run(.seconds(2))
        let changes = engine.batches.dropFirst(count).flatMap(\.changes)
        let isSeen = changes.contains { change in
            if case .connectionEvent(let event) = change { event.state == ConnectionPhase.streaming.rawValue } else { false }
        }
        #expect(isSeen == hasSpool)
    }

    @Test("A recording that is stopped while the database refuses is ended once, however often wishes are read meanwhile")
    func endWhileRefused() throws {
        var limits = AcquisitionLimits()
        (limits.commitInterval, limits.spoolInterval) = (.seconds(10), .seconds(1))
        let engine = try EngineUnderTest(limits: limits, flushInterval: .seconds(10))
        let recording = try engine.want()
        try engine.reconcile()
        try engine.run(.seconds(60), until: .streaming)
        try engine.run(.seconds(15))
        engine.commits = .never
        try engine.store.control.stopRecording(recording, at: engine.now)
        for _ in 0..<15 {
            try engine.reconcile()
            try engine.run(.seconds(1))
        }
        engine.commits = .durable
        try engine.run(.seconds(15))
        let ends = engine.batches.flatMap(\.changes).count { change in
            if case .recording(.stopped(recording, _)) = change { true } else { false }
        }
        #expect(ends == 1 && engine.engine.headsets.isEmpty)
        #expect(try engine.store.audit().findings == [])
    }

    @Test("Whatever becomes of transactions, the spool has every batch in order, that of the transaction included")
    func spoolWithoutHole() {
        var disk = Disk(hasSpool: true)
        disk.run(seconds: 15)
        disk.isStalled = true
        disk.run(seconds: 15)
        disk.refusal = .busy(detail: "test")
        disk.goOn()
        disk.run(seconds: 15)
        disk.refusal = nil
        disk.run(seconds: 15)
        #expect(disk.unspooled == [] && disk.spooled.count > 40)
        #expect(disk.spooled == Array(1...UInt64(disk.spooled.count)))
    }

    @Test("While the database refuses, the spool takes what comes, until it is full; then the headsets keep it")
    func spoolWhileRefused() {
        var disk = Disk(hasSpool: true)
        disk.run(seconds: 15)
        disk.refusal = .busy(detail: "test")
        disk.run(seconds: 15)
        let count = disk.spooled.count
        disk.run(seconds: 20)
        #expect((19...21).contains(disk.spooled.count - count), "\(disk.spooled.count - count)")
        disk.spoolRefusal = .spool(path: "test", reason: "it is full")
        disk.run(seconds: 2)
        let last = disk.spooled.count
        disk.run(seconds: 20)
        #expect(disk.spooled.count == last)
        (disk.refusal, disk.spoolRefusal) = (nil, nil)
        disk.run(seconds: 15)
        #expect(disk.unspooled == [] && disk.spooled == Array(1...UInt64(disk.spooled.count)))
    }

    @Test("Where the spool takes nothing, commits come each second, which is reported once, until it does again")
    func refusedSpool() {
        var disk = Disk(hasSpool: true)
        disk.run(seconds: 12)
        disk.spoolRefusal = .spool(path: "test", reason: "test")
        disk.run(seconds: 2)
        _ = disk.takeDone()
        disk.run(seconds: 20)
        #expect((19...21).contains(disk.takeDone().count { $0 == "commit" }))
        #expect(disk.reports.count { if case .spoolFailed = $0 { true } else { false } } == 1)
        disk.spoolRefusal = nil
        disk.run(seconds: 3)
        _ = disk.takeDone()
        disk.run(seconds: 30)
        #expect(disk.takeDone().count { $0 == "commit" } == 3)
    }

    @Test("While somebody reads along, commits come each second")
    func followed() {
        var disk = Disk(hasSpool: true)
        disk.run(seconds: 12)
        disk.handle(.wishes(.success(OperatorWishes(version: 1, isFollowed: true))))
        _ = disk.takeDone()
        disk.run(seconds: 20)
        #expect((19...21).contains(disk.takeDone().count { $0 == "commit" }))
        disk.handle(.wishes(.success(OperatorWishes(version: 1, isFollowed: false))))
        disk.run(seconds: 10)
        _ = disk.takeDone()
        disk.run(seconds: 30)
        #expect(disk.takeDone().count { $0 == "commit" } == 3)
    }

    @Test("At an orderly end everything that waits is committed")
    func endWithSpool() {
        var disk = Disk(hasSpool: true)
        disk.run(seconds: 15)
        _ = disk.takeDone()
        disk.handle(.shutDown)
        disk.run(seconds: 5)
        #expect(disk.takeDone().filter { $0 != "spool" }.suffix(2) == ["commit", "ended"])
    }

    @Test("After a refused flush what is committed is written anew, with the next commit; both are reported once")
    func refusedFlush() {
        var disk = Disk()
        disk.refusesFlushes = true
        disk.run(seconds: 4)
        #expect(
            disk.takeDone().filter { $0 != "all is written" } == ["commit", "flush", "commit", "rewrite", "commit", "rewrite"])
        disk.refusesFlushes = false
        disk.run(seconds: 20)
        #expect(disk.takeDone().filter { $0.contains("flush") || $0 == "rewrite" } == ["rewrite", "flush"])
        let reports = disk.reports.compactMap { report -> String? in
            switch report {
            case .flushFailed: "failed"
            case .flushRecovered(let after): "recovered after \(after.components.seconds) s"
            default: nil
            }
        }
        #expect(reports == ["failed", "recovered after 3 s"])
    }

    @Test("A batch that the disk does not take is tried again each second; it is noted once beside the database, and told once")
    func refusedCommit() {
        var disk = Disk()
        disk.run(seconds: 2)
        _ = disk.takeDone()
        disk.refusal = Self.full
        disk.run(seconds: 5)
        let refused = disk.takeDone()
        #expect(refused.count { $0 == "commit" } == 5 && refused.count { $0 == "rows wait" } == 1)
        #expect(!refused.contains("flush"))
        disk.refusal = nil
        disk.run(seconds: 2)
        #expect(disk.takeDone().filter { $0 != "commit" && $0 != "flush" } == ["all is written"])
        let problems = disk.reports.compactMap { report -> Int? in
            switch report {
            case .writeFailed: 0
            case .writeRecovered: 1
            default: nil
            }
        }
        #expect(problems == [0, 1])
    }

    @Test("An error that only a person can mend ends the process, and is what it ends by")
    func failedCommit() {
        var disk = Disk()
        disk.run(seconds: 2)
        _ = disk.takeDone()
        disk.refusal = .corrupt(path: "test", detail: "test")
        disk.run(seconds: 2)
        #expect(disk.takeDone() == ["commit", "rows wait", "ended by an error"])
        #expect(disk.engine.deadline == nil)
    }

    @Test("At the end the batch under way is waited for, however long the disk takes, and what is left is written after it")
    func endWhileStalled() {
        var disk = Disk()
        disk.isStalled = true
        disk.run(seconds: 3)
        disk.handle(.shutDown)
        disk.run(seconds: 60)
        #expect(disk.takeDone() == ["commit"])
        disk.goOn()
        disk.run(seconds: 2)
        #expect(disk.takeDone() == ["all is written", "flush", "commit", "ended"])
    }

    @Test("What is refused for the sake of the reserve is written at the end, which may use it")
    func endWithinReserve() {
        var disk = Disk()
        disk.refusal = Self.full
        disk.takesLast = true
        disk.run(seconds: 3)
        _ = disk.takeDone()
        disk.handle(.shutDown)
        disk.run(seconds: 2)
        #expect(disk.takeDone() == ["commit", "all is written", "flush", "commit", "ended"])
    }

    @Test("A refusal that comes while it ends is followed by one more try")
    func refusedWhileEnding() {
        var disk = Disk()
        disk.isStalled = true
        disk.run(seconds: 3)
        disk.handle(.shutDown)
        // The end begins with the next iteration.
        disk.run(seconds: 1)
        disk.refusal = Self.full
        disk.takesLast = true
        disk.goOn()
        disk.run(seconds: 2)
        #expect(disk.takeDone() == ["commit", "commit", "all is written", "flush", "commit", "ended"])
    }

    @Test("At the end a full disk is not waited for")
    func endWhileFull() {
        var disk = Disk()
        disk.refusal = Self.full
        disk.run(seconds: 3)
        _ = disk.takeDone()
        disk.handle(.shutDown)
        disk.run(seconds: 2)
        #expect(disk.takeDone() == ["commit", "ended by an error"])
    }

    @Test("What is committed last is flushed, though nothing comes behind it")
    func lastCommitIsFlushed() throws {
        var limits = AcquisitionLimits()
        (limits.commitInterval, limits.spoolInterval) = (.seconds(10), .seconds(1))
        let test = try EngineUnderTest(limits: limits, flushInterval: .seconds(10))
        var isFlushed = false
        test.driver.conduct = { effect, _ in
            switch effect {
            case .commit: isFlushed = false
            case .flush: isFlushed = true
            default: break
            }
            return VirtualDriver.TaskConduct()
        }
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(33))
        try test.store.control.stopRecording(recording, at: test.now)
        try test.reconcile()
        try test.run(.seconds(3))
        #expect(try test.store.openRecordings().isEmpty, "the end is committed")
        try test.run(.seconds(11))
        #expect(isFlushed)
    }
}
