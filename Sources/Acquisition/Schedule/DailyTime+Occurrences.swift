package import Storage

extension DailyTime {
    /// The latest instant up to `unix` at which it was this time; nil where the zone is not known.
    ///
    /// - Parameter unix: UTC in seconds since 1970, as is what is returned.
    package func latest(upTo unix: Int64, utcOffset: UTCOffset) -> Int64? {
        first(of: stride(from: 1, through: -8, by: -1), from: unix, utcOffset) { $0 <= unix }
    }

    /// The first instant after `unix` at which it will be this time; nil where the zone is not known.
    package func next(after unix: Int64, utcOffset: UTCOffset) -> Int64? {
        first(of: stride(from: -1, through: 8, by: 1), from: unix, utcOffset) { $0 > unix }
    }

    /// Of the instants on days around that of `unix` the first that is wanted.
    private func first(
        of days: StrideThrough<Int64>, from unix: Int64, _ utcOffset: UTCOffset, where isWanted: (Int64) -> Bool
    ) -> Int64? {
        guard let offset = utcOffset(timeZone, unix) else { return nil }
        let today = CivilTime.floorDivided(unix + offset, by: CivilTime.secondsPerDay).quotient
        for day in days.lazy.map({ today + $0 }) where self.days >> CivilTime.weekday(ofDay: day) & 1 == 1 {
            let local = day * CivilTime.secondsPerDay + Int64(minuteOfDay) * 60
            let instant = CivilTime.unix(ofLocal: local) { utcOffset(timeZone, $0) }
            if let instant, isWanted(instant) { return instant }
        }
        return nil
    }
}
