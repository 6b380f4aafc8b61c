import Foundation
import Headsets
import Storage
import Testing

@testable import Simulation
@testable import eegsync

/// Blinks and taps are noticed, and what is neither is not.
@Suite struct MotionDetectorTests {
    private static let rate = 256.0
    private static let eeg = StreamDescription(
        name: "eeg", samplingFrequency: rate, counterModulus: nil,
        channels: ["TP9", "AF7", "AF8", "TP10"].map {
            ChannelDescription(name: $0, scale: 0.5, rawMinimum: -9999, rawMaximum: 9999)
        })
    private static let motion = StreamDescription(
        name: "accelerometer", samplingFrequency: 52, counterModulus: nil,
        channels: ["X", "Y", "Z"].map {
            ChannelDescription(name: $0, type: "ACCEL", unit: "g", scale: 0.001, rawMinimum: -9999, rawMaximum: 9999)
        })

    /// Movements that a detector counts in a signal in physical units (µV, or g).
    private func movements(
        _ description: StreamDescription, seconds: Int = 60, _ value: (Int, Double) -> Double
    ) throws -> Int {
        var detector = try #require(MotionDetector(description))
        let count = Int(Double(seconds) * description.samplingFrequency)
        let width = description.channels.count
        let values = (0..<count).flatMap { n in
            (0..<width).map { Int32(value($0, Double(n) / description.samplingFrequency) / description.channels[0].scale) }
        }
        detector.take(SampleRows(stream: StreamID(rawValue: 1), channelCount: width, firstN: 0, values: values))
        return detector.movements
    }

    /// A noise of about ±`size`, the same each time.
    private func noise(_ seed: UInt64, _ size: Double) -> (Int, Double) -> Double {
        { channel, time in
            let key = SeededGenerator.mixed(seed ^ UInt64(channel) << 40 ^ UInt64(time * 100_000))
            return (Double(key & 0xFFFF) / 32_768 - 1) * size
        }
    }

    private func blinks(at times: [Double], size: Double, channels: Range<Int> = 1..<3) -> (Int, Double) -> Double {
        { channel, time in
            guard channels.contains(channel), let start = times.first(where: { (0..<0.3).contains(time - $0) }) else {
                return 0
            }
            return size * sin(.pi * (time - start) / 0.3)
        }
    }

    @Test func eachBlinkCountsOnce() throws {
        let noise = noise(1, 15)
        let blink = blinks(at: [10, 15, 20.1, 40.77], size: 200)
        #expect(try movements(Self.eeg) { noise($0, $1) + blink($0, $1) } == 4)
    }

    /// The defects that were planted: everything that is large and is no blink.
    @Test func whatIsNoBlinkDoesNotCount() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            for size in [5.0, 40, 200] { #expect(try movements(Self.eeg, noise(seed, size)) == 0, "noise \(seed) \(size)") }
        }
        let noise = noise(1, 10)
        let others: [(String, (Int, Double) -> Double)] = [
            ("mains of 300 µV", { noise($0, $1) + 150 * sin(2 * .pi * 50 * $1) }),
            ("alpha of 80 µV", { noise($0, $1) + 40 * sin(2 * .pi * 10 * $1) }),
            ("a drift of 4 mV", { noise($0, $1) + $1 * 66 }),
            ("nothing at all", { _, _ in 0 }),
        ]
        for (name, value) in others { #expect(try movements(Self.eeg, value) == 0, "\(name)") }
        // One electrode alone pops; a small blink is no more than the rhythm.
        let pop = blinks(at: [10, 20], size: 400, channels: 1..<2)
        let small = blinks(at: [10, 20], size: 40)
        #expect(try movements(Self.eeg) { noise($0, $1) + pop($0, $1) } == 0)
        #expect(try movements(Self.eeg) { noise($0, $1) + small($0, $1) } == 0)
        // Before two seconds of rest nothing counts.
        let early = blinks(at: [1], size: 400)
        #expect(try movements(Self.eeg, seconds: 2) { noise($0, $1) + early($0, $1) } == 0)
    }

    @Test func aTapShakesAndBreathDoesNot() throws {
        let noise = noise(3, 0.01)
        let tap = blinks(at: [10, 12], size: 0.6, channels: 0..<1)
        #expect(try movements(Self.motion) { noise($0, $1) + tap($0, $1) + ($0 == 2 ? 1 : 0) } == 2)
        #expect(try movements(Self.motion) { noise($0, $1) + 0.02 * sin($1) + ($0 == 2 ? 1 : 0) } == 0)
    }

    @Test func aGapIsNoMovement() throws {
        var detector = try #require(MotionDetector(Self.eeg))
        for part in 0..<20 {
            // Each part lies at another offset, and rows are missing in between.
            let values = (0..<256 * 4).map { _ in Int32(part % 2 * 2000) }
            detector.take(
                SampleRows(stream: StreamID(rawValue: 1), channelCount: 4, firstN: Int64(part * 300), values: values))
        }
        #expect(detector.movements == 0)
    }

    @Test func streamsThatShowNothingAreNotLookedAt() {
        var gyroscope = Self.motion
        for index in gyroscope.channels.indices { gyroscope.channels[index].type = "GYRO" }
        #expect(MotionDetector(gyroscope) == nil)
    }

    @Test func theOneThatMovesTwiceAloneIsMeant() {
        var alone = Identification(ignoring: [0: 3, 1: 0])
        #expect(alone.take([0: 3, 1: 0]) == nil)
        #expect(alone.take([0: 4, 1: 0]) == nil)
        #expect(alone.take([0: 5, 1: 0]) == 0)
        // A pushed table moves both; who moves in turn is nobody.
        var both = Identification(ignoring: [:])
        #expect(both.take([0: 1, 1: 1]) == nil)
        #expect(both.take([0: 2, 1: 2]) == nil)
        var alternating = Identification(ignoring: [:])
        for round in 1...5 {
            #expect(alternating.take([0: round, 1: round - 1]) == nil)
            #expect(alternating.take([0: round, 1: round]) == nil)
        }
        #expect(alternating.take([0: 5, 1: 6]) == 1)
    }
}
