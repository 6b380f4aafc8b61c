import Bluetooth
import Foundation
import Headsets
import Storage
import Testing

@testable import Assembly

/// What the signal checks say about signals that are known.
struct SignalCheckTests {
    private static let frequency = 256.0

    private static func description(
        channels: Int = 1, frequency: Double = frequency, scale: Double = 0.5, unit: String = "uV", range: Int32 = 2047
    ) -> StreamDescription {
        StreamDescription(
            name: "eeg", samplingFrequency: frequency, counterModulus: nil,
            channels: (1...channels).map {
                ChannelDescription(name: "C\($0)", unit: unit, scale: scale, rawMinimum: -range - 1, rawMaximum: range)
            })
    }

    private static func sine(_ hertz: Double, amplitude: Double, at n: Int64, frequency: Double = frequency) -> Double {
        amplitude * sin(2 * .pi * hertz * Double(n) / frequency)
    }

    /// Results for so many seconds of a signal, given in blocks of an odd length.
    private static func results(
        _ description: StreamDescription, seconds: Int = 10, missing: (Int64) -> UInt8 = { _ in 0 },
        skip: (Int64) -> Bool = { _ in false }, _ signal: (Int64, Int) -> Double
    ) throws -> [SignalCheckRecord] {
        var check = try #require(SignalCheck(stream: StreamID(rawValue: 1), description))
        for n in 0..<Int64(Double(seconds) * description.samplingFrequency) where !skip(n) {
            let row = description.channels.indices.map { Int32(clamping: Int64(signal(n, $0).rounded())) }
            check.take(row[...], firstN: n, missing: missing(n))
        }
        return check.takeResults()
    }

    @Test(
        "The amplitude of line noise is measured to 1 %, beside drift and EEG that are much larger",
        arguments: [(50.0, 256.0), (60, 256), (50, 250), (60, 512), (50, 128), (50, 1000)])
    func amplitude(line: Double, frequency: Double) throws {
        // Raw steps of 0.01 µV; 12.3 µV of line noise, 3 mV of drift, 40 µV of alpha rhythm.
        let found = try Self.results(Self.description(frequency: frequency, scale: 0.01, range: 0x7F_FFFF)) { n, _ in
            Self.sine(line, amplitude: 1230, at: n, frequency: frequency)
                + Self.sine(0.07, amplitude: 300_000, at: n, frequency: frequency)
                + Self.sine(10, amplitude: 4000, at: n, frequency: frequency) + 2_000_000
        }
        let result = try #require(found.first)
        let (measured, other) = line == 50 ? (result.line50Hz, result.line60Hz) : (result.line60Hz, result.line50Hz)
        #expect(abs(try #require(measured) - 12.3) < 0.123)
        if let other { #expect(other < 0.2) }
        #expect(result.condition == .lineNoise)
        #expect(result.sampleCount == Int(frequency * 10))
    }

    @Test("A mains frequency that wanders is still seen")
    func wandering() throws {
        let found = try Self.results(Self.description()) { n, _ in Self.sine(49.95, amplitude: 40, at: n) }
        #expect(abs(try #require(found.first?.line50Hz) - 20) < 0.4)
    }

    @Test("Line noise of less than the limit is told, and no verdict")
    func quiet() throws {
        let found = try Self.results(Self.description()) { n, _ in
            Self.sine(50, amplitude: 19, at: n) + Self.sine(10, amplitude: 60, at: n)
        }
        #expect(found.map(\.condition) == [.good])
        #expect(abs(try #require(found.first?.line50Hz) - 9.5) < 0.2)
    }

    @Test("A sampling frequency that cannot show the mains says nothing about them")
    func slow() throws {
        let result = try #require(
            try Self.results(Self.description(frequency: 100)) { n, _ in Self.sine(10, amplitude: 40, at: n, frequency: 100) }
                .first)
        #expect(result.line50Hz == nil && result.line60Hz == nil)
        let faster = try #require(
            try Self.results(Self.description(frequency: 120)) { n, _ in Self.sine(9, amplitude: 40, at: n, frequency: 120) }
                .first)
        #expect(faster.line50Hz != nil && faster.line60Hz == nil)
    }

    @Test("Flat and railed channels are told beside good ones")
    func channels() throws {
        let found = try Self.results(Self.description(channels: 5)) { n, channel in
            switch channel {
            case 0: Self.sine(10, amplitude: 50, at: n)
            case 1: 700
            case 2: 2047
            // The last bits of the converter only: 1.5 µV.
            case 3: Double(n % 4)
            // A floating electrode: the mains drive it from one end to the other.
            default: max(-2048, min(2047, Self.sine(50, amplitude: 9000, at: n)))
            }
        }
        #expect(found.map(\.condition) == [.good, .flat, .railed, .flat, .railed])
        #expect(found.map(\.channel) == [1, 2, 3, 4, 5])
        #expect(found[2].railedFraction == 1)
        #expect(found[0].railedFraction == 0)
        #expect(found[0].peakToPeak == 100)
    }

    /// A channel whose field is wider than its converter: 12 of 16 bits.
    private static var narrowConverter: StreamDescription {
        var description = Self.description(range: 0x7FFF)
        description.saturation = -2048...2047
        return description
    }

    @Test("A channel is railed where its converter ends, although its field goes on")
    func saturation() throws {
        func signal(_ n: Int64, _: Int) -> Double { max(-2048, min(2047, Self.sine(9, amplitude: 3000, at: n))) }
        #expect(try Self.results(Self.narrowConverter, signal).map(\.condition) == [.railed])
        #expect(try Self.results(Self.description(range: 0x7FFF), signal).map(\.condition) == [.good])
        #expect(ThinkGearProfile().streams[ThinkGearProfile.eeg].saturation == -2048...2047)
        #expect(MindWaveProfile().streams.map(\.saturation) == TGAMProfile().streams.map(\.saturation))
    }

    @Test("A stream that is resumed takes from its profile where the converter ends: the database does not keep it")
    func resumed() throws {
        // As the database has it, then as the profile has it.
        var stream = StreamAssembler(
            id: StreamID(rawValue: 1), position: 0, description: Self.description(range: 0x7FFF))
        #expect(stream.hasShape(of: Self.narrowConverter), "it is no other stream")
        stream.adopt(Self.narrowConverter)
        stream.beginLink(
            LinkStart(epochRule: .connection, bootIdentifier: nil, hasMemory: false, buffered: nil, absenceCause: .linkLost))
        stream.take(
            SampleBlock(stream: 0, counter: nil, channelCount: 1, instantCount: 2560, values: 0..<2560),
            [Int32](repeating: -2048, count: 2560)[...], at: MonotonicTime(nanoseconds: 20_000_000_000), in: 1, hasRoom: true)
        var batch = WriteBatch(number: 1)
        stream.move(into: &batch)
        let conditions = batch.changes.compactMap { if case .signalCheck(let check) = $0 { check.condition } else { nil } }
        #expect(conditions == [.railed])
    }

    @Test("A little more than nothing is not flat, and a blink is not railed")
    func edges() throws {
        let still = try Self.results(Self.description()) { n, _ in Double(n % 5) }
        #expect(still.map(\.condition) == [.good])
        let blink = try Self.results(Self.description()) { n, _ in
            n % 512 < 48 ? 2047 : Self.sine(10, amplitude: 50, at: n)
        }
        #expect(blink.map(\.condition) == [.good])
    }

    @Test("Without a unit of voltage only what does not move is flat, and there is no verdict on the mains")
    func unitless() throws {
        func condition(_ signal: (Int64) -> Double) throws -> SignalCondition? {
            try Self.results(Self.description(unit: "n/a")) { n, _ in signal(n) }.first?.condition
        }
        #expect(try condition { _ in 5 } == .flat)
        #expect(try condition { Double($0 % 3) } == .good)
        #expect(try condition { Self.sine(50, amplitude: 900, at: $0) } == .good)
    }

    @Test("A window with a gap, or without the channel, is left out, and nothing is made up from its two parts")
    func gaps() throws {
        // Each part alone is still; a window over both would move.
        let isLost: (Int64) -> Bool = { (900..<1000).contains($0) }
        let jump = try Self.results(Self.description(), seconds: 12, skip: isLost) { n, _ in n < 900 ? 100 : 900 }
        #expect(jump.map(\.condition) == [.flat])
        #expect(jump.first?.peakToPeak == 0)
        #expect(jump.first?.sampleCount == 2560)
        // 900 = 512 + 388: those 388 are lost to the check, as is the gap.
        #expect(jump.first?.lastN == 3047)
        // The second channel lacks a sample in every window.
        let missing: (Int64) -> UInt8 = { $0 % 500 == 3 ? 0b10 : 0 }
        let holes = try Self.results(Self.description(channels: 2), seconds: 12, missing: missing) { n, _ in
            Self.sine(10, amplitude: 50, at: n)
        }
        #expect(holes.map(\.channel) == [1])
    }

    @Test("A change is told after two windows of its kind, with what came before; a slip is no change")
    func changes() throws {
        // Ten seconds and one window good, then flat.
        let change = try Self.results(Self.description(), seconds: 24) { n, _ in
            n < 6 * 512 ? Self.sine(10, amplitude: 50, at: n) : 0
        }
        #expect(change.map(\.condition) == [.good, .good, .flat])
        let ends: [Int64] = [2559, 3071, 4095]
        #expect(change.map(\.lastN) == ends)
        let slip = try Self.results(Self.description(), seconds: 20) { n, _ in
            n / 512 == 2 ? 0 : Self.sine(10, amplitude: 50, at: n)
        }
        #expect(slip.map(\.condition) == [.good, .good])
        #expect(slip.map(\.sampleCount) == [2560, 2560])
    }

    @Test("What a headset says about its contact is taken as it says it")
    func contact() throws {
        let streams = ThinkGearProfile().streams
        let esense = streams[ThinkGearProfile.esense]
        func conditions(_ values: [Int32]) throws -> [SignalCondition] {
            var check = try #require(SignalCheck(stream: StreamID(rawValue: 3), esense))
            for (n, value) in values.enumerated() { check.take([value, 50, 50], firstN: Int64(n)) }
            return check.takeResults().map(\.condition)
        }
        #expect(try conditions(Array(repeating: 0, count: 10)) == [.good])
        #expect(try conditions(Array(repeating: 51, count: 10)) == [.poorContact])
        #expect(try conditions(Array(repeating: 200, count: 10)) == [.noContact])
        #expect(try conditions([0, 0, 0, 0, 200, 200, 200, 200]) == [.good, .noContact])
        #expect(SignalCheck(stream: StreamID(rawValue: 2), streams[ThinkGearProfile.power]) == nil)
    }

    @Test("Results that nobody takes are bounded, and any range and scale is accepted")
    func bounds() throws {
        var check = try #require(SignalCheck(stream: StreamID(rawValue: 1), Self.description(frequency: 8)))
        for n in 0..<Int64(200_000) { check.take([Int32(n % 7)], firstN: n) }
        #expect(check.takeResults().count == 512)
        for (scale, range) in [(1e-300, Int32.max), (1e299, 0), (-0.5, 1)] {
            let wild = Self.description(scale: scale, range: range)
            #expect(try Self.results(wild) { n, _ in n % 2 == 0 ? 9e18 : -9e18 }.count == 1)
        }
    }
}
