import Headsets

/// What holds of everything that a decoder makes of a link, whatever came over it.
struct DecodedRules {
    /// The profile's streams, until the headset describes others; empty where only the headset knows them.
    private var streams: [StreamDescription]
    private var byteCount = 0
    private var callCount = 0
    private var valueCount = 0
    private var itemCount = 0
    private var damagedCount = 0
    private var textCount = 0

    init(streams: [StreamDescription]) {
        self.streams = streams
    }

    /// Checks what one call made of `count` bytes.
    mutating func check(_ decoded: Decoded, byteCount count: Int) -> String? {
        byteCount += count
        callCount += 1
        valueCount += decoded.values.count
        itemCount += decoded.items.count
        // No format packs a value into less than a byte, nor more than four items into one: memory is bounded by the bytes.
        if valueCount > byteCount { return "\(valueCount) values of \(byteCount) bytes" }
        if itemCount > 4 * (byteCount + callCount) { return "\(itemCount) items of \(byteCount) bytes" }
        var end = 0
        for item in decoded.items {
            if let broken = check(item, decoded, end: &end) { return "\(broken): \(item)" }
        }
        return end == decoded.values.count ? nil : "values \(end) ..< \(decoded.values.count) are in no block"
    }

    private mutating func check(_ item: DecodedItem, _ decoded: Decoded, end: inout Int) -> String? {
        switch item {
        case .samples(let block):
            guard block.values.lowerBound == end, block.values.upperBound <= decoded.values.count else {
                return "a block that does not begin where the one before ends"
            }
            end = block.values.upperBound
            return check(block, decoded.values)
        case .status(let status):
            if let broken = check(status) { return broken }
            if let described = status.streams, !streams.isEmpty { streams = described }
            return nil
        case .overwritten(let stream, _, _), .drainEnded(let stream, _):
            return (0..<BufferedEEGService.streamCountMaximum).contains(stream) ? nil : "a stream that cannot be"
        case .damaged(let stream, let count):
            damagedCount += count
            // A damaged byte is at most a raw frame, a frame of powers and one of eSense values.
            return count < 1 || damagedCount > 3 * (byteCount + callCount) ? "damage beyond the bytes" : rule(ofStream: stream)
        case .unsent(let stream, let counter, let count):
            return count < 1 || !isCounter(counter, of: stream) ? "a counter beyond its modulus" : rule(ofStream: stream)
        case .periodMark(let stream, let count, let block):
            return count < 1 || block < 1 ? "a period without samples" : rule(ofStream: stream)
        case .discarded(let count):
            return count < 0 || count > byteCount ? "more discarded than came" : nil
        case .event(let event):
            if let sample = event.sample {
                if let broken = rule(ofStream: sample.stream) { return broken }
                if let counter = sample.counter, !isCounter(counter, of: sample.stream) {
                    return "a counter beyond its modulus"
                }
            }
            return rule(ofText: event.description)
        case .message(let text): return rule(ofText: text)
        case .impedance(let electrode, let kilohms):
            return (0..<64).contains(electrode) && kilohms >= 0 && kilohms.isFinite ? nil : "an impedance that cannot be"
        case .deviceInformation(let information):
            let texts = [
                information.modelNumber, information.firmwareRevision, information.hardwareRevision,
                information.softwareRevision,
            ].compactMap(\.self)
            return texts.contains { $0.count > 64 } ? "a longer text than is kept" : nil
        case .answered, .refused: return nil
        }
    }

    private mutating func rule(ofText text: String) -> String? {
        textCount += text.utf8.count
        // A byte that is no UTF-8 becomes three; an event adds some words.
        return textCount > 3 * byteCount + 64 * itemCount ? "more text than came" : nil
    }

    private func check(_ block: SampleBlock, _ values: [Int32]) -> String? {
        guard block.channelCount > 0, block.instantCount > 0, block.firstChannel >= 0,
            block.values.count == block.channelCount * block.instantCount
        else { return "a block of another size than its channels and instants" }
        guard block.firstChannel + block.channelCount <= StreamDescription.channelsPerBank else {
            return "channels beyond the bank"
        }
        guard !streams.isEmpty else {
            let range = BufferedEEGBlock.valueRange
            return values[block.values].allSatisfy(range.contains) ? nil : "a value beyond 24 bits"
        }
        if let broken = rule(ofStream: block.stream) { return broken }
        let stream = streams[block.stream]
        guard block.firstChannel + block.channelCount <= stream.channels.count else { return "a channel that is not there" }
        if let counter = block.counter, !isCounter(counter, of: block.stream) { return "a counter beyond its modulus" }
        for (offset, index) in block.values.enumerated() {
            let channel = stream.channels[block.firstChannel + offset % block.channelCount]
            guard (channel.rawMinimum...channel.rawMaximum).contains(values[index]) else {
                return "\(channel.name) is \(values[index])"
            }
        }
        return nil
    }

    private func rule(ofStream stream: Int) -> String? {
        streams.isEmpty || streams.indices.contains(stream) ? nil : "a stream that is not there"
    }

    private func isCounter(_ counter: UInt32, of stream: Int) -> Bool {
        guard streams.indices.contains(stream) else { return streams.isEmpty }
        return streams[stream].counterModulus.map { Int64(counter) < $0 } ?? true
    }

    private func check(_ status: HeadsetStatus) -> String? {
        if let battery = status.batteryPercent, !(0...100).contains(battery) { return "a charge that cannot be" }
        if let serial = status.serialNumber {
            guard serial.utf8.count <= 64, serial.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                return "a serial number that nobody can type"
            }
        }
        if let frequency = status.tickFrequency, !(frequency > 0 && frequency.isFinite) { return "a clock that cannot be" }
        guard let described = status.streams else { return nil }
        guard status.buffered.isEmpty || described.count == status.buffered.count else {
            return "ranges of other streams than are described"
        }
        for stream in described {
            guard (1...StreamDescription.channelsPerBank).contains(stream.channels.count), stream.samplingFrequency > 0,
                stream.samplingFrequency.isFinite, stream.samplesPerCount > 0, stream.counterModulus ?? 1 > 0
            else { return "a stream that cannot be" }
            for channel in stream.channels {
                guard channel.scale.isFinite, channel.scale != 0, channel.offset.isFinite,
                    channel.rawMinimum < channel.rawMaximum
                else { return "a channel that cannot be" }
            }
        }
        return nil
    }
}
