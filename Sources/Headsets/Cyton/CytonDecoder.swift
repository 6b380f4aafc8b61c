package import Bluetooth

/// Decodes the byte stream of a Cyton: text until it streams, then frames.
///
/// Texts end with `$$$`. The one that says how many channels there are is the answer to the status query. A frame has no
/// checksum and little that marks it: it counts where its first and last byte are right and what follows, if it is there
/// already, begins another one. Where bytes were damaged before it, the next frame must be there, with the next number.
package struct CytonDecoder: HeadsetDecoder {
    /// What each text of the headset ends with.
    static let textEnd = "$$$"
    /// Longer texts are none: the register dump of a board with a Daisy has about 1,000 characters.
    package static let messageLengthMaximum = 2048
    /// The board's clock is reported once in so many frames: a minute.
    static let framesPerReport = 15_000
    /// One acceleration comes in this many frames: 25 Hz of 250 Hz.
    static let framesPerAcceleration = 10

    private let settings: CytonSettings
    private var stream = ByteStream()
    private var text: [UInt8] = []
    /// True where the headset has said that it sends 16 channels.
    private var hasDaisy = false
    private var lastNumber: UInt8?
    /// False until a frame of the board itself has come: with a Daisy, an instant begins with it.
    private var hasBegun = false
    /// Frames that were lost since the last acceleration that was counted as lost.
    private var lostFrames = 0
    private var framesSinceReport = 0
    private var inputs = CytonInputs()
    /// The board's clock in the present frame.
    private var milliseconds: UInt64?

    /// Creates a decoder for one link.
    ///
    /// - Parameter settings: how the headset is set.
    package init(settings: CytonSettings = CytonSettings()) {
        self.settings = settings
    }

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        guard characteristic == .serialPort else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        stream.append(bytes)
        while stream.count > 0 {
            guard stream[0] == CytonFrame.header else {
                takeCharacter(into: &decoded)
                continue
            }
            guard let isFrame else { break }
            dropText()
            if isFrame {
                appendDamage(to: &decoded)
                decodeFrame(into: &decoded)
                stream.consume(CytonFrame.length)
            } else {
                stream.skip()
            }
        }
        appendDamage(to: &decoded)
    }

    /// How many channels the headset has is known.
    package func continued() -> (any HeadsetDecoder)? {
        var next = CytonDecoder(settings: settings)
        next.hasDaisy = hasDaisy
        return next
    }

    /// Whether a frame begins at the next byte, which is right; nil where more bytes must decide.
    private var isFrame: Bool? {
        // Behind the end of a text comes nothing more until the next command.
        let wait: Bool? = stream.ends(with: Self.textEnd.utf8) ? false : nil
        guard stream.count >= CytonFrame.length else { return wait }
        guard stream[CytonFrame.length - 1] & 0xF0 == CytonFrame.trailer else { return false }
        let isSure = stream.isAligned && text.isEmpty && lastNumber != nil
        guard stream.count > CytonFrame.length else { return isSure ? true : wait }
        guard stream[CytonFrame.length] == CytonFrame.header else { return false }
        if isSure { return true }
        // By chance alone, one byte in 4096 looks like a frame's beginning and has the end where it belongs.
        guard stream.count > CytonFrame.length + 1 else { return wait }
        return stream[CytonFrame.length + 1] == stream[1] &+ 1
    }

    private mutating func appendDamage(to decoded: inout Decoded) {
        let count = stream.takeSkipped()
        if count > 0 { decoded.items.append(.discarded(byteCount: count)) }
    }

    // MARK: Text

    /// Text may come at any time, since the headset does not stop when a link ends: frames of before may precede it.
    private mutating func takeCharacter(into decoded: inout Decoded) {
        let character = stream[0]
        guard character < 0x7F, character >= 0x20 || (0x09...0x0D).contains(character),
            text.count < Self.messageLengthMaximum
        else {
            dropText()
            return stream.skip()
        }
        stream.pass()
        text.append(character)
        guard character == UInt8(ascii: "$"), text.suffix(3).elementsEqual(Self.textEnd.utf8) else { return }
        stream.consume(0)
        let message = text.dropLast(3)
        switch String(decoding: message.filter { $0 > 0x20 }, as: UTF8.self) {
        case "16": appendChannels(hasDaisy: true, into: &decoded)
        case "8": appendChannels(hasDaisy: false, into: &decoded)
        default:
            let text = String(decoding: message, as: UTF8.self)
            if let information = DeviceInformation(banner: text) { decoded.items.append(.deviceInformation(information)) }
            decoded.items.append(.message(text))
        }
        text.removeAll(keepingCapacity: true)
    }

    /// What looked like text was none.
    private mutating func dropText() {
        guard !text.isEmpty else { return }
        stream.skipPassed(text.count)
        text.removeAll(keepingCapacity: true)
    }

    private mutating func appendChannels(hasDaisy: Bool, into decoded: inout Decoded) {
        self.hasDaisy = hasDaisy
        hasBegun = false
        lastNumber = nil
        let profile = CytonProfile(settings: settings, hasDaisy: hasDaisy)
        // It answers only while it does not stream.
        decoded.items.append(.status(HeadsetStatus(condition: .idle, streams: profile.streams)))
    }

    // MARK: Frames

    private mutating func decodeFrame(into decoded: inout Decoded) {
        let number = stream[1]
        guard let kind = CytonFrame.Kind(rawValue: stream[CytonFrame.length - 1] & 0x0F), kind != .impedance else {
            decoded.items.append(.discarded(byteCount: CytonFrame.length))
            return
        }
        countLost(before: number, into: &decoded)
        lastNumber = number
        milliseconds = kind.bearsTime ? UInt64(stream.uint32(bigEndianAt: CytonFrame.timeOffset)) : nil
        let isOfDaisy = hasDaisy && number.isMultiple(of: 2)
        // The first frame is the second half of an instant whose first half was never sent.
        if !isOfDaisy { hasBegun = true }
        guard hasBegun else {
            decoded.items.append(.discarded(byteCount: CytonFrame.length))
            return
        }
        let start = decoded.values.count
        for channel in 0..<CytonFrame.channelCount { decoded.values.append(stream.int24(bigEndianAt: 2 + 3 * channel)) }
        // An odd frame and the even one that follows it are one instant.
        let counter = hasDaisy ? (UInt32(number) + 1) / 2 % 128 : UInt32(number)
        let position = HeadsetEvent.Sample(stream: isOfDaisy ? CytonProfile.daisy : CytonProfile.eeg, counter: counter)
        append(stream: position.stream, counter: counter, channelCount: 8, from: start, into: &decoded)
        decodeAuxiliary(kind, number: number, into: &decoded)
        takeInputs(kind, of: position, into: &decoded)
    }

    /// Accelerations have no number. Where frames are lost, one in ten held one.
    private mutating func countLost(before number: UInt8, into decoded: inout Decoded) {
        guard let lastNumber, settings.auxiliary == .accelerometer else { return }
        let step = number &- lastNumber
        // 0 is a frame that came twice; a step of more than half a wrap is one that was overtaken.
        guard step > 1, step < 128 else { return }
        lostFrames += Int(step) - 1
        let count = lostFrames / Self.framesPerAcceleration
        lostFrames %= Self.framesPerAcceleration
        if count > 0 { decoded.items.append(.damaged(stream: auxiliaryStream, count: count)) }
    }

    private var auxiliaryStream: Int { hasDaisy ? CytonProfile.auxiliaryWithDaisy : CytonProfile.auxiliary }

    private mutating func decodeAuxiliary(_ kind: CytonFrame.Kind, number: UInt8, into decoded: inout Decoded) {
        let offset = CytonFrame.auxiliaryOffset
        let start = decoded.values.count
        let isAcceleration = settings.auxiliary == .accelerometer
        switch kind {
        case .acceleration where isAcceleration:
            // Zeros say that there is no new one: a board at rest measures 1 g.
            guard (0..<6).contains(where: { stream[offset + $0] != 0 }) else { return }
            for axis in 0..<3 { decoded.values.append(stream.int16(bigEndianAt: offset + 2 * axis)) }
            append(stream: auxiliaryStream, counter: nil, channelCount: 3, from: start, into: &decoded)
        case .accelerationTimeSet, .accelerationTimeSynced:
            reportTime(into: &decoded)
            // One axis in each of three frames of ten.
            let axis = Int(number % 10) - 7
            guard isAcceleration, axis >= 0 else { return }
            decoded.values.append(stream.int16(bigEndianAt: offset))
            append(
                stream: auxiliaryStream, counter: nil, firstChannel: axis, channelCount: 1, from: start, into: &decoded)
        case .auxiliary where !isAcceleration && !settings.stampsTime:
            for pin in 0..<3 { decoded.values.append(stream.int16(bigEndianAt: offset + 2 * pin)) }
            append(stream: auxiliaryStream, counter: UInt32(number), channelCount: 3, from: start, into: &decoded)
        case .auxiliaryTimeSet, .auxiliaryTimeSynced:
            reportTime(into: &decoded)
            guard !isAcceleration, settings.stampsTime else { return }
            decoded.values.append(stream.int16(bigEndianAt: offset))
            append(stream: auxiliaryStream, counter: UInt32(number), channelCount: 1, from: start, into: &decoded)
        case .acceleration, .auxiliary, .userDefined, .impedance: return
        }
    }

    /// Notes what the further bytes say of the world.
    private mutating func takeInputs(_ kind: CytonFrame.Kind, of position: HeadsetEvent.Sample, into decoded: inout Decoded) {
        inputs.countFrame()
        var bytes: UInt64 { (0..<6).reduce(0) { $0 << 8 | UInt64(stream[CytonFrame.auxiliaryOffset + $1]) } }
        var change: (description: String, code: Int64)?
        switch kind {
        case .auxiliary where settings.auxiliary == .digital: change = inputs.takeLevels(bytes, count: 6)
        case .auxiliaryTimeSet where settings.auxiliary == .digital, .auxiliaryTimeSynced where settings.auxiliary == .digital:
            change = inputs.takeLevels(bytes, count: 2)
        case .userDefined:
            do throws(CytonInputs.TooOften) {
                change = try inputs.takeUserBytes(bytes)
            } catch {
                decoded.items.append(.discarded(byteCount: 6))
            }
        default: break
        }
        guard let change else { return }
        decoded.items.append(
            .event(HeadsetEvent(change.description, of: position, deviceTicks: milliseconds, code: change.code)))
    }

    private mutating func reportTime(into decoded: inout Decoded) {
        defer { framesSinceReport += 1 }
        guard framesSinceReport % Self.framesPerReport == 0 else { return }
        decoded.items.append(
            .status(HeadsetStatus(condition: .streaming, deviceTicks: milliseconds, tickFrequency: 1000)))
    }

    private func append(
        stream: Int, counter: UInt32?, firstChannel: Int = 0, channelCount: Int, from start: Int, into decoded: inout Decoded
    ) {
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: stream, counter: counter, firstChannel: firstChannel, channelCount: channelCount,
                    instantCount: 1, values: start..<decoded.values.count, deviceTicks: milliseconds)))
    }
}
