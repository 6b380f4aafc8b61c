package import Bluetooth
import Headsets
package import Simulation

/// What `eegsync demo` plays: one headset with memory, and everything that goes wrong with it. The same plan gives the same
/// samples and the same faults in every process that plays it.
package struct DemoPlan: Hashable, Sendable {
    /// Decides everything random.
    package var seed: UInt64
    /// How long it records, in virtual seconds; the script is stretched to it.
    package var seconds: Int
    /// UTC of the beginning, in nanoseconds since 1970.
    package var startUnixNanoseconds: Int64

    /// Shorter than this the faults would overlap; longer than a day nobody watches.
    package static let secondsRange = 30...86_400
    /// The headset's name in the database.
    package static let headsetName = "demo"
    /// The name of the host boot that the demo's clock belongs to.
    package static let hostBootName = "demo"

    static let begin = MonotonicTime(nanoseconds: 60_000_000_000)
    /// How long systemd would take, and a person would notice.
    private static let restartDelay: Duration = .seconds(2)

    /// Creates a plan.
    package init(seed: UInt64, seconds: Int, startUnixNanoseconds: Int64) {
        self.seed = seed
        self.seconds = min(max(seconds, Self.secondsRange.lowerBound), Self.secondsRange.upperBound)
        self.startUnixNanoseconds = startUnixNanoseconds
    }

    /// When the acquisition process is killed: never right after a commit, so that samples are in its memory.
    package var killTime: MonotonicTime { instant(ofMinute: 33) + .milliseconds(640) }
    /// When it starts again.
    package var restartTime: MonotonicTime { killTime + Self.restartDelay }
    /// When the operator stops the recording.
    package var end: MonotonicTime { Self.begin + .seconds(seconds) }

    /// Seconds since the beginning.
    package static func seconds(at time: MonotonicTime) -> Double { Double((time - begin).nanoseconds) / 1e9 }

    /// The faults of the headset and the radio.
    package var script: [ScriptedFault] {
        [
            ScriptedFault(at: instant(ofMinute: 5), .duplicatedNotification, for: .seconds(2)),
            ScriptedFault(at: instant(ofMinute: 9) + .milliseconds(250), .lostNotification, for: .milliseconds(300)),
            ScriptedFault(at: instant(ofMinute: 18), .outOfRange, for: .seconds(6)),
            ScriptedFault(at: instant(ofMinute: 45), .reboot),
        ]
    }

    /// Eight channels at 250 Hz; the counter begins so that it wraps once.
    package var headset: HeadsetSpecification {
        var memory = BufferedHeadsetSpecification()
        let untilWrap = (instant(ofMinute: 13) - Self.begin).nanoseconds / 4_000_000
        memory.firstIndex = UInt32(truncatingIfNeeded: (Int64(1) << 32) - untilWrap)
        memory.firstIndexAfterReboot = 0
        return .buffered(number: 1, memory)
    }

    var profile: any HeadsetProfile { BufferedEEGProfile() }

    /// A second of a minute, stretched to the length of the recording.
    private func instant(ofMinute second: Int) -> MonotonicTime {
        Self.begin + .milliseconds(Int64(second * seconds) * 1000 / 60)
    }
}

/// One line of the demo's timeline.
package struct DemoEvent: Codable, Hashable, Sendable {
    /// Who did it.
    package enum Actor: String, Codable, Hashable, Sendable {
        /// The headset, the radio, or a person.
        case world
        /// This program.
        case eegsync
    }

    /// Seconds since the beginning.
    package var seconds: Double
    /// Who did it.
    package var actor: Actor
    /// What it was, in one word: the name of a fault, or `streaming`, `linkLost`, `gapOpened`, `gap`, `recovered`, ...
    package var kind: String
    /// What it was, for people.
    package var text: String
    /// The layer that found the headset, where it came back.
    package var layer: String?
    /// How long that took from the instant at which everything was in order, in milliseconds.
    package var latencyMilliseconds: Double?

    /// Creates a line.
    package init(
        seconds: Double, actor: Actor, kind: String, text: String, layer: String? = nil, latencyMilliseconds: Double? = nil
    ) {
        self.seconds = seconds
        self.actor = actor
        self.kind = kind
        self.text = text
        self.layer = layer
        self.latencyMilliseconds = latencyMilliseconds
    }
}
