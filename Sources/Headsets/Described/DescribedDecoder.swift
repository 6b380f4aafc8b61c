package import Bluetooth

/// Decodes the bytes of a described headset.
package struct DescribedDecoder: HeadsetDecoder {
    private let plan: DescribedPlan
    /// One for each source; empty where each notification is a frame.
    private var buffers: [DescribedFrameBuffer]
    /// For headsets that hand over their memory by the Buffered EEG service.
    private var memory: BufferedEEGDecoder?
    /// True once samples have come on this link.
    private var hasSamples = false

    init(plan: DescribedPlan, memory: MemoryCapability) {
        self.plan = plan
        buffers = plan.sources.map { _ in DescribedFrameBuffer() }
        self.memory = memory == .bufferedEEGService ? BufferedEEGDecoder() : nil
    }

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        if memory != nil, characteristic == BufferedEEGService.control || characteristic == BufferedEEGService.data {
            return decodeMemory(bytes, from: characteristic, into: &decoded)
        }
        guard let source = plan.sources.firstIndex(where: { $0.characteristic == characteristic }) else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        if plan.sources[source].framing.isByteStream { return decodeStream(bytes, source, into: &decoded) }
        guard plan.sources[source].framing.accepts(bytes),
            decodeFrame(bytes, bytes.indices, source, into: &decoded) == .decoded
        else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            // Radio delivers whole notifications: one of another shape is another message, not samples that are lost.
            guard plan.sources[source].framing.checksum != nil else { return }
            for (stream, count) in plan.sources[source].cost {
                decoded.items.append(.damaged(stream: stream, count: count))
            }
            return
        }
    }

    /// The headset's own description of its streams gives way to the descriptor's, where that has one.
    private mutating func decodeMemory(
        _ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded
    ) {
        let first = decoded.items.count
        memory?.decode(bytes, from: characteristic, into: &decoded)
        guard !plan.streams.isEmpty else { return }
        for index in first..<decoded.items.count {
            if case .status(var status) = decoded.items[index] {
                status.streams = nil
                decoded.items[index] = .status(status)
            }
        }
    }

    private mutating func decodeStream(_ bytes: [UInt8], _ source: Int, into decoded: inout Decoded) {
        if !plan.sources[source].framing.spansNotifications { buffers[source].abandonRest() }
        buffers[source].append(bytes)
        while let frame = buffers[source].next(plan.sources[source].framing) {
            let index = decoded.items.count
            switch decodeFrame(buffers[source].bytes, frame, source, into: &decoded) {
            case .decoded: break
            // A frame with a right checksum is one, of a kind that nobody has described.
            case .unknown where plan.sources[source].framing.checksum != nil:
                decoded.items.append(.discarded(byteCount: frame.count))
            case .unknown, .damaged:
                buffers[source].reject(frame, plan.sources[source].framing)
                continue
            }
            let (skipped, isFirst) = buffers[source].confirm()
            if skipped > 0 {
                decoded.items.insert(contentsOf: loss(of: skipped, isFirst: isFirst, source), at: index)
            }
        }
    }

    /// What bytes that were passed over before a frame mean.
    private func loss(of byteCount: Int, isFirst: Bool, _ source: Int) -> [DecodedItem] {
        let discarded = DecodedItem.discarded(byteCount: byteCount)
        // A link begins anywhere within a frame: that is no damage.
        guard !isFirst, case .fixed(let length) = plan.sources[source].framing.length, length > 0 else { return [discarded] }
        let frames = (byteCount + length - 1) / length
        return [discarded] + plan.sources[source].cost.map { .damaged(stream: $0.stream, count: frames * $0.count) }
    }

    // MARK: Frames

    /// What became of a frame.
    private enum Outcome {
        case decoded
        /// It is of no kind.
        case unknown
        /// It does not hold what its kind holds.
        case damaged
    }

    private mutating func decodeFrame(
        _ bytes: [UInt8], _ frame: Range<Int>, _ source: Int, into decoded: inout Decoded
    ) -> Outcome {
        let packets = plan.sources[source].packets
        for index in packets.indices {
            if let length = packets[index].length, length != frame.count { continue }
            guard packets[index].constants.allSatisfy({ $0.fits(bytes, frame) }) else { continue }
            let before = (items: decoded.items.count, values: decoded.values.count)
            if decodePacket(packets[index], bytes, frame, into: &decoded) { return .decoded }
            decoded.items.removeSubrange(before.items...)
            decoded.values.removeSubrange(before.values...)
            return .damaged
        }
        return .unknown
    }

    /// False where the packet does not hold what it should; what it appended is to be taken back then.
    private mutating func decodePacket(
        _ packet: DescribedPlan.Packet, _ bytes: [UInt8], _ frame: Range<Int>, into decoded: inout Decoded
    ) -> Bool {
        var counter: UInt32?
        if let field = packet.counter {
            guard let pattern = field.pattern(in: bytes, frame), pattern < packet.counterModulus else { return false }
            counter = UInt32(truncatingIfNeeded: pattern)
        }
        for run in packet.runs {
            let start = decoded.values.count
            guard let count = run.append(bytes, frame, to: &decoded.values) else { return false }
            guard count > 0 else { continue }
            hasSamples = true
            decoded.items.append(
                .samples(
                    SampleBlock(
                        stream: run.stream, counter: counter, firstChannel: run.firstChannel, channelCount: run.slots.count,
                        instantCount: count, values: start..<decoded.values.count)))
        }
        if let annotation = packet.annotation {
            let own = packet.runs.first.map { HeadsetEvent.Sample(stream: $0.stream, counter: counter) }
            guard let event = annotation.event(in: bytes, frame, own: own) else { return false }
            decoded.items.append(.event(event))
        }
        if let message = packet.message?.text(in: bytes, frame) { decoded.items.append(.message(message)) }
        if let status = packet.status {
            decoded.items.append(.status(self.status(status, bytes, frame)))
        }
        return true
    }

    private func status(_ described: DescribedStatus, _ bytes: [UInt8], _ frame: Range<Int>) -> HeadsetStatus {
        let condition: HeadsetStatus.Condition
        switch described.condition {
        case .bySamples: condition = hasSamples ? .streaming : .idle
        case .fixed(let fixed): condition = fixed
        case .field(let field, let values, let otherwise):
            let pattern = field.pattern(in: bytes, frame)
            condition = values.first { $0.value == pattern }?.condition ?? otherwise
        }
        let battery = described.battery.flatMap { battery in
            battery.field.pattern(in: bytes, frame).flatMap(battery.field.number.real).map {
                min(100, max(0, $0 * battery.scale + battery.offset))
            }
        }
        let ticks = described.ticks.flatMap { $0.pattern(in: bytes, frame) }
        return HeadsetStatus(
            condition: condition,
            bootIdentifier: described.bootIdentifier?.pattern(in: bytes, frame).map { UInt32(truncatingIfNeeded: $0) },
            batteryPercent: battery.flatMap { $0.isFinite ? $0 : nil }, deviceTicks: ticks,
            tickFrequency: ticks == nil ? nil : described.tickFrequency,
            serialNumber: described.serialNumber?.text(in: bytes, frame))
    }
}
