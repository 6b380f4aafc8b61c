import Bluetooth
import CLinux
import Glibc
import Testing

@testable import KernelBluetooth

/// Times of arrival from the kernel's stamps.
struct ArrivalClockTests {
    /// UTC less the time since the boot, in nanoseconds.
    private static let offset: Int64 = 1_800_000_000_000_000_000
    private static let millisecond: Int64 = 1_000_000

    /// A clock that was read at an instant of the boot clock, and an hour before.
    private static func clock(readAt bootClock: Int64, stepped step: Int64 = 0) -> ArrivalClock {
        var clock = ArrivalClock()
        clock.read(wallClock: bootClock + offset - 1000 * millisecond, bootClock: bootClock - 1000 * millisecond)
        clock.read(wallClock: bootClock + offset + step, bootClock: bootClock)
        return clock
    }

    private static func arrival(_ clock: ArrivalClock, stamp: Int64) -> Int64 {
        clock.arrival(stamp: stamp, readTime: -1).nanoseconds
    }

    @Test("A packet arrived when the kernel stamped it, also where that was after the clocks were read")
    func stamps() {
        let clock = Self.clock(readAt: 5000)
        #expect(Self.arrival(clock, stamp: Self.offset + 4000) == 4000)
        #expect(Self.arrival(clock, stamp: Self.offset + 5000) == 5000)
        #expect(Self.arrival(clock, stamp: Self.offset + 6000) == 6000)
    }

    @Test("A packet without a stamp, or read before the wall clock was known to run evenly, arrived when it was read")
    func noStamp() {
        #expect(Self.arrival(Self.clock(readAt: 5000), stamp: -1) == -1)
        var clock = ArrivalClock()
        clock.read(wallClock: Self.offset, bootClock: 0)
        #expect(Self.arrival(clock, stamp: Self.offset) == -1)
    }

    @Test("A stamp from before the wall clock was set is not believed", arguments: [-1, 1])
    func step(direction: Int64) {
        let step = direction * 20 * Self.millisecond
        var clock = Self.clock(readAt: 5000, stepped: step)
        #expect(Self.arrival(clock, stamp: Self.offset + 4000) == -1)
        clock.read(wallClock: Self.offset + step + 9000, bootClock: 9000)
        #expect(Self.arrival(clock, stamp: Self.offset + step + 8000) == 8000)
    }

    @Test("Slewing is no step")
    func slew() {
        let clock = Self.clock(readAt: 5000, stepped: Self.millisecond / 2)
        #expect(Self.arrival(clock, stamp: Self.offset + Self.millisecond / 2 + 4000) == 4000)
    }

    @Test("A packet that waited for a stopped process arrived when it was read")
    func old() {
        let clock = Self.clock(readAt: 1000 * Self.millisecond)
        #expect(Self.arrival(clock, stamp: Self.offset + 901 * Self.millisecond) == 901 * Self.millisecond)
        #expect(Self.arrival(clock, stamp: Self.offset + 899 * Self.millisecond) == -1)
        #expect(Self.arrival(clock, stamp: Self.offset + 1101 * Self.millisecond) == -1)
    }

    @Test("The kernel stamps what it hands to a socket that was told to, and only that")
    func socketStamps() {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue)
        #expect(socketpair(AF_UNIX, type, 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        var buffer = [UInt8](repeating: 0, count: 8)
        var stamp: Int64 = 0
        #expect(clinux_receive(ends[0], &buffer, 8, &stamp) == -EAGAIN)
        #expect(send(ends[1], [1, 2, 3], 3, 0) == 3)
        #expect(clinux_receive(ends[0], &buffer, 8, &stamp) == 3)
        #expect(buffer[..<3] == [1, 2, 3] && stamp == -1)

        #expect(clinux_stamp_arrivals(ends[0]) == 0)
        let before = clinux_realtime_nanoseconds()
        #expect(send(ends[1], [4], 1, 0) == 1)
        let after = clinux_realtime_nanoseconds()
        #expect(clinux_receive(ends[0], &buffer, 8, &stamp) == 1)
        #expect(before <= stamp && stamp <= after)

        shutdown(ends[1], Int32(SHUT_RDWR))
        #expect(clinux_receive(ends[0], &buffer, 8, &stamp) == 0)
    }
}
