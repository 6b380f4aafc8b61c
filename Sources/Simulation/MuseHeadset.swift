import Bluetooth
import Headsets

/// What a simulated Muse 2016, Muse 2 or Muse S is like.
public struct MuseSpecification: Hashable, Sendable {
    /// True for a Muse 2 or Muse S; a Muse 2016 has no optical channels.
    public var hasPPG: Bool
    /// By how much its crystal is fast, in parts per million.
    public var crystalErrorPPM: Double
    /// True where it is switched on in its bootloader, until it is reset.
    public var startsInBootloader = false
    /// True where it shows its control characteristic alone after it was switched on, until a command came and the link ended.
    public var startsWithControlOnly = false

    /// Creates a specification.
    public init(hasPPG: Bool = true, crystalErrorPPM: Double = 0) {
        self.hasPPG = hasPPG
        self.crystalErrorPPM = crystalErrorPPM
    }
}

/// The firmware of a Muse: samples from `d` to `h` or the end of the link, each channel of the EEG in packets of its own.
final class MuseHeadset: PeripheralBehaviour, SessionHeadset {
    private(set) var sessions: [SampleSession] = []

    private unowned let headset: SimulatedHeadset
    private let specification: MuseSpecification
    private let interval: Int64
    private var replies: MuseReplyQueue
    private var isSampling = false
    private var isInBootloader = false
    private var showsControlOnly = false
    /// True once a command came while only the control characteristic was visible.
    private var hasHeardCommand = false
    private var preset: UInt8 = 0x21
    /// By stream: the number of the next packet of the session.
    private var nextPackets: [Int64] = []
    private var nextTelemetry: Int64 = 0
    private var telemetryCount: UInt16 = 0
    private var lastKeepAlive: Int64 = 0
    private var bootCount = 0

    /// The instants of a packet, by stream.
    private static let instantsPerPacket: [Int64] = [12, 3, 3, 6]
    /// Packets of a stream that the radio holds back; older ones are gone.
    private static let backlog: Int64 = 8
    /// In this order the packets of one instant come.
    private static let channelOrder = [4, 3, 2, 0, 1]
    /// Streams end by themselves some time after the last keep-alive.
    private static let patience: Int64 = 12 * 60 * 1_000_000_000

    init(_ specification: MuseSpecification, headset: SimulatedHeadset) {
        self.specification = specification
        self.headset = headset
        replies = MuseReplyQueue(
            name: headset.specification.localName, serialNumber: headset.specification.serialNumber ?? "")
        interval = headset.specification.connectionInterval.nanoseconds
    }

    var isStreaming: Bool { isSampling }

    var database: GATTDatabase? {
        guard showsControlOnly else { return nil }
        let all = headset.specification.database.characteristics
        return GATTDatabase(characteristics: all.filter { $0.uuid == MuseService.control })
    }

    // MARK: Power and link

    func boot(at time: Int64) {
        stop(at: time)
        if bootCount == 0 {
            isInBootloader = specification.startsInBootloader
            showsControlOnly = specification.startsWithControlOnly
        }
        bootCount += 1
        preset = 0x21
        replies.clear()
    }

    func shutDown(at time: Int64) { stop(at: time) }

    func linkChanged(at time: Int64) {
        guard headset.link == nil else { return }
        stop(at: time)
        replies.clear()
        if showsControlOnly, hasHeardCommand {
            showsControlOnly = false
            headset.servicesAreUnknown = true
        }
        headset.scheduleTick(at: nil)
    }

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        guard characteristic == MuseService.control, let text = MuseCommand.text(of: value) else { return nil }
        hasHeardCommand = true
        perform(text, at: time)
        headset.scheduleTick(at: time + interval)
        return nil
    }

    private func perform(_ text: String, at time: Int64) {
        switch text {
        case "v1", "v4", "v6": replies.addVersion(isInBootloader: isInBootloader)
        case "*1":
            isInBootloader = false
            headset.world.reboot(headset)
        case _ where isInBootloader: replies.add("{\"rc\":1}")
        case "s":
            if headset.world.strikes(.statusUnanswered, headset: headset.number) { return }
            replies.addStatus(preset: preset)
        case "h":
            stop(at: time)
            replies.add("{\"rc\":0}")
        case "d":
            if !showsControlOnly { start(at: time) }
            replies.add("{\"rc\":0}")
        case "k":
            lastKeepAlive = time
            replies.add("{\"rc\":0}")
        case _ where text.hasPrefix("p"):
            if let number = UInt8(text.dropFirst(), radix: 16) {
                preset = number
                replies.add("{\"rc\":0}")
            } else {
                replies.add("{\"rc\":1}")
            }
        default: replies.add("{\"rc\":1}")
        }
    }

    private func start(at time: Int64) {
        stop(at: time)
        isSampling = true
        nextPackets = Self.instantsPerPacket.map { _ in 0 }
        nextTelemetry = time
        lastKeepAlive = time
        let factor = 1 + specification.crystalErrorPPM * 1e-6
        var generator = SeededGenerator(
            seed: headset.world.seed, purpose: 0x305E ^ UInt64(headset.number) << 16 ^ UInt64(sessions.count) << 32)
        // Some sessions begin shortly before the number of the packets wraps.
        let first = Int64(generator.next() % 2 == 0 ? generator.below(1000) : 65_535 - generator.below(1000))
        sessions.append(
            SampleSession(
                began: MonotonicTime(nanoseconds: time), firstIndexes: Self.instantsPerPacket.map { first * $0 },
                samplingFrequencies: [256, 52, 52, 64].map { $0 * factor }))
    }

    private func stop(at time: Int64) {
        if isSampling { sessions[sessions.count - 1].ended = MonotonicTime(nanoseconds: time) }
        isSampling = false
    }

    // MARK: Sending

    func tick(at time: Int64) -> Int64? {
        guard headset.link != nil else { return nil }
        while let fragment = replies.next() { headset.notify(fragment, from: MuseService.control) }
        guard isSampling, let session = sessions.last else { return nil }
        if time - lastKeepAlive > Self.patience {
            headset.world.closeLink(headset, error: .peripheralDisconnected)
            return nil
        }
        for stream in Self.instantsPerPacket.indices where stream != MuseProfile.ppg || specification.hasPPG {
            let end = session.position(at: MonotonicTime(nanoseconds: time), stream: stream) / Self.instantsPerPacket[stream]
            nextPackets[stream] = max(nextPackets[stream], end - Self.backlog)
            while nextPackets[stream] < end {
                send(stream, nextPackets[stream], session)
                nextPackets[stream] += 1
            }
        }
        if time >= nextTelemetry { sendTelemetry(at: time) }
        return time + interval
    }

    private func send(_ stream: Int, _ packet: Int64, _ session: SampleSession) {
        let count = Self.instantsPerPacket[stream]
        let number = UInt16(truncatingIfNeeded: session.firstIndexes[stream] / count + packet)
        let header = [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
        func value(_ channel: Int, _ instant: Int64) -> UInt32 {
            UInt32(
                bitPattern: sent(
                    session: sessions.count - 1, stream: stream, channel: channel, position: packet * count + instant) ?? 0)
        }
        switch stream {
        case MuseProfile.eeg:
            // What nobody has subscribed is not worth the packing.
            for channel in Self.channelOrder where headset.isNotifying(MuseService.eeg[channel]) {
                var bytes = header
                for instant in stride(from: Int64(0), to: count, by: 2) {
                    let (first, second) = (value(channel, instant), value(channel, instant + 1))
                    bytes += [first >> 4, (first & 0x0F) << 4 | second >> 8, second & 0xFF].map {
                        UInt8(truncatingIfNeeded: $0)
                    }
                }
                headset.notify(bytes, from: MuseService.eeg[channel])
            }
        case MuseProfile.ppg:
            for channel in 0..<3 {
                var bytes = header
                for instant in 0..<count {
                    bytes += [16, 8, 0].map { UInt8(truncatingIfNeeded: value(channel, instant) >> $0) }
                }
                headset.notify(bytes, from: MuseService.ppg[channel])
            }
        default:
            var bytes = header
            for instant in 0..<count {
                for channel in 0..<3 {
                    bytes += [8, 0].map { UInt8(truncatingIfNeeded: value(channel, instant) >> $0) }
                }
            }
            headset.notify(bytes, from: stream == MuseProfile.gyroscope ? MuseService.gyroscope : MuseService.accelerometer)
        }
    }

    private func sendTelemetry(at time: Int64) {
        nextTelemetry = time + 10_000_000_000
        telemetryCount &+= 1
        let numbers = [telemetryCount, UInt16(MuseReplyQueue.batteryPercent * 512), 1850, 3967, 27]
        let bytes = numbers.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        let padding = [UInt8](repeating: 0, count: MuseService.packetLength - bytes.count)
        headset.notify(bytes + padding, from: MuseService.telemetry)
    }

    // MARK: The signal

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        let value = SimulatedSignal.value(
            seed: headset.world.seed, boot: UInt32(session), stream: stream, channel: channel,
            index: UInt32(truncatingIfNeeded: position))
        return switch stream {
        case MuseProfile.eeg: max(0, min(4095, 2048 + value >> 9))
        case MuseProfile.ppg: max(0, min(0xFF_FFFF, 0x80_0000 + value))
        default: max(-0x8000, min(0x7FFF, value >> 5))
        }
    }
}

/// What a Muse has to say: JSON, cut into notifications of 19 characters behind their count. What a shorter one leaves of
/// the buffer is left over from the one before.
struct MuseReplyQueue {
    /// The charge that the simulated headset tells.
    static let batteryPercent = 82

    private let name: String
    private let serialNumber: String
    private var text: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: MuseService.packetLength)

    init(name: String, serialNumber: String) {
        self.name = name
        self.serialNumber = serialNumber
    }

    mutating func clear() { text.removeAll() }

    mutating func add(_ json: String) { text += json.utf8 }

    mutating func addVersion(isInBootloader: Bool) {
        add(
            "{\"ap\":\"\(isInBootloader ? "bootloader" : "headset")\",\"sp\":\"RevE\",\"tp\":\"consumer\",\"hw\":\"3.1\","
                + "\"bn\":27,\"fw\":\"1.2.13\",\"bl\":\"1.2.3\",\"pv\":1,\"rc\":0}")
    }

    /// The preset is told in decimal.
    mutating func addStatus(preset: UInt8) {
        add(
            "{\"hn\":\"\(name)\",\"sn\":\"\(serialNumber)\",\"ma\":\"00-55-da-b0-13-24\","
                + "\"id\":\"07473435 32313630 004f003a\",\"bp\":\(Self.batteryPercent),\"ts\":0,\"ps\":\(preset),\"rc\":0}")
    }

    /// The next notification; nil where nothing is left to say.
    mutating func next() -> [UInt8]? {
        guard !text.isEmpty else { return nil }
        let count = min(text.count, buffer.count - 1)
        buffer[0] = UInt8(count)
        buffer.replaceSubrange(1..<(1 + count), with: text.prefix(count))
        text.removeFirst(count)
        return buffer
    }
}

extension HeadsetSpecification {
    /// A Muse 2016, Muse 2 or Muse S: no memory; tells its serial number in its status.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - specification: which Muse, and how it was switched on.
    public static func muse(
        number: Int = 1, _ specification: MuseSpecification = MuseSpecification()
    ) -> HeadsetSpecification {
        let digits = String(0x1300 + number, radix: 16, uppercase: true)
        let notifying = MuseService.eeg + [MuseService.gyroscope, MuseService.accelerometer, MuseService.telemetry]
        let control = Characteristic(
            service: MuseService.service, uuid: MuseService.control, properties: [.writeWithoutResponse, .notify])
        var headset = HeadsetSpecification(
            localName: "Muse-\(digits)", identifier: address(number: 0x300 + number),
            serialNumber: "2031-TZRW-\(digits)", serviceUUIDs: [MuseService.service],
            database: GATTDatabase(
                characteristics: [control]
                    + (notifying + (specification.hasPPG ? MuseService.ppg : [])).map {
                        Characteristic(service: MuseService.service, uuid: $0, properties: [.notify])
                    }),
            behaviour: .muse(specification))
        headset.connectionInterval = .milliseconds(15)
        return headset
    }
}
