package import Bluetooth

/// Decodes the packets of an Explore, whose notifications may be cut anywhere.
///
/// A packet counts where its kind is known, its length is right for the kind, and its trailer stands where the length says.
/// What the headset is like (channels, frequency, kind of motion packets) it learns from the packets, and then reports it as a
/// status; until then samples are dropped. A frequency that turns out too low it corrects in the same way.
package struct ExploreDecoder: HeadsetDecoder {
    /// How long packets of motion are waited for before the layout counts as known; they come each 50 ms.
    static let motionLimit: UInt64 = 30_000
    /// How much EEG must be seen before its frequency is believed to be what the clock says, in ticks.
    static let frequencyTime: UInt64 = 20_000
    /// How often battery and clock are reported, in ticks: each minute.
    static let reportInterval: UInt64 = 6_000_000

    private let data: BluetoothUUID
    private let wantedFrequency: Double?
    private var stream = ByteStream()
    private var timeLength = 4
    /// The headset's clock at the latest packet, with the wraps of its 32 bits.
    private var ticks: UInt64?

    /// What is known of the headset; complete once ``isKnown``.
    private var layout = ExploreLayout()
    private var isKnown = false
    private var frequencyIsSent = false
    private var motionIsSeen = false
    /// Since when EEG comes, by the headset's clock.
    private var firstEEG: UInt64?
    private var pace = ExplorePace()

    private var eeg = ExploreTimeline(samplingFrequency: 250)
    private var motion = ExploreTimeline(samplingFrequency: ExploreLayout.motionFrequency)
    private var environment = ExploreTimeline(samplingFrequency: ExploreLayout.environmentFrequency)
    private var batteryPercent: Double?
    private var lastReport: UInt64 = 0

    /// Creates a decoder for one link.
    ///
    /// - Parameters:
    ///   - service: where the packets come from.
    ///   - wantedFrequency: how many samples a second there are to be; nil for whatever the headset is set to.
    package init(service: ExploreService = .explorePro, wantedFrequency: Double? = nil) {
        data = service.data
        self.wantedFrequency = wantedFrequency
    }

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        guard characteristic == data else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        stream.append(bytes)
        while stream.count >= ExplorePacket.headerLength {
            let length = Int(stream[2]) | Int(stream[3]) << 8
            guard let kind = ExplorePacket.Kind(rawValue: stream[0]), let time = timeLength(kind, length: length) else {
                stream.skip()
                continue
            }
            let end = ExplorePacket.headerLength + length
            guard stream.count >= end else { break }
            let trailer = kind.trailer
            let found = (stream[end - 4], stream[end - 3], stream[end - 2], stream[end - 1])
            guard found == trailer else {
                stream.skip()
                continue
            }
            appendDamage(to: &decoded)
            timeLength = time
            let content = ExplorePacket.headerLength + time..<end - ExplorePacket.trailerLength
            take(kind, at: clock(time), content, into: &decoded)
            stream.consume(end)
        }
        appendDamage(to: &decoded)
    }

    /// What the headset is like is known; its packets count from the first.
    package func continued() -> (any HeadsetDecoder)? {
        var next = self
        next.stream = ByteStream()
        next.ticks = nil
        next.firstEEG = nil
        next.pace = ExplorePace()
        next.eeg = ExploreTimeline(samplingFrequency: layout.samplingFrequency)
        next.motion = ExploreTimeline(samplingFrequency: ExploreLayout.motionFrequency)
        next.environment = ExploreTimeline(samplingFrequency: ExploreLayout.environmentFrequency)
        next.lastReport = 0
        return next
    }

    private mutating func appendDamage(to decoded: inout Decoded) {
        let count = stream.takeSkipped()
        if count > 0 { decoded.items.append(.discarded(byteCount: count)) }
    }

    // MARK: Frames

    /// Bytes of the time in a packet of the kind; nil where the length is not one of the kind.
    private func timeLength(_ kind: ExplorePacket.Kind, length: Int) -> Int? {
        guard length <= ExplorePacket.lengthMaximum else { return nil }
        let rest = length - ExplorePacket.trailerLength
        if let content = kind.contentLength { return rest == content + 4 ? 4 : rest == content + 8 ? 8 : nil }
        if kind == .deviceInformationHypersync {
            // Of old firmware it has 4 bytes of content and a time of 32 bits.
            return rest == 4 + 4 ? 4 : rest == 22 + 8 ? 8 : nil
        }
        guard rest >= timeLength else { return nil }
        if let channelCount = kind.channelCount {
            return rest > timeLength && (rest - timeLength).isMultiple(of: 3 * (channelCount + 1)) ? timeLength : nil
        }
        return timeLength
    }

    /// The clock of the packet, unwrapped.
    private mutating func clock(_ timeLength: Int) -> UInt64 {
        let low = stream.uint32(littleEndianAt: ExplorePacket.headerLength)
        if timeLength == 8 {
            let high = stream.uint32(littleEndianAt: ExplorePacket.headerLength + 4)
            let now = UInt64(high) << 32 | UInt64(low)
            ticks = now
            return now
        }
        guard let ticks else {
            self.ticks = UInt64(low)
            return UInt64(low)
        }
        // The nearest time with these bits: 2^32 ticks are 12 hours.
        let step = Int64(Int32(bitPattern: low &- UInt32(truncatingIfNeeded: ticks)))
        let now = ticks &+ UInt64(bitPattern: step)
        // A packet that was overtaken does not set the clock back.
        if step > 0 { self.ticks = now }
        return now
    }

    private mutating func take(
        _ kind: ExplorePacket.Kind, at ticks: UInt64, _ content: Range<Int>, into decoded: inout Decoded
    ) {
        let first = content.lowerBound
        switch kind {
        case .eeg4, .eeg8, .eeg8USBC, .eeg32, .eeg8BLE, .eeg16BLE, .eeg32BLE:
            takeEEG(kind, at: ticks, content, into: &decoded)
        case .orientation, .orientationWithQuaternion: takeMotion(kind, at: ticks, first, into: &decoded)
        case .environment: takeEnvironment(at: ticks, first, into: &decoded)
        case .deviceInformation1, .deviceInformation2, .deviceInformationBLE, .deviceInformationHypersync:
            takeInformation(kind, content, into: &decoded)
        case .triggerIn, .triggerOut:
            // The time within is when it happened; that of the packet is when it was sent (explorepy).
            let precise = Int32(bitPattern: stream.uint32(littleEndianAt: first) &- UInt32(truncatingIfNeeded: ticks))
            takeEvent(
                "Trigger \(kind == .triggerIn ? "in" : "out")", codeAt: first + 4,
                at: ticks &+ UInt64(bitPattern: Int64(precise)), into: &decoded)
        case .pushMarker: takeEvent("Button", codeAt: first, at: ticks, into: &decoded)
        case .commandReceived: break
        case .commandStatus: takeCommandStatus(at: ticks, content, into: &decoded)
        case .disconnect: decoded.items.append(.message("The headset ends the connection"))
        case .calibration, .calibrationUSBC, .version, .timestamp: break
        }
    }

    // MARK: Samples

    private mutating func takeEEG(
        _ kind: ExplorePacket.Kind, at ticks: UInt64, _ content: Range<Int>, into decoded: inout Decoded
    ) {
        guard let channelCount = kind.channelCount else { return }
        let instantLength = 3 * (channelCount + (kind.isSingleInstant ? 0 : 1))
        let instants = content.count / instantLength
        pace.append(at: ticks, isSingleInstant: kind.isSingleInstant)
        if !isKnown || layout.channelCount != channelCount {
            learn(kind, channelCount, at: ticks, firstByte: content.lowerBound, into: &decoded)
            guard isKnown else { return }
        }
        var found = eeg.index(at: ticks, count: instants)
        if found == nil, pace.noteRepeat(), correct(kind, at: ticks, firstByte: content.lowerBound, into: &decoded) {
            found = eeg.index(at: ticks, count: instants)
        }
        guard let index = found else { return }
        // A packet bears the time of its first instant (explorepy).
        let lastTicks = ticks &+ UInt64(Double(max(1, instants) - 1) * eeg.period)
        for bank in 0..<layout.bankCount {
            let channels = min(8, channelCount - 8 * bank)
            let start = decoded.values.count
            for instant in 0..<instants {
                let offset = content.lowerBound + instant * instantLength
                for channel in 0..<channels {
                    let value =
                        kind.isSingleInstant
                        ? stream.int24(bigEndianAt: offset + 3 * (8 * bank + 7 - channel))
                        : stream.int24(littleEndianAt: offset + 3 * (1 + 8 * bank + channel))
                    decoded.values.append(value)
                }
            }
            Self.append(
                stream: ExploreLayout.eeg + bank, index, channelCount: channels, instants, from: start, at: lastTicks,
                into: &decoded)
        }
    }

    private mutating func takeMotion(
        _ kind: ExplorePacket.Kind, at ticks: UInt64, _ first: Int, into decoded: inout Decoded
    ) {
        if !motionIsSeen {
            motionIsSeen = true
            if !isKnown { layout.motion = kind }
        }
        // The other kind has other scales.
        guard isKnown, kind == layout.motion, let index = motion.index(at: ticks, count: 1) else { return }
        for (sensor, stream) in (ExploreLayout.accelerometer...ExploreLayout.magnetometer).enumerated() {
            let start = decoded.values.count
            for axis in 0..<3 { decoded.values.append(self.stream.int16(littleEndianAt: first + 6 * sensor + 2 * axis)) }
            Self.append(stream: stream, index, channelCount: 3, 1, from: start, at: ticks, into: &decoded)
        }
    }

    private mutating func takeEnvironment(at ticks: UInt64, _ first: Int, into decoded: inout Decoded) {
        let battery = Int32(stream[first + 3]) | Int32(stream[first + 4]) << 8
        batteryPercent = ExploreBattery.percent(ofCount: battery)
        guard isKnown else { return }
        if ticks &- lastReport >= Self.reportInterval { report(at: ticks, into: &decoded) }
        guard let index = environment.index(at: ticks, count: 1) else { return }
        let start = decoded.values.count
        decoded.values.append(Int32(stream[first]))
        decoded.values.append(Int32(stream[first + 1]) | Int32(stream[first + 2]) << 8)
        decoded.values.append(battery)
        Self.append(
            stream: ExploreLayout.environment, index, channelCount: 3, 1, from: start, at: ticks, into: &decoded)
    }

    private static func append(
        stream: Int, _ index: Int64, channelCount: Int, _ instants: Int, from start: Int, at lastTicks: UInt64,
        into decoded: inout Decoded
    ) {
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: stream, counter: UInt32(truncatingIfNeeded: index), channelCount: channelCount,
                    instantCount: instants, values: start..<decoded.values.count, deviceTicks: lastTicks)))
    }

    /// A trigger or a button, of the sample that the headset's clock says.
    private func takeEvent(_ name: String, codeAt offset: Int, at ticks: UInt64, into decoded: inout Decoded) {
        let code = Int64(stream[offset]) | Int64(stream[offset + 1]) << 8
        let sample = (isKnown ? eeg.index(of: ticks) : nil).map {
            HeadsetEvent.Sample(stream: ExploreLayout.eeg, counter: UInt32(truncatingIfNeeded: $0))
        }
        decoded.items.append(.event(HeadsetEvent("\(name) \(code)", of: sample, deviceTicks: ticks, code: code)))
    }

    // MARK: What the headset is

    /// Learns from a packet of EEG what the headset is like, and reports it once that is complete.
    private mutating func learn(
        _ kind: ExplorePacket.Kind, _ channelCount: Int, at ticks: UInt64, firstByte: Int, into decoded: inout Decoded
    ) {
        if layout.channelCount != channelCount { forget() }
        layout.channelCount = channelCount
        guard let begun = firstEEG else {
            firstEEG = ticks
            return
        }
        let elapsed = ticks >= begun ? ticks - begun : 0
        if !kind.isSingleInstant {
            // The word before each instant holds it.
            layout.samplingFrequency = Self.frequency(ofCode: stream[firstByte + 2])
            frequencyIsSent = true
        } else if !frequencyIsSent {
            guard elapsed >= Self.frequencyTime, let measured = pace.samplingFrequency else { return }
            layout.samplingFrequency = measured
        }
        guard motionIsSeen || elapsed >= Self.motionLimit else { return }
        isKnown = true
        eeg = ExploreTimeline(samplingFrequency: layout.samplingFrequency)
        report(at: ticks, into: &decoded)
    }

    /// Many packets seem to have come twice: takes a higher frequency, where the packets show one, and reports it.
    ///
    /// The latest packets have been measured already: nothing is dropped while the frequency is learned again. A lower one is
    /// no correction, as lost packets look like it.
    ///
    /// - Returns: false where the frequency is right, and packets do come twice.
    private mutating func correct(
        _ kind: ExplorePacket.Kind, at ticks: UInt64, firstByte: Int, into decoded: inout Decoded
    ) -> Bool {
        let shown = kind.isSingleInstant ? pace.samplingFrequency : Self.frequency(ofCode: stream[firstByte + 2])
        pace.restart()
        guard let shown, shown > layout.samplingFrequency else { return false }
        layout.samplingFrequency = shown
        frequencyIsSent = !kind.isSingleInstant
        eeg = ExploreTimeline(samplingFrequency: shown)
        report(at: ticks, into: &decoded)
        return true
    }

    private mutating func forget() {
        isKnown = false
        firstEEG = nil
        pace.restart()
    }

    private static func frequency(ofCode code: UInt8) -> Double { code <= 6 ? Double(16_000 >> Int(code)) : 250 }

    private mutating func takeInformation(
        _ kind: ExplorePacket.Kind, _ content: Range<Int>, into decoded: inout Decoded
    ) {
        // Newer ones begin with 16 characters of the board's name.
        let offset = content.count >= 20 ? 16 : 0
        guard content.count >= offset + 4 else { return }
        let first = content.lowerBound
        let frequency = Self.frequency(ofCode: stream[first + offset + 2])
        if isKnown, frequency != layout.samplingFrequency { forget() }
        layout.samplingFrequency = frequency
        frequencyIsSent = true
        let version = Int(stream[first + offset]) | Int(stream[first + offset + 1]) << 8
        var name: [UInt8] = []
        for index in first..<first + offset where (0x21...0x7E).contains(stream[index]) { name.append(stream[index]) }
        let board = name.isEmpty ? "" : " on \(String(decoding: name, as: UTF8.self))"
        let digits = String(version).map(String.init).joined(separator: ".")
        let mask = String(stream[first + offset + 3], radix: 2)
        decoded.items.append(
            .deviceInformation(
                DeviceInformation(
                    modelNumber: name.isEmpty ? nil : String(decoding: name, as: UTF8.self), firmwareRevision: digits)))
        decoded.items.append(.message("Firmware \(digits)\(board), \(Int(frequency)) Hz, channels \(mask)"))
    }

    /// The answer to a command: to the status query, or to another.
    private mutating func takeCommandStatus(at ticks: UInt64, _ content: Range<Int>, into decoded: inout Decoded) {
        guard content.count >= 6 else { return }
        let code = stream[content.lowerBound]
        let status = stream[content.lowerBound + 5]
        if status == 0 { decoded.items.append(.refused(command: code, code: status)) }
        if code == ExploreCommand.samplingFrequency(doublings: 0).code, status != 0 {
            // What was known of the frequency no longer holds.
            forget()
            frequencyIsSent = false
        } else if isKnown {
            report(at: ticks, into: &decoded)
        }
    }

    private mutating func report(at ticks: UInt64, into decoded: inout Decoded) {
        lastReport = ticks
        let isRight = wantedFrequency == nil || wantedFrequency == layout.samplingFrequency
        decoded.items.append(
            .status(
                HeadsetStatus(
                    condition: isRight ? .streaming : .wrongConfiguration, streams: layout.streams,
                    batteryPercent: batteryPercent, deviceTicks: ticks, tickFrequency: ExplorePacket.tickFrequency)))
    }
}
