import Bluetooth
import Testing

@testable import eegsync

/// How often the daemon says that the write-ahead log grows.
@Suite struct WriteAheadLogWatchTests {
    private static func log(_ pid: Int32, bytes: Int64 = 100_000_000) -> GrownLog {
        GrownLog(bytes: bytes, holders: [GrownLog.Holder(pid: pid, name: "sqlite3", hasTransaction: true)])
    }

    private static func at(_ seconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(seconds) }

    @Test("An occurrence is told once, its end too")
    func once() {
        var watch = WriteAheadLogWatch()
        #expect(watch.take(nil, at: Self.at(0)) == nil)
        #expect(watch.take(Self.log(812), at: Self.at(10)) == .grown(Self.log(812)))
        for second in stride(from: 20, to: 3600, by: 10) {
            #expect(watch.take(Self.log(812, bytes: 100_000_000 + Int64(second)), at: Self.at(second)) == nil)
        }
        #expect(watch.take(nil, at: Self.at(3600)) == .shrunk)
        #expect(watch.take(nil, at: Self.at(3700)) == nil)
        #expect(watch.take(Self.log(812), at: Self.at(3800)) == .grown(Self.log(812)))
    }

    @Test("Another reader is told, at most once a minute; one that stays, some times a day")
    func others() {
        var watch = WriteAheadLogWatch()
        #expect(watch.take(Self.log(1), at: Self.at(0)) != nil)
        #expect(watch.take(Self.log(2), at: Self.at(10)) == nil)
        #expect(watch.take(Self.log(2), at: Self.at(60)) == .grown(Self.log(2)))
        let day = stride(from: 70, to: 86_400, by: 10).count { watch.take(Self.log(2), at: Self.at($0)) != nil }
        #expect(day == 3)
    }
}
