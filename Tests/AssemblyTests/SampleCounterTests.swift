import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// The index of a counter that wraps.
struct SampleCounterTests {
    private static func counter(modulus: Int64?, samplesPerCount: Int = 1) -> SampleCounter {
        SampleCounter(
            StreamDescription(
                name: "eeg", samplingFrequency: 250, samplesPerCount: samplesPerCount, counterModulus: modulus,
                channels: [ChannelDescription(name: "C1", scale: 1, rawMinimum: -1, rawMaximum: 1)]))
    }

    @Test("The index is the nearest that has the counter", arguments: [Int64(2), 3, 200, 201, 256, 1 << 16, 1 << 32])
    func nearest(modulus: Int64) {
        let counter = Self.counter(modulus: modulus)
        for expected in [-modulus - 1, -1, 0, 1, modulus / 2, modulus - 1, modulus, 7 * modulus, 1 << 40] {
            for sent in Set([0, 1, modulus / 2, modulus - 1]) {
                let index = counter.index(of: UInt32(sent), near: expected)
                #expect(counter.counter(at: index) == UInt32(sent))
                #expect(abs(index - expected) <= modulus / 2, "\(sent) near \(expected)")
            }
        }
    }

    @Test("A count stands for several samples, and then numbers none of them alone")
    func packets() {
        let counter = Self.counter(modulus: 1 << 16, samplesPerCount: 12)
        #expect(counter.wrapLength == 12 << 16)
        #expect(counter.index(of: 3, near: 12 << 16) == 12 * ((1 << 16) + 3))
        #expect(counter.index(of: 65_535, near: 0) == -12)
        #expect(counter.counter(at: 36) == nil)
    }

    @Test("Without a modulus nothing wraps")
    func endless() {
        let counter = Self.counter(modulus: nil)
        #expect(counter.wrapLength == nil)
        #expect(counter.index(of: 5, near: 1 << 40) == 5)
        #expect(counter.counter(at: 5) == nil)
    }

    @Test("An epoch's n and index are the same distance from its first sample; another boot is another epoch")
    func epoch() {
        let epoch = EpochRecord(
            stream: StreamID(rawValue: 1), number: 0, bootIdentifier: 7, firstN: 1000, firstIndex: -50, began: .boot)
        #expect(epoch.n(of: 0) == 1050)
        #expect(epoch.index(of: 1050) == 0)
        var block = SampleBlock(stream: 0, counter: 0, channelCount: 1, instantCount: 1, values: 0..<1)
        #expect(!epoch.isOtherBoot(block))
        block.bootIdentifier = 7
        #expect(!epoch.isOtherBoot(block))
        block.bootIdentifier = 8
        #expect(epoch.isOtherBoot(block))
    }
}
