import Bluetooth
import Foundation
import Storage
import Testing

@testable import eegsync

@Suite struct RestartBackoffTests {
    @Test func theFirstDeathsCostNothingAndThosePausesThatFollowGrowToAMinute() {
        #expect((0...2).map { RestartBackoff.pause(earlyDeaths: $0) } == [.zero, .zero, .zero])
        #expect((3...10).map { RestartBackoff.pause(earlyDeaths: $0) } == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(RestartBackoff.pause(earlyDeaths: .max) == .seconds(60))
    }

    @Test func thePauseIsExplained() throws {
        #expect(RestartBackoff.sentence(earlyDeaths: 2, lastEnd: nil) == nil)
        let sentence = try #require(
            RestartBackoff.sentence(earlyDeaths: 5, lastEnd: PreviousEnd(text: "core-dump dumped SEGV\n")))
        for part in ["the last 5 starts", "SIGSEGV", "waits 4", "systemctl restart eegsync"] {
            #expect(sentence.contains(part), "\(part): \(sentence)")
        }
    }

    @Test(arguments: [
        ("success exited 0", nil), ("oom-kill killed KILL", "want of memory"), ("watchdog dumped ABRT", "watchdog"),
        ("signal killed KILL", "SIGKILL"), ("exit-code exited 70", "exit code 70"), ("timeout killed KILL", "too long"),
        ("protocol exited 0", "'protocol'"),
    ])
    func theServiceManagersWordsBecomeOurs(text: String, part: String?) throws {
        let end = try #require(PreviousEnd(text: text))
        #expect(end.deathCause.map { cause in part.map(cause.contains) ?? false } ?? (part == nil))
    }

    @Test func aFileThatIsNotWholeSaysNothing() {
        #expect(PreviousEnd(text: "") == nil)
        #expect(PreviousEnd(text: "oom-kill killed") == nil)
        #expect(PreviousEnd.current(environment: ["RUNTIME_DIRECTORY": "/nonexistent"]) == nil)
        #expect(PreviousEnd.current(environment: [:]) == nil)
    }

    @Test func earlyDeathsAreCountedUntilOneProcessSettles() throws {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "a"))
        func start(_ text: String? = nil, in store: AcquisitionStore) -> DaemonStart {
            DaemonStart(store: store, isService: true, previous: text.flatMap(PreviousEnd.init))
        }
        #expect((0..<4).map { _ in start(in: store).pause } == [0, 0, 0, 1].map { .seconds($0) })
        let waiting = start("signal killed SEGV", in: store)
        #expect(waiting.pause == .seconds(2))
        #expect(waiting.lines.map { "\($0.level)" } == ["error", "error"])
        #expect(waiting.lines.last?.sentence == waiting.pauseSentence)
        // A boot begins anew.
        #expect(start(in: try store.reopened(hostBoot: HostBoot(uuid: "b"))).pause == .zero)
        for _ in 0..<4 { _ = start(in: store) }
        #expect(start(in: store).pause > .zero)
        try store.noteSettled()
        #expect(start(in: store).pause == .zero)
    }

    @Test func aPersonWhoStartsItByHandDoesNotWait() throws {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "a"))
        for _ in 0..<9 { #expect(DaemonStart(store: store, isService: false, previous: nil).pause == .zero) }
        #expect(ServiceNotification.isService(environment: ["SYSTEMD_EXEC_PID": "1"]) == false)
        #expect(ServiceNotification.isService(environment: ["SYSTEMD_EXEC_PID": "\(getpid())"]))
    }

    @Test func theRecordingsThatFellAreNamed() throws {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "a"))
        try store.control.startRecording(headset: "left", model: "muse", at: MonotonicTime(nanoseconds: 1))
        let start = DaemonStart(store: store, isService: true, previous: PreviousEnd(text: "oom-kill killed KILL"))
        #expect(start.lines.count == 1)
        #expect(start.lines.first?.sentence.contains("left (recording 1)") == true)
        #expect(start.lines.first?.sentence.contains("want of memory") == true)
    }
}
