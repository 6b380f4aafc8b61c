/// What is known of the machine and of the process that acquires, for figures.
package struct HostFigures: Hashable, Sendable {
    /// The version of the program that looks.
    package var version = ""
    /// False where the database cannot be read: then nothing else of it is known.
    package var isReadable = true
    package var isRunning: Bool?
    /// UTC seconds since 1970; nil where it does not run.
    package var startedUnixSeconds: Double?
    package var starts: Int64?
    package var deathsLastDay: Int64?
    package var committedBatches: Int64?
    /// How long ago the newest row was taken, or the process was last known to be alive.
    package var lastSignSeconds: Double?
    /// False where a process runs and stores nothing of what it should.
    package var isStoring: Bool?
    package var isPaused: Bool?
    package var databaseBytes: Int64?
    package var logBytes: Int64?
    package var freeBytes: Int64?
    package var usableBytes: Int64?
    package var daysLeft: Double?
    package var writtenBytesPerHour: Double?
    package var isClockSynchronised: Bool?
    package var clockSteps: Int64?

    package init() {}

    /// The families, in the order in which people read them.
    package var families: [MetricFamily] {
        func gauge(_ name: String, unit: String? = nil, _ help: String, _ value: Double?) -> MetricFamily {
            var family = MetricFamily("eegsync_" + name, .gauge, unit: unit, help: help)
            family.add(value)
            return family
        }
        func counter(_ name: String, _ help: String, _ value: Int64?) -> MetricFamily {
            var family = MetricFamily("eegsync_" + name, .counter, help: help)
            family.add(value)
            return family
        }
        func number(_ value: Bool?) -> Double? { value.map { $0 ? 1 : 0 } }
        func number(_ value: Int64?) -> Double? { value.map(Double.init) }
        var build = MetricFamily("eegsync_build_info", .gauge, help: "The version of the program that prints these figures.")
        build.add(1.0, MetricFamily.Label("version", version))
        return [
            build,
            gauge("database_readable", "Whether the database can be read; if not, nothing else is known.", number(isReadable)),
            gauge("daemon_running", "Whether a process acquires into the database.", number(isRunning)),
            gauge(
                "daemon_start_time_seconds", unit: "seconds", "When that process began, since 1970 in UTC.",
                startedUnixSeconds),
            counter("daemon_starts", "Processes that have acquired into the database.", starts),
            gauge("daemon_deaths_last_day", "Processes that have died within the last day.", number(deathsLastDay)),
            counter(
                "committed_batches", "Batches that the process has committed; it begins anew with each process.",
                committedBatches),
            gauge(
                "last_sign_age_seconds", unit: "seconds",
                "How long ago the newest stored sample was taken, or the process was known to live.", lastSignSeconds),
            gauge("storing", "Whether what should be stored is stored, as far as can be seen.", number(isStoring)),
            gauge("paused", "Whether a person wants nothing to be recorded.", number(isPaused)),
            gauge("database_bytes", unit: "bytes", "The database with its write-ahead log.", number(databaseBytes)),
            gauge("wal_bytes", unit: "bytes", "The write-ahead log.", number(logBytes)),
            gauge("disk_free_bytes", unit: "bytes", "What is free on the disk of the database.", number(freeBytes)),
            gauge("disk_usable_bytes", unit: "bytes", "The same without the reserve.", number(usableBytes)),
            gauge(
                "disk_left_seconds", unit: "seconds", "How long the disk lasts while all that is wanted streams.",
                daysLeft.map { $0 * 86_400 }),
            gauge(
                "disk_written_bytes_per_hour", "What all programs write to that disk in an hour, since the process began.",
                writtenBytesPerHour),
            gauge(
                "clock_synchronised", "Whether the kernel says that the wall clock is synchronised.",
                number(isClockSynchronised)),
            counter("clock_steps", "How often the wall clock was set by 0.1 s or more while a process acquired.", clockSteps),
        ]
    }
}
