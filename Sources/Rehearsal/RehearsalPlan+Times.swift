import Simulation
import Storage

/// What begins and ends by itself.
extension RehearsalPlan {
    /// The operator says when a recording is to end, and has the next one begin and end by a schedule.
    package struct TimedRecording: Hashable, Sendable {
        /// The headset's index in ``RehearsalPlan/headsets``.
        package var headset: Int
        /// When the operator says so.
        package var saidAt: Duration
        /// So long after that the recording of then ends.
        package var endsAfter: Duration
        /// The schedule begins with the first full minute of UTC after that end, and lasts for so many seconds.
        package var scheduledSeconds: Int64
        /// When the operator starts a recording again, where none is open then.
        package var startedAt: Duration

        /// Creates a timed recording.
        package init(
            headset: Int = 0, saidAt: Duration, endsAfter: Duration, scheduledSeconds: Int64, startedAt: Duration = .seconds(85)
        ) {
            self.headset = headset
            self.saidAt = saidAt
            self.endsAfter = endsAfter
            self.scheduledSeconds = scheduledSeconds
            self.startedAt = startedAt
        }
    }

    /// In one seed of three of those in which no operator stops by hand.
    mutating func drawTimes() {
        var generator = SeededGenerator(seed: seed, purpose: 107)
        guard generator.below(3) == 0, operatorStops.isEmpty else { return }
        timedRecording = TimedRecording(
            saidAt: .milliseconds(Int64(2_000 + generator.below(10_000))),
            endsAfter: .milliseconds(Int64(1_000 + generator.below(20_000))),
            scheduledSeconds: Int64(5 + generator.below(30)))
    }
}
