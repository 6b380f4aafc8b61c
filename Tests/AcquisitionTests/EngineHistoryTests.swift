import Bluetooth
import Headsets
import Rehearsal
import Storage
import Testing

@testable import Acquisition

/// What an engine tells of a connection, of its process and of the machine, and how much it says of it.
struct EngineHistoryTests {
    /// An engine whose headset streams.
    private static func streaming() throws -> EngineUnderTest {
        let test = try EngineUnderTest()
        try test.want()
        try test.reconcile()
        try test.run(.seconds(20), until: .streaming)
        try test.run(.seconds(2))
        #expect(test.phase == .streaming)
        return test
    }

    @Test("A return is stored with when the headset was lost, heard and back, and why")
    func returned() throws {
        let test = try Self.streaming()
        let lost = test.now
        test.script.change { $0.breaksLink = true }
        try test.run(.seconds(10))
        let returns = try test.store.returns()
        try #require(returns.count == 2)
        #expect(returns.map(\.cause) == [nil, "linkLost"])
        #expect(returns[1].layer == "cachedIdentifier" && returns[1].attempts == 1)
        #expect(returns[1].sinceHeard <= returns[1].sinceAble && returns[1].sinceAble < .seconds(2))
        #expect(returns[1].unixNanoseconds.map { $0 > 1_790_000_000_000_000_000 + lost.nanoseconds } == true)
        let events = try test.store.history(limit: 100).filter { $0.kind == .return }
        #expect(events.map(\.name) == ["returned", "returned"] && events.allSatisfy { $0.headset == "left" })
    }

    @Test("A link that comes and goes all the time is told by twelve lines and then by one a minute; no change is left out")
    func lines() throws {
        let test = try Self.streaming()
        // What was told of the start.
        try test.run(.seconds(120))
        var (lines, sums, summed, returns) = (0, 0, 0, 0)
        var last: ConnectionPhase?
        test.driver.reported = { report, _ in
            switch report {
            case .phaseChanged(let headset): (lines, last) = (lines + 1, headset.phase)
            case .phasesChanged(let headset, let changes):
                (sums, summed, last) = (sums + 1, summed + changes.count, headset.phase)
                returns += changes.returns
            default: break
            }
        }
        for _ in 0..<600 {
            test.script.change { $0.breaksLink = true }
            try test.run(.seconds(2))
        }
        #expect(lines == AcquisitionLimits().linesPerPeriod && (19...21).contains(sums), "\(lines) lines, \(sums) sums")
        try test.run(.seconds(120))
        #expect(last == test.phase, "how it stands in the end is always told")
        let stored = try test.store.returns().count
        #expect(stored >= 600, "each return is stored: \(stored)")
        #expect(summed + lines >= 2 * 600 && returns >= 550, "\(summed) changes and \(returns) returns were summed up")
        // The next change is a line again.
        let before = lines
        test.script.change { $0.breaksLink = true }
        try test.run(.seconds(5))
        #expect(lines > before)
    }

    @Test("A headset that refuses all day costs a bounded number of rows, and they say since when and how often")
    func refusals() throws {
        let test = try Self.streaming()
        test.script.change { $0.connectError = .connectionTimedOut }
        test.script.change { $0.breaksLink = true }
        try test.run(.seconds(3600))
        let attempts = try test.store.history(limit: 100_000).filter { $0.kind == .attempt && $0.name == "failed" }
        #expect(attempts.count <= 3, "\(attempts.count) rows")
        let tried = attempts.reduce(0) { $0 + $1.count }
        #expect(tried > 750, "each would be a row if none were counted: \(tried)")
        let last = attempts.compactMap { $0.lastBoottimeNanoseconds }.max() ?? 0
        #expect(test.now.nanoseconds - last < 70_000_000_000)
        // The return that follows is a story of its own.
        test.script.change { $0.connectError = nil }
        try test.run(.seconds(20))
        #expect(try test.store.returns().count == 2)
        #expect(try test.store.headsets(at: test.now).first?.state == "streaming")
    }

    @Test("What is old is removed a few rows at a time, never while the database refuses, and never while the clock is not set")
    func trimming() throws {
        var limits = AcquisitionLimits()
        limits.historyAge = .seconds(3600)
        let test = try EngineUnderTest(limits: limits)
        var borders: [Int64] = []
        let conduct = test.driver.conduct
        test.driver.conduct = { effect, now in
            if case .trimHistory(let border) = effect, border != borders.last { borders.append(border) }
            return conduct(effect, now)
        }
        test.commits = .never
        try test.run(.seconds(60))
        let refused = borders.count
        test.commits = .durable
        try test.run(.seconds(7300))
        #expect(refused == 0 && (2...4).contains(borders.count), "\(refused), \(borders.count)")
        let age = 1_790_000_000_000_000_000 + test.now.nanoseconds - (borders.last ?? 0)
        #expect((3600...7300).contains(age / 1_000_000_000))
        // A clock that nobody has set.
        test.driver.readClock = {
            ClockOffsetRecord(at: $0, offsetNanoseconds: 0, stepNanoseconds: 0, isSynchronised: false)
        }
        let before = borders.count
        try test.run(.seconds(7300))
        #expect(borders.count == before)
    }

    @Test("The status shows the state that was entered last, also where it is counted on an earlier row")
    func latestState() throws {
        let test = try Self.streaming()
        test.script.change { $0.adapter = .poweredOff }
        try test.run(.seconds(2))
        for _ in 0..<20 {
            test.script.change { $0.adapter = .poweredOn }
            test.script.change { $0.connectError = .connectionTimedOut }
            try test.run(.seconds(3))
            test.script.change { $0.adapter = .poweredOff }
            try test.run(.seconds(3))
        }
        try test.run(.seconds(120))
        let activity = try #require(try test.store.headsets(at: test.now).first)
        #expect(activity.state == "waitingForAdapter" && activity.stateCause == "poweredOff")
        let rows = try test.store.history(limit: 1000).filter { $0.name == "waitingForAdapter" }
        #expect(rows.count == ConnectionHistory.eventRows && rows.reduce(0) { $0 + $1.count } == 21)
    }
}

/// Processes and machines, one after the other on one database.
struct ProcessHistoryTests {
    private let store: AcquisitionStore

    init() throws { store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "first")) }

    /// A process without headsets.
    private func start(
        _ store: AcquisitionStore, at now: MonotonicTime, suspended: @escaping (MonotonicTime) -> Duration = { _ in .zero }
    )
        throws -> VirtualDriver
    {
        let driver = try VirtualDriver(
            central: ScriptedCentral(HeadsetScript()), store: store, seed: 1,
            process: ProcessIdentity(version: "1.2", pid: 77), lookUp: { _ in nil },
            readClock: {
                ClockOffsetRecord(
                    at: $0, offsetNanoseconds: 1_790_000_000_000_000_000, stepNanoseconds: 0, isSynchronised: true,
                    suspended: suspended($0))
            })
        driver.step(at: now)
        return driver
    }

    private func run(_ driver: VirtualDriver, from now: MonotonicTime, for duration: Duration) {
        let end = now + duration
        var now = now
        while let due = driver.deadline, due <= end {
            now = max(now, due)
            driver.step(at: now)
        }
    }

    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private func names(_ store: AcquisitionStore) throws -> [String] {
        try store.history(limit: 1000).filter { $0.kind == .process || $0.kind == .machine }.map(\.name)
    }

    @Test("A start, an end in order, a death and a reboot are told, a death with when the process was last known to live")
    func processes() throws {
        let first = try start(store, at: Self.time(10))
        run(first, from: Self.time(10), for: .seconds(30))
        #expect(try names(store) == ["started"])
        try first.end(at: Self.time(40))
        #expect(try names(store) == ["started", "ended"])
        let second = try start(store, at: Self.time(50))
        run(second, from: Self.time(50), for: .seconds(200))
        // It dies: nothing more is written. The one that follows runs after a reboot.
        #expect(try names(store) == ["started", "ended", "started"])
        let later = try store.reopened(hostBoot: HostBoot(uuid: "second"))
        let third = try start(later, at: Self.time(5))
        run(third, from: Self.time(5), for: .seconds(2))
        #expect(try names(later) == ["started", "ended", "started", "died", "rebooted", "started"])
        let death = try #require(try later.history(limit: 100).first { $0.name == "died" })
        #expect((Self.time(190).nanoseconds...Self.time(250).nanoseconds).contains(death.boottimeNanoseconds))
        #expect(death.hostBoot == "first" && death.unixNanoseconds != nil)
        let started = try #require(try later.history(limit: 100).last { $0.name == "started" })
        #expect(started.detail == "1.2" && started.attempt == 0 && started.hostBoot == "second")
    }

    @Test("A machine that was suspended is told to a second, and clocks that are read a moment apart are no suspension")
    func suspension() throws {
        let driver = try start(
            store, at: Self.time(10),
            suspended: { now in now < Self.time(100) ? .microseconds(now.nanoseconds % 50) : .seconds(45) })
        run(driver, from: Self.time(10), for: .seconds(120))
        #expect(try names(store) == ["started", "suspended", "resumed"])
        let resumed = try #require(try store.history(limit: 10).last)
        #expect((Self.time(100).nanoseconds...Self.time(102).nanoseconds).contains(resumed.boottimeNanoseconds))
        #expect(resumed.durationNanoseconds.map { abs($0 - 45_000_000_000) < 1_000_000 } == true)
    }

    @Test("A full disk is two events, once it has taken what waited; another error of the database is none")
    func fullDisk() throws {
        let driver = try start(store, at: Self.time(10))
        var refusal: StorageError?
        driver.conduct = { effect, _ in
            if case .commit = effect { VirtualDriver.TaskConduct(error: refusal) } else { VirtualDriver.TaskConduct() }
        }
        run(driver, from: Self.time(10), for: .seconds(10))
        refusal = .busy(detail: "test")
        run(driver, from: Self.time(20), for: .seconds(100))
        refusal = nil
        run(driver, from: Self.time(120), for: .seconds(100))
        #expect(try names(store) == ["started"])
        refusal = .diskFull(detail: "180 MB are free, and the last 200 MB are kept free")
        run(driver, from: Self.time(220), for: .seconds(280))
        #expect(try names(store) == ["started"], "a full disk takes nothing")
        // What is tried last may fail for another reason.
        refusal = .busy(detail: "test")
        run(driver, from: Self.time(500), for: .seconds(20))
        refusal = nil
        run(driver, from: Self.time(520), for: .seconds(100))
        #expect(try names(store) == ["started", "rowsHeld", "rowsStored"])
        let events = try store.history(limit: 10)
        #expect(events[1].detail == "180 MB are free, and the last 200 MB are kept free")
        #expect((Self.time(220).nanoseconds...Self.time(290).nanoseconds).contains(events[1].boottimeNanoseconds))
        #expect((Self.time(520).nanoseconds...Self.time(522).nanoseconds).contains(events[2].boottimeNanoseconds))
        #expect(events[2].durationNanoseconds == events[2].boottimeNanoseconds - events[1].boottimeNanoseconds)
    }

    @Test("A process that takes over an open recording says so")
    func takenOver() throws {
        let recording = try store.control.startRecording(headset: "left", model: "muse", at: Self.time(1))
        var batch = WriteBatch(number: 1)
        batch.changes = [.recording(.started(recording, at: Self.time(2)))]
        try store.commit(batch)
        let driver = try start(store, at: Self.time(10))
        run(driver, from: Self.time(10), for: .seconds(2))
        #expect(try store.history(limit: 10).first { $0.name == "started" }?.attempt == 1)
    }
}
