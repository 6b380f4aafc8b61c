package import Bluetooth

/// What a headset did between two restarts: the truth that a checker compares with what was stored.
package struct BootRecord: Hashable, Sendable {
    /// The boot identifier.
    package var bootIdentifier: UInt32
    /// When the headset powered up: the time of each stream's first index.
    package var began: MonotonicTime
    /// When the headset restarted or lost power; nil for the present boot.
    package var ended: MonotonicTime?
    /// The streams, in the headset's order.
    package var streams: [StreamRecord]
    /// How fast the headset's own time runs.
    package var crystal: Crystal

    /// What one stream did. Positions count sampling periods since power-on.
    package struct StreamRecord: Hashable, Sendable {
        /// The index of position 0.
        package var firstIndex: UInt32
        /// Samples per second of the headset's own time.
        package var samplingFrequency: Double
        /// The positions at which samples were taken: ranges in order; the last one is open while the headset samples.
        package var runs: [Run]

        /// Positions at which samples were taken without a pause.
        package struct Run: Hashable, Sendable {
            /// The first position.
            package var start: Int64
            /// The position after the last; nil while the headset samples.
            package var end: Int64?
        }

        /// The index of a position, as the headset sends it.
        package func index(at position: Int64) -> UInt32 { firstIndex &+ UInt32(truncatingIfNeeded: position) }

        /// The position that lies nearest to `reference` among those with the index.
        package func position(of index: UInt32, near reference: Int64) -> Int64 {
            reference + Int64(Int32(bitPattern: index &- self.index(at: reference)))
        }
    }

    /// The time at which the sample at a position was taken.
    package func time(of position: Int64, stream: Int) -> MonotonicTime {
        let elapsed = Crystal.headsetTime(ofPeriods: position, frequency: streams[stream].samplingFrequency)
        return crystal.instant(of: crystal.headsetTime(at: began) + elapsed)
    }

    /// How many sampling periods had passed at an instant: the position of the next sample.
    package func position(at time: MonotonicTime, stream: Int) -> Int64 {
        let elapsed = crystal.headsetTime(at: min(time, ended ?? time)) - crystal.headsetTime(at: began)
        return elapsed < 0 ? 0 : Crystal.periods(in: elapsed, frequency: streams[stream].samplingFrequency) + 1
    }
}

/// An ACKNOWLEDGE that a headset received: the host says that all samples before an index are on disk.
package struct Acknowledgement: Hashable, Sendable {
    /// When it arrived.
    package var time: MonotonicTime
    /// The boot identifier of the headset when it arrived.
    package var bootIdentifier: UInt32
    /// The stream's index in the headset's list.
    package var stream: Int
    /// The index, as sent.
    package var upTo: UInt32
}
