/// What was recorded of a headset, for one to send it again instead of ``SimulatedSignal``.
///
/// A headset begins it with its first sample, and goes on with its own time, whether or not it samples. A packet goes out where
/// the tape holds all values of it.
package protocol SignalTape: AnyObject {
    /// How long it lasts; nil for without end.
    var duration: Duration? { get }

    /// A value, as the headset sends it; nil where the tape holds none.
    ///
    /// - Parameters:
    ///   - stream: the stream's index in the headset's list.
    ///   - channel: the channel's index in the stream.
    ///   - position: the number of sampling periods since the tape's beginning; any number.
    func value(stream: Int, channel: Int, position: Int64) -> Int32?
}

extension SignalTape {
    /// True where it holds everything within.
    func isWhole(stream: Int, channels: Range<Int>, positions: Range<Int64>) -> Bool {
        positions.allSatisfy { position in
            channels.allSatisfy { value(stream: stream, channel: $0, position: position) != nil }
        }
    }
}

extension SampleSession {
    /// Sets where on a tape the session begins.
    ///
    /// - Parameters:
    ///   - first: the headset's first session, with which the tape begins; nil for this one.
    ///   - specification: what the headset is like. A sample stands on the tape where its remainder by the indexes of a packet
    ///     is that of its index, so that packets are those that were recorded.
    mutating func wind(to first: SampleSession?, _ specification: HeadsetSpecification) {
        let elapsed = crystal.headsetTime(at: began) - crystal.headsetTime(at: first?.began ?? began)
        tapePositions = firstIndexes.indices.map { stream in
            let count = specification.indexesPerPacket[stream]
            let nominal = Crystal.periods(in: elapsed, frequency: samplingFrequencies[stream])
            return nominal + Self.remainder(firstIndexes[stream] - nominal, of: count)
        }
    }

    /// 0 ..< count.
    private static func remainder(_ number: Int64, of count: Int64) -> Int64 { (number % count + count) % count }
}
