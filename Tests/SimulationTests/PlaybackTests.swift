import Bluetooth
import Capture
import Headsets
import Simulation
import Testing

/// Headsets that play what was captured, or send what their model sends.
struct PlaybackTests {
    @Test("A capture is played through a link of its profile, byte for byte, at its times")
    func playback() {
        var bytes: [UInt8] = []
        for value: Int16 in 0..<2048 { bytes += ThinkGearFrame.raw(value).encoded() }
        let capture = Capture(byteStream: bytes)
        let bench = Bench(headsets: [.recorded(capture, profile: ThinkGearProfile())])
        bench.connect()
        let identifier = bench.world.headsets[0].identifier
        bench.central.setNotifyValue(true, for: .serialPort, on: identifier, attempt: Attempt(number: 3))
        bench.run(seconds: 2)
        #expect(bench.world.headsets[0].isPlaybackStarted)
        #expect(!bench.world.headsets[0].isPlaybackFinished)
        bench.run(seconds: 8)
        #expect(bench.world.headsets[0].isPlaybackFinished)
        let played = bench.take().flatMap { event -> [UInt8] in
            if case .didUpdateValue(_, _, let value, _) = event { value } else { [] }
        }
        #expect(played == bytes)
    }

    @Test("A ThinkGear headset sends 512 raw samples and one set of powers a second, without a damaged frame")
    func thinkGear() {
        let bench = Bench(headsets: [.thinkGear()])
        bench.connect()
        let identifier = bench.world.headsets[0].identifier
        bench.central.setNotifyValue(true, for: .serialPort, on: identifier, attempt: Attempt(number: 3))
        bench.run(seconds: 30)
        var decoder = ThinkGearProfile().makeDecoder()
        var decoded = Decoded()
        for case .didUpdateValue(let uuid, _, let value, _) in bench.take() {
            decoder.decode(value, from: uuid, into: &decoded)
        }
        var counts = [0, 0, 0]
        for item in decoded.items {
            guard case .samples(let block) = item else {
                Issue.record("\(item)")
                continue
            }
            counts[block.stream] += block.instantCount
        }
        #expect((15_300...15_360).contains(counts[ThinkGearProfile.eeg]))
        #expect((29...30).contains(counts[ThinkGearProfile.power]))
    }
}
