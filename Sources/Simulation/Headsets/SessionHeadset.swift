package import Bluetooth

/// A headset without memory that samples from a start to a stop: what it sent in between can be computed again, so that a
/// checker can compare it with what was stored.
package protocol SessionHeadset: AnyObject {
    /// Every run from start to stop, in order; the last one may go on.
    var sessions: [SampleSession] { get }

    /// What the headset sent for one instant.
    ///
    /// - Parameters:
    ///   - session: the session's index in ``sessions``.
    ///   - stream: the stream's index in the headset's list.
    ///   - channel: the channel's index in the stream.
    ///   - position: the number of sampling periods since the session's first sample.
    /// - Returns: the value as a perfect decoder gets it; nil where the headset sends nothing for the instant.
    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32?
}

/// One run of a headset from start to stop.
package struct SampleSession: Hashable, Sendable {
    /// When the headset began to sample.
    package var began: MonotonicTime
    /// When it stopped; nil while it samples.
    package var ended: MonotonicTime?
    /// By stream: the index of position 0, not reduced by the counter's modulus.
    package var firstIndexes: [Int64]
    /// By stream: samples per second of the headset's own time.
    package var samplingFrequencies: [Double]
    /// How fast the headset's own time runs.
    package var crystal = Crystal()
    /// By stream: how long after the beginning position 0 is taken, in nanoseconds of the headset's time; empty for at once.
    package var delays: [Int64] = []
    /// By stream: where on a ``SignalTape`` position 0 stands; empty where none is played.
    var tapePositions: [Int64] = []

    /// How many sampling periods of a stream have passed at an instant.
    package func position(at time: MonotonicTime, stream: Int) -> Int64 {
        let elapsed = crystal.headsetTime(at: min(time, ended ?? time)) - origin(of: stream)
        return Crystal.periods(in: elapsed, frequency: samplingFrequencies[stream])
    }

    /// When the sample at a position was taken: the first instant at which so many periods have passed.
    package func time(of position: Int64, stream: Int) -> MonotonicTime {
        crystal.instant(of: headsetTime(of: position, stream: stream))
    }

    /// The headset's own time then.
    func headsetTime(of position: Int64, stream: Int) -> Int64 {
        origin(of: stream) + Crystal.headsetTime(ofPeriods: position, frequency: samplingFrequencies[stream])
    }

    private func origin(of stream: Int) -> Int64 {
        crystal.headsetTime(at: began) + (stream < delays.count ? delays[stream] : 0)
    }
}
