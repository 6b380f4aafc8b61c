import Bluetooth
import Foundation
import Headsets
import Simulation
import Testing

/// 322 s of a real MindWave (akloster/python-mindwave, BSD); 165,093 raw and 322 power frames, none damaged.
@Suite("ThinkGear recording")
struct ThinkGearRecordingTests {
    private static let rawCount = 165_093
    private static let powerCount = 322

    /// The recording's bytes, or nil on a machine without it.
    private static let recording: [UInt8]? = {
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "../shared/data/mindwave-rfcomm-baseline.bytes").standardizedFileURL
        guard let data = try? Data(contentsOf: file) else {
            print("note: \(file.path) is absent; the tests on it are skipped")
            return nil
        }
        return Array(data)
    }()

    /// What was decoded, laid out by stream: a value, or nil for each sample that `.damaged` told of.
    private struct Layout {
        var raw: [Int32?] = []
        var power: [[Int32]?] = []
        var discardedByteCount = 0
    }

    private static func layout(
        of bytes: [UInt8], cutBy seed: UInt64, dropping dropped: (DecodedItem) -> Bool = { _ in false }
    ) -> Layout {
        var generator = SeededGenerator(seed: seed)
        var decoder = ThinkGearDecoder()
        var decoded = Decoded()
        var layout = Layout()
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + Int.random(in: 1...400, using: &generator))
            decoder.decode(Array(bytes[position..<end]), from: .serialPort, into: &decoded)
            for item in decoded.items where !dropped(item) {
                switch item {
                case .samples(let block) where block.stream == ThinkGearProfile.eeg:
                    layout.raw += decoded.values[block.values].map { $0 }
                case .samples(let block) where block.stream == ThinkGearProfile.power:
                    layout.power.append(Array(decoded.values[block.values]))
                case .damaged(ThinkGearProfile.eeg, let count): layout.raw += [Int32?](repeating: nil, count: count)
                case .damaged(ThinkGearProfile.power, let count): layout.power += [[Int32]?](repeating: nil, count: count)
                case .discarded(let count): layout.discardedByteCount += count
                default: break
                }
            }
            decoded.removeAll()
            position = end
        }
        return layout
    }

    /// Samples that are neither the original ones nor told to be damaged.
    private static func violations(of damaged: Layout, against original: Layout) -> Int {
        abs(damaged.raw.count - original.raw.count) + abs(damaged.power.count - original.power.count)
            + zip(damaged.raw, original.raw).count { $0 != nil && $0 != $1 }
            + zip(damaged.power, original.power).count { $0 != nil && $0 != $1 }
    }

    @Test("holds 165,093 raw samples and 322 sets of powers, without damage")
    func counts() throws {
        guard let bytes = Self.recording else { return }
        let layout = Self.layout(of: bytes, cutBy: 1)
        #expect(layout.raw.count == Self.rawCount)
        #expect(layout.power.count == Self.powerCount)
        #expect(!layout.raw.contains(nil))
        #expect(layout.discardedByteCount == 0)
    }

    @Test("marks 512 raw samples, exactly, 320 times of 321; once the module or the recording began anew")
    func marks() throws {
        guard let bytes = Self.recording else { return }
        var decoder = ThinkGearDecoder()
        var decoded = Decoded()
        decoder.decode(bytes, from: .serialPort, into: &decoded)
        var intervals: [Int: Int] = [:]
        var (count, hasMark) = (0, false)
        for item in decoded.items {
            switch item {
            case .samples(let block) where block.stream == ThinkGearProfile.eeg: count += block.instantCount
            case .periodMark(ThinkGearProfile.eeg, let period, let block):
                #expect(period == 512 && block == 1)
                if hasMark { intervals[count, default: 0] += 1 }
                (count, hasMark) = (0, true)
            default: break
            }
        }
        #expect(intervals == [512: 320, 262: 1])
    }

    @Test("with flipped bits loses exactly what is told to be damaged")
    func flippedBits() throws {
        guard var bytes = Self.recording else { return }
        let original = Self.layout(of: bytes, cutBy: 1)
        var generator = SeededGenerator(seed: 20)
        // One in each of 2,000 parts: two in one frame might cancel in its 8-bit sum. The first and last frames have no good
        // frame on one side and are spared.
        let partLength = (bytes.count - 200) / 2000
        for part in 0..<2000 {
            let position = 100 + part * partLength + Int.random(in: 0..<partLength, using: &generator)
            bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
        let damaged = Self.layout(of: bytes, cutBy: 2)
        #expect(Self.violations(of: damaged, against: original) == 0)
        let lost = damaged.raw.count { $0 == nil }
        #expect((1800...2000).contains(lost))
        // The checker bites: a decoder that keeps damage to itself shifts all later samples.
        let silent = Self.layout(of: bytes, cutBy: 2) { item in
            if case .damaged = item { true } else { false }
        }
        #expect(Self.violations(of: silent, against: original) > 100_000)
    }
}
