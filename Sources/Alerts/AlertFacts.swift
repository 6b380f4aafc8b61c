package import Bluetooth

/// How things stand at one instant, as far as rules look at it. What is not known is nil, and changes no alert.
package struct AlertFacts: Hashable, Sendable {
    /// Why the database cannot be read; nil where it can.
    package var databaseProblem: String?
    /// The headsets whose recording is wanted; nil where the database cannot be read.
    package var headsets: [WatchedHeadset]?
    /// Whether a person wants nothing recorded for a while.
    package var isPaused = false
    /// How long the disk lasts while everything that is wanted streams, in days.
    package var diskDays: Double?
    /// What is free on the disk, in bytes.
    package var freeBytes: Int64?
    package var isClockSynchronised: Bool?
    /// How long ago each start of `eegsync run` was before which an earlier one had not ended in order; a thousand at most.
    package var restarts: [Duration]?
    /// The warmest thermal zone.
    package var temperatureCelsius: Double?
    /// What the Raspberry Pi's firmware says of its power supply.
    package var isUndervoltage: Bool?

    /// Creates facts of which nothing is known.
    package init() {}
}

/// What rules look at of a headset whose recording is wanted.
package struct WatchedHeadset: Hashable, Sendable {
    package var name: String
    /// What it does or waits for; completes "left ...".
    package var situation: String
    /// What a person can do about that.
    package var remedy: String?
    /// For how long no sample was committed: since the newest one was taken, or since one was wanted, whatever is shorter. Of
    /// several streams the one that stands still for longest.
    package var silence: Duration?
    /// The streams that stand still while others flow.
    package var silentStreams: [String] = []
    /// 0 ... 100 %, as reported last.
    package var batteryPercent: Double?
    /// The channels without contact, flat or railed, such as `TP9 is flat`; nil where nothing flows to be looked at.
    package var badContacts: [String]?
    /// The missing part of the last ten minutes of samples, 0 ... 1; nil where there are too few.
    package var missingFraction: Double?
    package var isQuarantined = false

    /// Creates what is known of a headset.
    package init(name: String, situation: String, remedy: String? = nil) {
        self.name = name
        self.situation = situation
        self.remedy = remedy
    }
}

/// An instant on both clocks: durations are counted on the one that never steps, people read the other.
package struct AlertInstant: Hashable, Sendable {
    package var time: MonotonicTime
    /// UTC nanoseconds since 1970, as far as the machine knows.
    package var unixNanoseconds: Int64

    /// Creates an instant.
    package init(time: MonotonicTime, unixNanoseconds: Int64) {
        self.time = time
        self.unixNanoseconds = unixNanoseconds
    }
}
