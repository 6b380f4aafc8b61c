import Bluetooth
import Headsets
import Simulation
import Testing

/// A tape that begins later, or begins again, has the samples of the tape in the order of the tape.
struct TapeSectionTests {
    /// Two streams of 60 s: at 256 Hz in packets of 12, and at 17 Hz in packets of 3. A value is its position.
    private final class Tape: SignalTape {
        static let frequencies = [256.0, 17]
        static let indexesPerPacket: [Int64] = [12, 3]
        static let ends: [Int64] = [256 * 60, 17 * 60]

        let duration: Duration? = .seconds(60)

        func value(stream: Int, channel: Int, position: Int64) -> Int32? {
            (0..<Self.ends[stream]).contains(position) ? Int32(position) : nil
        }
    }

    private func makeSection(from start: Duration, repeats: Bool) -> TapeSection? {
        TapeSection(
            of: Tape(), from: start, repeats: repeats, samplingFrequencies: Tape.frequencies,
            indexesPerPacket: Tape.indexesPerPacket)
    }

    @Test("What is passed over is a whole number of packets of each stream", arguments: [0, 1, 20, 59.9])
    func passesOver(seconds: Double) throws {
        let section = try #require(makeSection(from: .seconds(seconds), repeats: false))
        for stream in 0..<2 {
            let first = Int64(try #require(section.value(stream: stream, channel: 0, position: 0)))
            let count = Tape.indexesPerPacket[stream]
            #expect(first % count == 0)
            #expect(abs(Double(first) - seconds * Tape.frequencies[stream]) <= Double(count) / 2)
            let rest = Tape.ends[stream] - first
            for position in [1, rest / 2, rest - 1] {
                #expect(section.value(stream: stream, channel: 0, position: position) == Int32(first + position))
            }
            #expect(section.value(stream: stream, channel: 0, position: rest) == nil)
            #expect(section.value(stream: stream, channel: 0, position: -1) == nil, "it begins there")
        }
        #expect(section.duration == .seconds(60) - .seconds(seconds))
    }

    @Test("A tape that is repeated never ends, and its streams stay together", arguments: [0, 13.7])
    func repeats(seconds: Double) throws {
        let section = try #require(makeSection(from: .seconds(seconds), repeats: true))
        #expect(section.duration == nil)
        for stream in 0..<2 {
            let (frequency, count) = (Tape.frequencies[stream], Tape.indexesPerPacket[stream])
            let first = try #require(section.value(stream: stream, channel: 0, position: 0))
            var (last, missing, begun) = (Int32(-1), 0, 0)
            let repetition = 60 - seconds
            for position in 0..<Int64(5 * repetition * frequency) {
                guard let value = section.value(stream: stream, channel: 0, position: position) else {
                    missing += 1
                    continue
                }
                #expect(Int64(value) % count == position % count, "in another packet")
                if value == first {
                    let nominal = Double(begun) * repetition * frequency
                    #expect(abs(Double(position) - nominal) <= Double(count), "repetition \(begun) drifts")
                    begun += 1
                } else {
                    #expect(value == last + 1, "position \(position)")
                }
                last = value
            }
            #expect(begun == 5)
            #expect(missing < 5 * Int(count), "less than a packet of each repetition")
        }
    }

    @Test("There is nothing behind a tape's end")
    func beyond() {
        #expect(makeSection(from: .seconds(60), repeats: true) == nil)
        #expect(makeSection(from: .seconds(-1), repeats: false) == nil)
    }
}
