import Bluetooth
import Headsets
import Simulation
import Testing

/// A headset sends what its model sends.
struct ThinkGearHeadsetTests {
    @Test("A ThinkGear headset sends 512 raw samples and one set of powers a second, without a damaged frame")
    func thinkGear() {
        let bench = Bench(headsets: [.thinkGear()])
        bench.connect()
        let identifier = bench.world.headsets[0].identifier
        bench.central.request(.setNotifyValue(true, for: .serialPort, on: identifier, attempt: Attempt(number: 3)))
        bench.run(seconds: 30)
        var decoder = ThinkGearProfile().makeDecoder()
        var decoded = Decoded()
        for case .didUpdateValue(let uuid, _, let value, _) in bench.take() {
            decoder.decode(value, from: uuid, into: &decoded)
        }
        var counts = [0, 0, 0]
        var marks: [Int] = []
        for item in decoded.items {
            switch item {
            case .samples(let block): counts[block.stream] += block.instantCount
            case .periodMark: marks.append(counts[ThinkGearProfile.eeg])
            default: Issue.record("\(item)")
            }
        }
        #expect(zip(marks, marks.dropFirst()).allSatisfy { $1 - $0 == ThinkGearProfile.samplesPerPower })
        #expect((15_300...15_360).contains(counts[ThinkGearProfile.eeg]))
        #expect((29...30).contains(counts[ThinkGearProfile.power]))
    }
}
