import CLinux
import Glibc
import Testing

@Suite struct LinuxTests {
    @Test func theBootClockAgreesWithTheKernels() {
        var before = timespec()
        clock_gettime(CLOCK_BOOTTIME, &before)
        let read = clinux_boottime_nanoseconds()
        var after = timespec()
        clock_gettime(CLOCK_BOOTTIME, &after)
        #expect(Int64(before.tv_sec) * 1_000_000_000 + Int64(before.tv_nsec) <= read)
        #expect(read <= Int64(after.tv_sec) * 1_000_000_000 + Int64(after.tv_nsec))
    }

    @Test func theSynchronisedFlagIsYesOrNo() {
        let flag = clinux_clock_is_synchronised()
        #expect(flag == 0 || flag == 1)
    }

    @Test func aSignalledCounterIsReadableUntilItIsCleared() {
        let descriptor = clinux_eventfd()
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        #expect(!isReadable(descriptor))
        #expect(clinux_eventfd_signal(descriptor) == 0)
        #expect(clinux_eventfd_signal(descriptor) == 0)
        #expect(isReadable(descriptor))
        #expect(clinux_eventfd_clear(descriptor) == 0)
        #expect(!isReadable(descriptor))
        #expect(clinux_eventfd_clear(descriptor) == 0)
    }

    @Test func aTimerInThePastFiresAndADisarmedOneDoesNot() {
        let descriptor = clinux_timerfd()
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        #expect(clinux_timerfd_arm(descriptor, 0) == 0)
        // poll(2) returns as soon as the timer has fired; the limit is only for a kernel that never does.
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&waited, 1, 10_000) == 1)
        #expect(clinux_timerfd_arm(descriptor, -1) == 0)
        #expect(!isReadable(descriptor))
    }

    @Test func randomBytesDiffer() {
        var first = [UInt8](repeating: 0, count: 32)
        var second = first
        #expect(clinux_random(&first, first.count) == 0)
        #expect(clinux_random(&second, second.count) == 0)
        #expect(first != second)
    }

    @Test func aFileHasItsBirthWhateverBecomesOfIt() throws {
        let directory = try TestDirectory()
        let before = clinux_realtime_nanoseconds()
        let path = try directory.write("a", to: "a")
        let birth = clinux_birth_nanoseconds(path)
        // The kernel's stamps are those of its last tick. 0: of a file system that keeps none.
        let ticks: Int64 = 20_000_000
        #expect(birth == 0 || (birth >= before - ticks && birth <= clinux_realtime_nanoseconds()))
        rename(path, path + "-aside")
        chmod(path + "-aside", 0o400)
        #expect(clinux_birth_nanoseconds(path + "-aside") == birth)
        #expect(clinux_birth_nanoseconds(path) == -Int64(ENOENT))
    }

    @Test func errorsAreNegativeErrnos() {
        #expect(clinux_eventfd_signal(-1) == -EBADF)
        #expect(clinux_eventfd_clear(-1) == -EBADF)
        #expect(clinux_timerfd_arm(-1, 1) == -EBADF)
    }

    private func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }
}
