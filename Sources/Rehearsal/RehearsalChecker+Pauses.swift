import Bluetooth
import Simulation

/// While a person wants nothing recorded, no headset streams.
extension RehearsalChecker {
    /// How long a daemon may take to let all headsets go: it looks for wishes several times a second, and each headset is
    /// commanded to stop.
    private static let pauseGrace = Duration.seconds(10)

    /// A person has begun, or ended, a pause.
    mutating func pauseRequested(_ isPaused: Bool, at now: MonotonicTime) {
        pausedSince = isPaused ? now : nil
        isPauseBroken = false
    }

    /// Looks whether a headset streams although it should not.
    ///
    /// - Parameter began: when the daemon was started.
    mutating func checkPause(
        _ world: SimulatedWorld, daemonSince began: MonotonicTime, at now: MonotonicTime, _ report: inout RehearsalReport
    ) {
        guard let pausedSince, !isPauseBroken, now - max(pausedSince, began) > Self.pauseGrace else { return }
        for (headset, truth) in zip(plan.headsets, world.headsets) where truth.isStreamingLive {
            isPauseBroken = true
            add(
                .stoppedStaysStopped, "\(headset.name) streams \(now - pausedSince) after all recordings were paused", at: now,
                &report)
        }
    }
}
