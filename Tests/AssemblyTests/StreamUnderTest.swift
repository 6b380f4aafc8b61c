import Bluetooth
import Headsets
import Storage

@testable import Assembly

/// A stream of two channels at 250 Hz, the database behind it, and a clock.
struct StreamUnderTest {
    let description: StreamDescription
    var stream: StreamAssembler
    var database: StoredStream
    /// Starts at an hour after the host's boot.
    var now = MonotonicTime(nanoseconds: 3_600_000_000_000)
    /// The number of the latest notification: each block has one of its own.
    var notification: UInt64 = 0
    var hasRoom = true
    /// Spoils the next batch.
    var plantedDefect: ((inout WriteBatch) -> Void)?
    private var batches: UInt64 = 0

    init(
        modulus: Int64? = 1 << 32, channels: Int = 2, samplesPerCount: Int = 1, frequency: Double = 250
    ) {
        description = StreamDescription(
            name: "eeg", samplingFrequency: frequency, samplesPerCount: samplesPerCount, counterModulus: modulus,
            channels: (1...channels).map {
                ChannelDescription(name: "C\($0)", scale: 1, rawMinimum: -8_388_608, rawMaximum: 8_388_607)
            })
        stream = StreamAssembler(id: StreamID(rawValue: 1), position: 0, description: description)
        database = StoredStream(id: StreamID(rawValue: 1), channelCount: channels)
    }

    /// The value of a channel in the sample that a headset took as its number `truth`.
    static func value(_ truth: Int64, channel: Int) -> Int32 { Int32(truncatingIfNeeded: truth) * 8 + Int32(channel) }

    /// The number of the sample, from the first channel's value.
    static func truth(_ row: [Int32?]) -> Int64? {
        for (channel, value) in row.enumerated() {
            if let value { return (Int64(value) - Int64(channel)) / 8 }
        }
        return nil
    }

    mutating func begin(
        boot: UInt32? = nil, rule: EpochRule = .boot, oldest: UInt32? = nil, end: UInt32 = 0,
        absence: GapCause = .daemonDown, tickFrequency: Double? = nil
    ) {
        stream.beginLink(
            LinkStart(
                epochRule: rule, bootIdentifier: boot, hasMemory: oldest != nil,
                buffered: oldest.map { HeadsetStatus.BufferedRange(stream: 0, oldest: $0, end: end) },
                absenceCause: absence,
                stamps: tickFrequency.map { SampleStamps(tickFrequency: $0, modulus: 1 << 32, isExact: true) }))
    }

    /// Gives the stream a block whose first sample has the index; the clock does not move.
    mutating func take(
        index: Int64?, truth: Int64, count: Int = 8, boot: UInt32? = nil, channels: Range<Int>? = nil,
        origin: SampleBlock.Origin = .live, isSummed: Bool = false, ticks: UInt64? = nil, followsDirectly: Bool = false,
        isSameNotification: Bool = false
    ) {
        let channels = channels ?? 0..<description.channels.count
        var values: [Int32] = []
        for instant in 0..<count { values += channels.map { Self.value(truth + Int64(instant), channel: $0) } }
        let counter = index.map {
            UInt32(truncatingIfNeeded: $0 / Int64(description.samplesPerCount) % (description.counterModulus ?? 1 << 32))
        }
        if !isSameNotification { notification += 1 }
        stream.take(
            SampleBlock(
                stream: 0, counter: counter, bootIdentifier: boot, firstChannel: channels.lowerBound,
                channelCount: channels.count, instantCount: count, values: 0..<values.count, origin: origin,
                isSummed: isSummed, deviceTicks: ticks, followsDirectly: followsDirectly),
            values[...], at: now, in: notification, hasRoom: hasRoom)
    }

    /// Lets the time of the samples pass.
    mutating func advance(samples: Int64) {
        now = now + .nanoseconds(Int64((Double(samples) * 1e9 / description.samplingFrequency).rounded()))
    }

    /// Live blocks of 8 samples for the range of indexes; the truth of index i is i + offset.
    mutating func live(_ indexes: Range<Int64>, offset: Int64 = 0, boot: UInt32? = nil) {
        for first in stride(from: indexes.lowerBound, to: indexes.upperBound, by: 8) {
            let count = Int(min(8, indexes.upperBound - first))
            advance(samples: Int64(count))
            take(index: first, truth: first + offset, count: count, boot: boot)
        }
    }

    /// The same where they have waited, and come at one instant.
    mutating func atOnce(_ indexes: Range<Int64>) {
        for first in stride(from: indexes.lowerBound, to: indexes.upperBound, by: 8) { take(index: first, truth: first) }
    }

    @discardableResult mutating func commit() -> WriteBatch {
        batches += 1
        var batch = WriteBatch(number: batches)
        stream.move(into: &batch)
        plantedDefect?(&batch)
        plantedDefect = nil
        database.commit(batch)
        return batch
    }

    /// The process dies with what was not committed, and another one starts with the database.
    mutating func restart(isSameHostBoot: Bool = true) {
        if !isSameHostBoot { database.beginHostBoot() }
        stream = StreamAssembler(resuming: database.resumeState(description, isSameHostBoot: isSameHostBoot))
    }

    /// The stored truths by n.
    var stored: [Int64: Int64] { database.rows.compactMapValues(Self.truth) }
}
