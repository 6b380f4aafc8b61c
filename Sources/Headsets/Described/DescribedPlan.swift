import Bluetooth

/// A descriptor made ready for decoding: flat lists of slots, so that a packet costs no look-up and no allocation.
struct DescribedPlan: Sendable {
    /// Where bytes come from.
    struct Source: Sendable {
        var characteristic: BluetoothUUID
        var framing: DescribedFraming
        var packets: [Packet]
        /// What one lost frame of this source costs the streams without counter; empty where that cannot be known.
        var cost: [(stream: Int, count: Int)]
    }

    /// One kind of packet.
    struct Packet: Sendable {
        var length: Int?
        var constants: [DescribedConstant]
        var counter: DescribedField?
        /// The number of values of the counter.
        var counterModulus: UInt64
        var runs: [SampleRun]
        var status: DescribedStatus?
        var annotation: DescribedAnnotation?
        var message: DescribedString?
    }

    var sources: [Source]
    var streams: [StreamDescription]

    /// Compiles a descriptor; what refers to nothing is left out.
    init(_ descriptor: HeadsetDescriptor) {
        streams = descriptor.streams.flatMap(\.banks)
        var firstBanks: [Int] = []
        var count = 0
        for stream in descriptor.streams {
            firstBanks.append(count)
            count += stream.banks.count
        }
        sources = descriptor.sources.map { source in
            Source(
                characteristic: source.characteristic, framing: source.framing,
                packets: source.packets.map { Self.packet($0, descriptor, firstBanks: firstBanks) },
                cost: Self.cost(source, descriptor, firstBanks: firstBanks))
        }
    }

    private static func packet(_ packet: DescribedPacket, _ descriptor: HeadsetDescriptor, firstBanks: [Int]) -> Packet {
        var runs: [SampleRun] = []
        for samples in packet.samples where descriptor.streams.indices.contains(samples.stream) {
            runs += SampleRun.runs(of: samples, in: descriptor.streams[samples.stream], firstBank: firstBanks[samples.stream])
        }
        let modulus = packet.samples.first.flatMap { samples in
            descriptor.streams.indices.contains(samples.stream) ? descriptor.streams[samples.stream].counterModulus : nil
        }
        return Packet(
            length: packet.length, constants: packet.constants, counter: packet.counter,
            counterModulus: modulus.map { UInt64(max(1, $0)) } ?? 1 << 32, runs: runs, status: packet.status,
            annotation: packet.annotation.map { annotation($0, descriptor, firstBanks: firstBanks) }, message: packet.message)
    }

    /// Of the first bank of the stream, with its counter.
    private static func annotation(
        _ annotation: DescribedAnnotation, _ descriptor: HeadsetDescriptor, firstBanks: [Int]
    ) -> DescribedAnnotation {
        var compiled = annotation
        compiled.stream = nil
        guard let stream = annotation.stream, descriptor.streams.indices.contains(stream) else { return compiled }
        compiled.stream = firstBanks[stream]
        compiled.counterModulus = descriptor.streams[stream].counterModulus ?? 1 << 32
        return compiled
    }

    /// Known where all frames are alike and nobody counts them.
    private static func cost(
        _ source: DescribedSource, _ descriptor: HeadsetDescriptor, firstBanks: [Int]
    ) -> [(stream: Int, count: Int)] {
        guard source.packets.count == 1, source.packets[0].counter == nil else { return [] }
        return source.packets[0].samples.flatMap { samples -> [(stream: Int, count: Int)] in
            guard case .fixed(let count) = samples.count, descriptor.streams.indices.contains(samples.stream) else { return [] }
            let first = firstBanks[samples.stream]
            return (first..<first + descriptor.streams[samples.stream].banks.count).map { ($0, count) }
        }
    }
}

/// Neighbouring channels of one bank that one packet holds: where each value stands.
struct SampleRun: Sendable {
    /// The bank's index among all banks of the headset.
    var stream: Int
    var firstChannel: Int
    /// The slot of the first value of each channel, in values, from the first one of all.
    var slots: [Int]
    var first: DescribedField
    var count: DescribedSamples.Count
    /// Values of one instant, stored or not.
    var width: Int
    var isChannelMajor: Bool
    var strideBits: Int?
    var quantum: Double

    /// The most instants of a packet: more than any frame holds.
    static let instantsMaximum = 4096

    static func runs(of samples: DescribedSamples, in stream: DescribedStream, firstBank: Int) -> [SampleRun] {
        // (channel, slot in the packet), in the order of the stream.
        let stored = samples.channels.enumerated().compactMap { slot, channel in channel.map { (channel: $0, slot: slot) } }
            .filter { stream.channels.indices.contains($0.channel) }.sorted { $0.channel < $1.channel }
        var runs: [SampleRun] = []
        var last: (bank: Int, channel: Int)?
        for entry in stored {
            let bank = entry.channel / StreamDescription.channelsPerBank
            let channel = entry.channel % StreamDescription.channelsPerBank
            if let last, last.bank == bank, last.channel == channel { continue }
            if let last, last.bank == bank, last.channel == channel - 1 {
                runs[runs.count - 1].slots.append(entry.slot)
            } else {
                runs.append(
                    SampleRun(
                        stream: firstBank + bank, firstChannel: channel, slots: [entry.slot], first: samples.first,
                        count: samples.count, width: samples.channels.count, isChannelMajor: samples.isChannelMajor,
                        strideBits: samples.strideBits, quantum: samples.quantum))
            }
            last = (bank, channel)
        }
        return runs
    }

    /// Appends the run's values, all channels of an instant together.
    ///
    /// - Returns: how many instants there were; nil where the frame does not hold what it should, or a value that no database
    ///   holds. `values` may then have grown.
    func append(_ bytes: [UInt8], _ frame: Range<Int>, to values: inout [Int32]) -> Int? {
        let number = first.number
        let firstByte = first.byte < 0 ? frame.count + first.byte : first.byte
        guard firstByte >= 0, firstByte <= frame.count, width > 0, number.bits > 0 else { return nil }
        let base = firstByte * 8 + first.bit
        guard let count = instantCount(bytes, frame, base: base), count <= Self.instantsMaximum else { return nil }
        guard count > 0 else { return 0 }
        let instantBits = isChannelMajor ? number.bits : strideBits ?? number.bits * width
        let slotBits = isChannelMajor ? strideBits ?? number.bits * count : number.bits
        if number.kind == .float {
            return appendReal(bytes, frame, base, count, instantBits, slotBits, to: &values) ? count : nil
        }
        if number.bits == 24, base & 7 == 0, instantBits & 7 == 0, slotBits & 7 == 0 {
            return appendTriplets(bytes, frame, base / 8, count, instantBits / 8, slotBits / 8, to: &values) ? count : nil
        }
        for instant in 0..<count {
            let begin = base + instant * instantBits
            for slot in slots {
                guard
                    let pattern = number.pattern(
                        in: bytes, from: frame.lowerBound, to: frame.upperBound, bit: begin + slot * slotBits),
                    let value = number.integer(pattern)
                else { return nil }
                values.append(value)
            }
        }
        return count
    }

    private func instantCount(_ bytes: [UInt8], _ frame: Range<Int>, base: Int) -> Int? {
        switch count {
        case .fixed(let count): return count
        case .field(let field): return field.pattern(in: bytes, frame).flatMap { Int(exactly: $0) }
        case .rest(let except):
            let available = (frame.count - except) * 8 - base
            let instant = isChannelMajor ? first.number.bits * width : max(1, strideBits ?? first.number.bits * width)
            return available < 0 ? nil : available / max(1, instant)
        }
    }

    /// 24 bits at whole bytes: what most converters send.
    private func appendTriplets(
        _ bytes: [UInt8], _ frame: Range<Int>, _ base: Int, _ count: Int, _ instantBytes: Int, _ slotBytes: Int,
        to values: inout [Int32]
    ) -> Bool {
        guard let farthest = slots.max() else { return true }
        let first = frame.lowerBound + base
        guard instantBytes >= 0, slotBytes >= 0,
            first + (count - 1) * instantBytes + farthest * slotBytes + 3 <= frame.upperBound
        else { return false }
        // The sign is where it belongs after a shift to the top of 32 bits.
        let isSigned = self.first.number.kind == .signed
        let (high, low) = self.first.number.isBigEndian ? (0, 2) : (2, 0)
        for instant in 0..<count {
            for slot in slots {
                let at = first + instant * instantBytes + slot * slotBytes
                let bits = UInt32(bytes[at + high]) << 24 | UInt32(bytes[at + 1]) << 16 | UInt32(bytes[at + low]) << 8
                values.append(isSigned ? Int32(bitPattern: bits) >> 8 : Int32(bitPattern: bits >> 8))
            }
        }
        return true
    }

    private func appendReal(
        _ bytes: [UInt8], _ frame: Range<Int>, _ base: Int, _ count: Int, _ instantBits: Int, _ slotBits: Int,
        to values: inout [Int32]
    ) -> Bool {
        for instant in 0..<count {
            for slot in slots {
                let bit = base + instant * instantBits + slot * slotBits
                guard
                    let pattern = first.number.pattern(
                        in: bytes, from: frame.lowerBound, to: frame.upperBound, bit: bit),
                    let value = first.number.real(pattern)
                else { return false }
                let counts = (value / quantum).rounded()
                // What lies beyond the database's integers is railed, as a converter does it.
                values.append(
                    counts.isNaN ? 0 : counts >= 2_147_483_647 ? .max : counts <= -2_147_483_648 ? .min : Int32(counts))
            }
        }
        return true
    }
}
