/// A tape from an instant on, once or again and again.
///
/// A sample stands at the same remainder by the indexes of a packet as on the tape, so that packets are those that were
/// recorded; what is passed over, and the beginning of each repetition, is off by less than a packet for that.
package final class TapeSection: SignalTape {
    /// How long it lasts; nil for without end.
    package let duration: Duration?

    private let tape: any SignalTape
    private let start: Double
    /// From there to the tape's end, in seconds.
    private let length: Double
    private let streams: [Stream]

    private struct Stream {
        let samplingFrequency: Double
        let indexesPerPacket: Int64

        /// The first position of a packet, near an instant.
        func position(at seconds: Double) -> Int64 {
            Int64((seconds * samplingFrequency / Double(indexesPerPacket)).rounded()) * indexesPerPacket
        }
    }

    /// - Parameters:
    ///   - tape: one that ends.
    ///   - start: 0 ..< the tape's duration.
    ///   - repeats: true where it begins again each time that it ends.
    ///   - samplingFrequencies: by stream, in Hz.
    ///   - indexesPerPacket: by stream; one that is not there has 1.
    /// - Returns: nil where the start is beyond the tape's end.
    package init?(
        of tape: any SignalTape, from start: Duration, repeats: Bool, samplingFrequencies: [Double], indexesPerPacket: [Int64]
    ) {
        guard start >= .zero, let whole = tape.duration, start < whole else { return nil }
        self.tape = tape
        self.start = start / .seconds(1)
        length = (whole - start) / .seconds(1)
        duration = repeats ? nil : whole - start
        streams = samplingFrequencies.enumerated().map { index, frequency in
            Stream(
                samplingFrequency: frequency,
                indexesPerPacket: indexesPerPacket.indices.contains(index) ? indexesPerPacket[index] : 1)
        }
    }

    package func value(stream index: Int, channel: Int, position: Int64) -> Int32? {
        guard streams.indices.contains(index), position >= 0 else { return nil }
        let stream = streams[index]
        var begin: Int64 = 0
        if duration == nil {
            var pass = (Double(position) / stream.samplingFrequency / length).rounded(.down)
            // The beginning of a repetition is a packet's, which the quotient does not know.
            if stream.position(at: (pass + 1) * length) <= position { pass += 1 }
            if stream.position(at: pass * length) > position { pass -= 1 }
            begin = stream.position(at: pass * length)
        }
        return tape.value(stream: index, channel: channel, position: position - begin + stream.position(at: start))
    }
}
