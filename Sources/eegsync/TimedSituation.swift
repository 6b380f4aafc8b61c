import Acquisition
import Bluetooth
import Storage

/// When a headset's recording ends by itself, and when the next one begins.
struct TimedSituation: Encodable {
    /// UTC; nil for never.
    var ends: String?
    var endsUnixNanoseconds: Int64?
    var begins: String?
    var beginsUnixNanoseconds: Int64?

    /// - Parameters:
    ///   - end: of the recording that runs.
    ///   - schedules: of the headset.
    ///   - offset: UTC minus boottime, in nanoseconds.
    init(end: StopRequest?, schedules: [RecordingSchedule], now: MonotonicTime, offset: Int64) {
        endsUnixNanoseconds = end.flatMap { $0.isSameHostBoot ? $0.at.nanoseconds + offset : $0.unixNanoseconds }
        let wall = CivilTime.floorDivided(now.nanoseconds + offset, by: 1_000_000_000).quotient
        let next = schedules.compactMap {
            $0.time.next(after: max(wall, $0.createdUnix), utcOffset: ZoneDatabase.utcOffset)
        }.min()
        beginsUnixNanoseconds = next.map { $0 * 1_000_000_000 }
        ends = endsUnixNanoseconds.map(Quantity.utc)
        begins = beginsUnixNanoseconds.map(Quantity.utc)
    }

    /// Such as `ends 2026-03-02 06:00 UTC+1`, to stand beside what is known of the headset.
    func words(clock: WallClock) -> [String] {
        [
            endsUnixNanoseconds.map { "ends \(clock.minuteText($0))" },
            beginsUnixNanoseconds.map { "next recording \(clock.minuteText($0))" },
        ].compactMap(\.self)
    }
}
