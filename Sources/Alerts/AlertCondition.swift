/// What a rule watches, with its limits.
package enum AlertCondition: Hashable, Sendable {
    /// A recording is wanted, and no sample of its headset was committed.
    case noSamples
    /// The headset's battery, 0 ... 100 %.
    case batteryBelow(percent: Double)
    /// So many channels or more are without contact, flat or at the end of their range.
    case contactBad(channels: Int)
    /// So much of the samples of the last ten minutes is missing, 0 ... 100 %.
    case gapRate(percent: Double)
    /// The disk lasts for fewer days while everything that is wanted streams.
    case diskDays(Double)
    /// The machine's wall clock is not synchronised.
    case clockUnsynchronised
    /// `eegsync run` has died, or the machine with it, so many times within that long.
    case restarts(count: Int, within: Duration)
    /// A headset was let go because it breaks a rule.
    case quarantined
    /// The warmest of the machine's thermal zones, in degrees Celsius.
    case temperature(celsius: Double)
    /// The power supply of a Raspberry Pi is too weak.
    case undervoltage
    /// The database cannot be read, so that nothing else about headsets is known.
    case databaseUnreadable

    /// The kinds of conditions by the words of the configuration.
    package enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
        case noSamples = "no_samples"
        case batteryBelow = "battery_below"
        case contactBad = "contact_bad"
        case gapRate = "gap_rate"
        case diskDays = "disk_days"
        case clockUnsynchronised = "clock_unsynchronised"
        case restarts
        case quarantined
        case temperature
        case undervoltage
        case databaseUnreadable = "database_unreadable"

        /// True where each headset is judged by itself.
        package var concernsHeadsets: Bool {
            switch self {
            case .noSamples, .batteryBelow, .contactBad, .gapRate, .quarantined: true
            case .diskDays, .clockUnsynchronised, .restarts, .temperature, .undervoltage, .databaseUnreadable: false
            }
        }
    }

    /// Its kind.
    package var kind: Kind {
        switch self {
        case .noSamples: .noSamples
        case .batteryBelow: .batteryBelow
        case .contactBad: .contactBad
        case .gapRate: .gapRate
        case .diskDays: .diskDays
        case .clockUnsynchronised: .clockUnsynchronised
        case .restarts: .restarts
        case .quarantined: .quarantined
        case .temperature: .temperature
        case .undervoltage: .undervoltage
        case .databaseUnreadable: .databaseUnreadable
        }
    }

    /// What it watches for, in words that complete "raised when ...".
    package var words: String {
        switch self {
        case .noSamples: "no samples are committed"
        case .batteryBelow(let percent): "the battery is below \(percent.short) %"
        case .contactBad(1): "a channel has no contact"
        case .contactBad(let channels): "\(channels) channels have no contact"
        case .gapRate(let percent): "\(percent.short) % of ten minutes are missing"
        case .diskDays(let days): "the disk lasts for less than \(days.short) days"
        case .clockUnsynchronised: "the clock is not synchronised"
        case .restarts(let count, let within): "eegsync run died \(count) times in \(within.inWords)"
        case .quarantined: "a headset is quarantined"
        case .temperature(let celsius): "the machine is at \(celsius.short) °C"
        case .undervoltage: "the power supply is too weak"
        case .databaseUnreadable: "the database cannot be read"
        }
    }
}
