import Bluetooth
import Foundation
import Headsets
import Simulation
import Testing

@testable import Assembly

/// What a ThinkGear stream loses on its way, as the ledger has it: its only numbers are the marks between its frames.
struct ThinkGearLossTests {
    /// Takes what a piece of the stream held.
    private static func take(_ piece: [UInt8], _ decoder: inout ThinkGearDecoder, _ test: inout StreamUnderTest) {
        var decoded = Decoded()
        decoder.decode(piece, from: .serialPort, into: &decoded)
        for item in decoded.items {
            switch item {
            case .samples(let block) where block.stream == ThinkGearProfile.eeg:
                test.stream.take(block, decoded.values[block.values], at: test.now, in: 1, hasRoom: true)
            case .damaged(ThinkGearProfile.eeg, let count): test.stream.takeDamaged(count: count)
            case .periodMark(ThinkGearProfile.eeg, let period, let block):
                test.stream.takeMark(period: period, blockLength: block, at: test.now)
            default: break
            }
        }
    }

    /// The value of the sample that the module took as its number `truth`: it repeats itself after a minute.
    private static func value(_ truth: Int64) -> Int16 { Int16(truth % 30_000) }

    /// The bytes that a sample adds; the powers stand behind each 512th.
    private static func frames(_ truth: Int64) -> [UInt8] {
        let raw = ThinkGearFrame.raw(value(truth)).encoded()
        guard truth % 512 == 511 else { return raw }
        return raw + ThinkGearFrame.power(poorSignal: 0, power: [], attention: 50, meditation: 60).encoded()
    }

    /// A link that carries the stream in pieces, of which it drops some.
    private static func run(
        seconds: Int64, pieces lengths: ClosedRange<UInt64>, loss: Double, stalls: Bool = false, seed: UInt64
    ) -> StreamUnderTest {
        var random = SeededGenerator(seed: seed)
        var test = StreamUnderTest(modulus: nil, channels: 1, frequency: 512)
        var decoder = ThinkGearDecoder()
        var bytes: [UInt8] = []
        let (begin, end) = (test.now, seconds * 512)
        var (truth, commitTruth) = (Int64(0), Int64(0))
        test.begin(rule: .connection)
        while truth < end {
            let length = Int(lengths.lowerBound + random.below(lengths.upperBound - lengths.lowerBound + 1))
            while truth < end, bytes.count < length {
                bytes += frames(truth)
                truth += 1
            }
            // What is taken in a second and a half of each half a minute waits for its end.
            let phase = truth % (30 * 512)
            let due = stalls && truth > 5000 && phase < 768 ? truth - phase + 768 : truth
            test.now = begin + .nanoseconds(due * 1_953_125)
            let piece = Array(bytes.prefix(length))
            bytes.removeFirst(piece.count)
            // The last marks arrive, so that what was lost before them is known.
            let isLost = truth > 2000 && truth < end - 1500 && random.strikes(loss)
            if !isLost { take(piece, &decoder, &test) }
            if truth - commitTruth > 60 * 512 {
                commitTruth = truth
                test.commit()
            }
        }
        take(bytes, &decoder, &test)
        test.stream.endRecording(at: test.now)
        test.commit()
        return test
    }

    private static func missing(_ test: StreamUnderTest) -> Int64 {
        test.database.wholeGaps.reduce(0) { $0 + ($1.gap.count ?? 0) }
    }

    @Test(
        "What is lost with pieces of any length is in the ledger, to some samples, within a second of where it was lost",
        arguments: [UInt64(20)...20, 1...200], [0.001, 0.01, 0.03])
    func losses(pieces: ClosedRange<UInt64>, loss: Double) {
        for seed in UInt64(1)...3 {
            let test = Self.run(seconds: 180, pieces: pieces, loss: loss, stalls: seed == 3, seed: seed)
            let lost = 180 * 512 - Int64(test.database.rows.count)
            #expect(lost > 0 && abs(Self.missing(test) - lost) <= 16, "\(lost) lost, \(Self.missing(test)) in the ledger")
            #expect(test.database.problems.isEmpty)
            var displaced = 0
            for (n, row) in test.database.rows {
                let distance = (Int64(row[0] ?? 0) - n % 30_000 + 45_000) % 30_000 - 15_000
                if abs(distance) > 512 { displaced += 1 }
            }
            #expect(displaced == 0)
        }
    }

    @Test(
        "Without a loss none is entered, however the stream is cut, and whatever waits",
        arguments: [UInt64(20)...20, 1...200])
    func none(pieces: ClosedRange<UInt64>) {
        let test = Self.run(seconds: 180, pieces: pieces, loss: 0, stalls: true, seed: 4)
        #expect(test.database.gaps.isEmpty && test.database.problems.isEmpty)
        #expect(test.database.rows.count == 180 * 512)
    }

    @Test("A real recording in which the module began anew, after 262 samples, lacks nothing", arguments: [20, 128])
    func recording(length: Int) throws {
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "../shared/data/mindwave-rfcomm-baseline.bytes").standardizedFileURL
        guard let bytes = try? Array(Data(contentsOf: file)) else {
            return print("note: \(file.path) is absent; the test on it is skipped")
        }
        var test = StreamUnderTest(modulus: nil, channels: 1, frequency: 512)
        var decoder = ThinkGearDecoder()
        let begin = test.now
        test.begin(rule: .connection)
        for start in stride(from: 0, to: bytes.count, by: length) {
            let end = min(bytes.count, start + length)
            test.now = begin + .seconds(Double(end) / Double(ThinkGearProfile.nominalBytesPerSecond))
            Self.take(Array(bytes[start..<end]), &decoder, &test)
        }
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.database.gaps.isEmpty && test.database.rows.count == 165_093)
    }
}
