package import Bluetooth
package import Simulation

/// Weeks of one headset that nobody looks after: what befalls it, its host and its disk, day by day. The same plan gives the
/// same weeks.
package struct WeeksPlan: Hashable, Sendable {
    /// Decides every instant.
    package var seed: UInt64
    /// How many days it lasts; at least 1.
    package var days: Int
    /// How long a day is; tests shorten it, and with it what befalls a day.
    package var dayLength: Duration = .seconds(86_400)
    /// The headset.
    package var headset: BufferedHeadsetSpecification
    /// A defect that is planted, to see that the findings bite.
    package var defect: Defect?

    /// Defects that only weeks show.
    package enum Defect: String, Hashable, Sendable, CaseIterable {
        /// Everything that was committed stays in memory.
        case leak
        /// The history grows by rows that nobody asked for.
        case bloat
    }

    /// UTC at boottime 0 of the first boot, in nanoseconds since 1970.
    static let unixNanosecondsAtBoot: Int64 = 1_790_000_000 * 1_000_000_000
    /// When the daemon starts for the first time.
    static let begin = MonotonicTime(nanoseconds: 60_000_000_000)

    /// Creates a plan.
    ///
    /// - Parameter samplingFrequency: of the headset's eight channels, in hertz. A row takes as many bytes at any, and a
    ///   memory of 20 minutes lasts as long.
    package init(seed: UInt64 = 1, days: Int, samplingFrequency: Double = 62.5) {
        self.seed = seed
        self.days = max(1, days)
        headset = BufferedHeadsetSpecification(
            streams: [BufferedHeadsetSpecification.eeg(samplingFrequency: samplingFrequency)],
            capacity: Int(samplingFrequency * 1200))
    }

    /// When everything is over.
    package var end: MonotonicTime { Self.begin + dayLength * days }

    /// The begin of a day, from 1.
    func begin(ofDay day: Int) -> MonotonicTime { Self.begin + dayLength * (day - 1) }

    /// What befalls radio, headset, daemon and disk, in no order.
    ///
    /// Every day the headset is carried away eight times, for up to 20 minutes, and the daemon is killed once; every third day
    /// the battery is flat for up to three hours. In the middle the wall clock is corrected by a second and a half; two thirds
    /// through the disk is full for half an hour.
    package var script: [ScriptedFault] {
        var generator = SeededGenerator(seed: seed, purpose: 300)
        var script: [ScriptedFault] = []
        for day in 1...days {
            for _ in 0..<8 {
                let lasts = generator.duration(.seconds(5)...max(.seconds(5), dayLength / 72))
                script.append(ScriptedFault(at: instant(of: day, &generator), .outOfRange, for: lasts))
            }
            script.append(ScriptedFault(at: instant(of: day, &generator), .daemonKilled, for: .seconds(2)))
            guard day % 3 == 0 || days < 3 && day == days else { continue }
            let (at, lasts) = (instant(of: day, &generator), generator.duration(dayLength / 48...dayLength / 8))
            script.append(ScriptedFault(at: at, .outOfRange, for: lasts))
            // Charged and switched on again: its memory is empty.
            script.append(ScriptedFault(at: at + lasts / 2, .reboot))
        }
        script.append(ScriptedFault(at: Self.begin + dayLength * days / 2, .wallClockStep, for: .milliseconds(1500)))
        script.append(ScriptedFault(at: Self.begin + dayLength * days * 2 / 3, .diskFull, for: dayLength / 48))
        return script
    }

    /// When the host loses its power: every fifth day, for up to ten minutes. Its clock has no battery.
    package var hostReboots: [HostReboot] {
        var generator = SeededGenerator(seed: seed, purpose: 301)
        return (1...days).filter { $0 % 5 == 2 || days == 1 }.map { day in
            HostReboot(
                at: instant(of: day, &generator) - Self.begin,
                downFor: generator.duration(.seconds(30)...max(.seconds(30), dayLength / 144)),
                clock: HostClock(error: .seconds(-3600), synchronisesAfter: .seconds(90)))
        }
    }

    /// Whatever begins there has ended with the day.
    private func instant(of day: Int, _ generator: inout SeededGenerator) -> MonotonicTime {
        begin(ofDay: day) + generator.duration(dayLength / 50...dayLength * 4 / 5)
    }
}
