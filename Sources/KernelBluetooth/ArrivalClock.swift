package import Bluetooth
import CLinux

/// Says when packets arrived, from the time stamps that the kernel gives them as the adapter hands them over
/// (`hci_recv_frame`): on the way to this process a packet waits for the kernel's own queues and for the scheduler, which is
/// most of its latency. What came in several pieces, from an adapter without long packets, has the time at which it was read.
///
/// The stamps are of the wall clock, which steps and which nothing here may depend on. So both clocks are read right before the
/// packets, and a stamp counts only as the age of its packet. Where the wall clock has moved against the other one since the
/// last time, or the age makes no sense, the packet arrived when it was read, as if it had no stamp.
package struct ArrivalClock {
    /// How old a packet may be, in nanoseconds.
    private let mostAge: Int64
    /// By how much the wall clock may move against the other one from one reading to the next, in nanoseconds. Slewing moves it
    /// by 0.5 ms in a second (adjtimex(2)); a step that is smaller than this moves nothing by more than this.
    private static let mostDrift: Int64 = 1_000_000

    private var wallClock: Int64 = 0
    private var bootClock: Int64 = 0
    /// Wall clock less boot clock at the last reading; nil before the first.
    private var offset: Int64?
    private var isTrusted = false

    /// - Parameter mostAge: how old a packet may be, in nanoseconds. By default 0.1 s: older ones of a headset have waited for
    ///   a process that was stopped, and the headset is not silent for that.
    package init(mostAge: Int64 = 100_000_000) { self.mostAge = mostAge }

    /// Reads both clocks: to be called before packets are read.
    ///
    /// This process may have to wait between the two: the wall clock is read first, so that a packet then seems to have come
    /// late, as one that nobody stamped, and never early, which the time map would believe. A reading that does not agree with
    /// the one before is repeated.
    package mutating func readClocks(
        _ readings: () -> (wallClock: Int64, bootClock: Int64) = {
            (clinux_realtime_nanoseconds(), clinux_boottime_nanoseconds())
        }
    ) {
        let known = offset
        for _ in 0..<2 {
            offset = known
            let (wallClock, bootClock) = readings()
            read(wallClock: wallClock, bootClock: bootClock)
            if isTrusted || known == nil { return }
        }
    }

    /// The same with given readings, once.
    mutating func read(wallClock: Int64, bootClock: Int64) {
        let newOffset = wallClock - bootClock
        isTrusted = offset.map { abs(newOffset - $0) <= Self.mostDrift } ?? false
        offset = newOffset
        self.wallClock = wallClock
        self.bootClock = bootClock
    }

    /// When a packet arrived that was read just now.
    ///
    /// - Parameters:
    ///   - stamp: nanoseconds of the wall clock; -1 for none.
    ///   - readTime: when it was read, in nanoseconds since the boot; asked only where the stamp does not help.
    package func arrival(
        stamp: Int64, readTime: @autoclosure () -> Int64 = clinux_boottime_nanoseconds()
    ) -> MonotonicTime {
        let age = wallClock - stamp
        // A packet may have arrived after the clocks were read.
        let isSensible = stamp >= 0 && isTrusted && abs(age) <= mostAge
        return MonotonicTime(nanoseconds: isSensible ? bootClock - age : readTime())
    }
}
