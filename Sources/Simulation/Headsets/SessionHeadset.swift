public import Bluetooth

/// A headset without memory that samples from a start to a stop: what it sent in between can be computed again, so that a
/// checker can compare it with what was stored.
public protocol SessionHeadset: AnyObject {
    /// Every run from start to stop, in order; the last one may go on.
    var sessions: [SampleSession] { get }

    /// What the headset sent for one instant.
    ///
    /// - Parameters:
    ///   - session: the session's place in ``sessions``.
    ///   - stream: the stream's place in the headset's list.
    ///   - channel: the channel's place in the stream.
    ///   - position: the number of sampling periods since the session's first sample.
    /// - Returns: the value as a perfect decoder gets it; nil where the headset sends nothing for the instant.
    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32?
}

/// One run of a headset from start to stop.
public struct SampleSession: Hashable, Sendable {
    /// When the headset began to sample.
    public var began: MonotonicTime
    /// When it stopped; nil while it samples.
    public var ended: MonotonicTime?
    /// By stream: the index of position 0, not reduced by the counter's modulus.
    public var firstIndexes: [Int64]
    /// By stream: samples per second, as the headset's crystal makes them.
    public var samplingFrequencies: [Double]

    /// How many sampling periods of a stream have passed at an instant.
    public func position(at time: MonotonicTime, stream: Int) -> Int64 {
        Int64(Double(min(time, ended ?? time).nanoseconds - began.nanoseconds) * samplingFrequencies[stream] / 1e9)
    }

    /// When the sample at a position was taken, in nanoseconds.
    func time(of position: Int64, stream: Int) -> Int64 {
        began.nanoseconds + Int64((Double(position) * 1e9 / samplingFrequencies[stream]).rounded(.up))
    }
}
