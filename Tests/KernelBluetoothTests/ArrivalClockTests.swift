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

    @Test func aPacketArrivedWhenTheKernelStampedIt() {
        let clock = Self.clock(readAt: 5000)
        #expect(Self.arrival(clock, stamp: Self.offset + 4000) == 4000)
        #expect(Self.arrival(clock, stamp: Self.offset + 5000) == 5000)
        #expect(Self.arrival(clock, stamp: Self.offset + 6000) == 6000)
    }

    @Test func aPacketWithoutAStampOrBeforeTheWallClockIsKnownArrivedWhenItWasRead() {
        #expect(Self.arrival(Self.clock(readAt: 5000), stamp: -1) == -1)
        var clock = ArrivalClock()
        clock.read(wallClock: Self.offset, bootClock: 0)
        #expect(Self.arrival(clock, stamp: Self.offset) == -1)
    }

    @Test(arguments: [Int64(-1), 1]) func aStampFromBeforeTheWallClockWasSetIsNotBelieved(direction: Int64) {
        let step = direction * 20 * Self.millisecond
        var clock = Self.clock(readAt: 5000, stepped: step)
        #expect(Self.arrival(clock, stamp: Self.offset + 4000) == -1)
        clock.read(wallClock: Self.offset + step + 9000, bootClock: 9000)
        #expect(Self.arrival(clock, stamp: Self.offset + step + 8000) == 8000)
    }

    @Test func slewingIsNoStep() {
        let clock = Self.clock(readAt: 5000, stepped: Self.millisecond / 2)
        #expect(Self.arrival(clock, stamp: Self.offset + Self.millisecond / 2 + 4000) == 4000)
    }

    @Test func aPacketThatWaitedForAStoppedProcessArrivedWhenItWasRead() {
        let clock = Self.clock(readAt: 1000 * Self.millisecond)
        #expect(Self.arrival(clock, stamp: Self.offset + 901 * Self.millisecond) == 901 * Self.millisecond)
        #expect(Self.arrival(clock, stamp: Self.offset + 899 * Self.millisecond) == -1)
        #expect(Self.arrival(clock, stamp: Self.offset + 1101 * Self.millisecond) == -1)
    }

    @Test(arguments: [false, true]) func aReadingThatWasInterruptedIsRepeatedAndAClockThatWasSetIsNot(wasSet: Bool) {
        var clock = Self.clock(readAt: 1_000_000)
        let later: Int64 = 20_000_000
        var readings = 0
        clock.readClocks {
            readings += 1
            // The first time, 5 ms pass between the two clocks.
            return (Self.offset + later + (wasSet ? later : 0), readings == 1 ? later + 5_000_000 : later)
        }
        #expect(readings == 2)
        #expect(Self.arrival(clock, stamp: Self.offset + later - 1000) == (wasSet ? -1 : later - 1000))
    }

    @Test func theKernelStampsWhatItHandsToASocketThatAskedForItAndOnlyThat() {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(Self.received(from: ends[0]).count == -EAGAIN)

        send(ends[1], [UInt8]([1, 2, 3]), 3, 0)
        let plain = Self.received(from: ends[0])
        #expect(plain.count == 3 && plain.bytes == [1, 2, 3] && plain.stamp == -1)

        #expect(clinux_stamp_arrivals(ends[0]) == 0)
        let before = clinux_realtime_nanoseconds()
        send(ends[1], [UInt8(4)], 1, 0)
        let after = clinux_realtime_nanoseconds()
        let stamped = Self.received(from: ends[0])
        #expect(stamped.count == 1 && stamped.bytes == [4])
        #expect((before...after).contains(stamped.stamp))

        shutdown(ends[1], Int32(SHUT_RDWR))
        #expect(Self.received(from: ends[0]).count == 0)
    }

    private static func received(from socket: Int32) -> (count: Int32, bytes: [UInt8], stamp: Int64) {
        var buffer = [UInt8](repeating: 0, count: 8)
        var stamp: Int64 = 0
        let count = clinux_receive(socket, &buffer, buffer.count, &stamp)
        return (count, Array(buffer.prefix(max(0, Int(count)))), stamp)
    }
}
