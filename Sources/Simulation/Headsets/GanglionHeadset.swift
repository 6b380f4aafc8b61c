import Bluetooth
package import Headsets

/// What a simulated Ganglion is like.
package struct GanglionSpecification: Hashable, Sendable {
    /// How it packs samples.
    package var firmware: GanglionFirmware
    /// By how much its crystal is fast, in parts per million.
    package var crystalErrorPPM: Double

    /// Creates a specification.
    package init(firmware: GanglionFirmware = .version3, crystalErrorPPM: Double = 0) {
        self.firmware = firmware
        self.crystalErrorPPM = crystalErrorPPM
    }

    /// The Software Revision String.
    var softwareRevision: String { firmware == .version3 ? "3.0.2" : "2.0.1" }
}

/// The firmware of a Ganglion: samples as long as a link lasts, from `b` to `s`.
final class GanglionHeadset: PeripheralBehaviour, SessionHeadset {
    private(set) var sessions: [SampleSession] = []

    unowned let headset: SimulatedHeadset
    let specification: GanglionSpecification
    private let interval: Int64
    private var isSampling = false
    private var isAccelerometerOn = false
    private var isMeasuringImpedance = false
    /// What the latest `z` met: `Z` starts the samples again only then.
    private var wasSampling = false
    /// The first sampling instant that was not sent.
    private var next: Int64 = 0
    private var messages: [[UInt8]] = []
    /// Nil where a silent radio costs the oldest packets.
    private var queue: RefusingQueue?
    /// The latest notification: the headset does not clear what it does not use.
    private var stale = [UInt8](repeating: 0, count: GanglionService.packetLength)
    private var impedanceElectrode = 0
    private var nextImpedance: Int64 = 0
    private var reconstruction: Reconstruction?
    /// Where on a tape a cycle of firmware 2 begins, and where it lacks something.
    var wholeCycle: (begin: Int64, end: Int64)?
    /// Which fields the samples from an instant on are sent in, in order; one entry at least for each session.
    private var widths: [(session: Int, first: Int64, bits: Int)] = []

    /// The samples of one cycle of firmware 2 as the sum of their differences.
    private struct Reconstruction {
        var session: Int
        var cycle: Int64
        var values: [Int32]
    }

    /// What the radio can hold back before the firmware drops packets.
    private static let backlog: Int64 = 64
    static let cycle = Int64(GanglionService.cycleLength)
    static let accelerationsPerCycle: Int64 = 10
    /// 1,001 readings, one each 500 µs: so long one electrode takes.
    private static let impedancePeriod: Int64 = 500_500_000

    init(_ specification: GanglionSpecification, headset: SimulatedHeadset) {
        self.specification = specification
        self.headset = headset
        interval = headset.specification.connectionInterval.nanoseconds
        queue = headset.specification.refusingQueueAhead.map { RefusingQueue(ahead: $0) }
    }

    var isStreaming: Bool { isSampling }

    // MARK: Power and link

    func boot(at time: Int64) { stop(at: time) }

    func shutDown(at time: Int64) { stop(at: time) }

    func linkChanged(at time: Int64) {
        guard headset.link == nil else { return }
        // The firmware stops everything when the link ends, and switches the accelerometer off.
        stop(at: time)
        isAccelerometerOn = false
        isMeasuringImpedance = false
        messages.removeAll()
        headset.scheduleTick(at: nil)
    }

    func read(_ characteristic: BluetoothUUID, at time: Int64) -> [UInt8]? {
        switch characteristic {
        case .softwareRevisionString: Array(specification.softwareRevision.utf8)
        case .modelNumberString: Array("Ganglion".utf8)
        default: nil
        }
    }

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        if characteristic == GanglionService.disconnect {
            headset.world.closeLink(headset, error: .peripheralDisconnected)
            return nil
        }
        // The firmware looks at the first byte only.
        guard let first = value.first, let command = GanglionCommand(rawValue: first) else { return nil }
        switch command {
        case .start: start(at: time)
        case .stop: stop(at: time)
        case .accelerometerOn: switchAccelerometer(on: true)
        case .accelerometerOff: switchAccelerometer(on: false)
        case .impedanceOn:
            wasSampling = isSampling
            stop(at: time)
            isMeasuringImpedance = true
            impedanceElectrode = 0
            nextImpedance = time + Self.impedancePeriod
        case .impedanceOff:
            isMeasuringImpedance = false
            if wasSampling { start(at: time) }
        case .reset:
            stop(at: time)
            say("OpenBCI Ganglion v\(specification.softwareRevision)\nLIS2DH ID: 0x33\nMCP3912 CONFIG_1: 0x00000\n$$$")
        case .registers:
            if !isSampling { say("MCP3912 Registers\nLIS2DH Registers\n$$$") }
        }
        headset.scheduleTick(at: time + interval)
        return nil
    }

    private func start(at time: Int64) {
        guard !isSampling else { return }
        isMeasuringImpedance = false
        isSampling = true
        next = 0
        queue?.removeAll()
        var session = SampleSession(
            began: MonotonicTime(nanoseconds: time), firstIndexes: [0, 0],
            samplingFrequencies: [200, 2000 / Double(Self.cycle)], crystal: headset.specification.crystal)
        if headset.world.tape != nil { session.wind(to: sessions.first, headset.specification) }
        sessions.append(session)
        widths.append((sessions.count - 1, 0, width))
    }

    /// A byte of each packet is the accelerometer's while that is on; the samples have the rest.
    private var width: Int { isAccelerometerOn ? 18 : 19 }

    private func switchAccelerometer(on isOn: Bool) {
        isAccelerometerOn = isOn
        guard isSampling, widths.last?.bits != width else { return }
        widths.append((sessions.count - 1, next, width))
        reconstruction = nil
    }

    /// The width of the fields in which a sample was sent.
    private func width(_ session: Int, _ position: Int64) -> Int {
        widths.last { $0.session == session && $0.first <= position }?.bits ?? width
    }

    private func stop(at time: Int64) {
        if isSampling { sessions[sessions.count - 1].ended = MonotonicTime(nanoseconds: time) }
        isSampling = false
    }

    /// Text goes out in pieces of 19 characters.
    private func say(_ text: String) {
        let characters = Array(text.utf8)
        for start in stride(from: 0, to: characters.count, by: GanglionService.packetLength - 1) {
            let piece = characters[start..<min(characters.count, start + GanglionService.packetLength - 1)]
            messages.append([start + piece.count < characters.count ? 206 : 207] + piece)
        }
    }

    // MARK: Sending

    func tick(at time: Int64) -> Int64? {
        guard headset.link != nil else { return nil }
        // One text packet a turn: the firmware leaves 15 ms between two.
        if !messages.isEmpty { headset.notify(messages.removeFirst(), from: GanglionService.data) }
        if isMeasuringImpedance, time >= nextImpedance { sendImpedance(at: time) }
        if isSampling, let session = sessions.last {
            let end = session.position(at: MonotonicTime(nanoseconds: time), stream: 0)
            if queue == nil { dropBacklog(end) }
            var due: [Int64] = []
            while next + instants(ofPacketAt: next) <= end {
                due.append(next)
                next += Self.length(ofPacketAt: next, specification.firmware)
            }
            due = queue?.take(due, limit: Int(Self.backlog / 2), perSecond: 100, isHeard: headset.isHeard, at: time) ?? due
            for first in due where isThere(first) {
                stale = packet(of: first)
                headset.notify(stale, from: GanglionService.data)
            }
        }
        return isSampling || isMeasuringImpedance || !messages.isEmpty ? time + interval : nil
    }

    private func sendImpedance(at time: Int64) {
        nextImpedance = time + Self.impedancePeriod
        let text = "\(Self.impedance(ofElectrode: impedanceElectrode))Z"
        headset.notify([201 + UInt8(impedanceElectrode)] + text.utf8, from: GanglionService.data)
        impedanceElectrode = (impedanceElectrode + 1) % 5
    }

    /// Another one for each electrode, in kΩ.
    static func impedance(ofElectrode electrode: Int) -> Int { 7 * (electrode + 1) }

    /// What a silent radio could not carry is gone, whole packets of it.
    private func dropBacklog(_ end: Int64) {
        while end - next > Self.backlog { next += Self.length(ofPacketAt: next, specification.firmware) }
    }

    /// The sampling instants from the packet that begins at an instant to the next one.
    private static func length(ofPacketAt instant: Int64, _ firmware: GanglionFirmware) -> Int64 {
        let position = instant % cycle
        switch firmware {
        case .version2: return position == 0 ? 1 : 2
        // The last packet of a cycle is followed by a sample that is never sent.
        case .version3: return position == cycle - 3 ? 3 : 2
        }
    }

    /// How many instants the packet that begins at one holds.
    private func instants(ofPacketAt first: Int64) -> Int64 {
        specification.firmware == .version2 && first % Self.cycle == 0 ? 1 : 2
    }

    /// The packet of the instants from `first` on.
    private func packet(of first: Int64) -> [UInt8] {
        let position = first % Self.cycle
        let session = sessions.count - 1
        if instants(ofPacketAt: first) == 1 {
            var packet: [UInt8] = [0]
            for channel in 0..<4 {
                let bits = UInt32(bitPattern: sampled(session, channel, first))
                packet += [bits >> 16, bits >> 8, bits].map { UInt8(truncatingIfNeeded: $0) }
            }
            return packet + stale.suffix(GanglionService.packetLength - packet.count)
        }
        var fields: [UInt32] = []
        for instant in first..<(first + 2) {
            for channel in 0..<4 {
                let value = sampled(session, channel, instant)
                switch specification.firmware {
                case .version2:
                    let difference = sampled(session, channel, instant - 1) - value
                    fields.append(GanglionField.field(ofDifference: difference, width: width))
                case .version3: fields.append(GanglionField.field(ofSample: value, width: width))
                }
            }
        }
        let number = specification.firmware == .version2 ? (position + 1) / 2 : position / 2
        var packet = [UInt8(number) + (isAccelerometerOn ? 0 : 100)] + GanglionField.packed(fields, width: width)
        if isAccelerometerOn { packet.append(accelerationByte(session, number: number, cycle: first / Self.cycle)) }
        return packet
    }

    /// One axis in three packets of ten; the others repeat what was there.
    private func accelerationByte(_ session: Int, number: Int64, cycle: Int64) -> UInt8 {
        let digit = Int(number % 10)
        guard (1...3).contains(digit) else { return stale[GanglionService.packetLength - 1] }
        return UInt8(bitPattern: Int8(acceleration(session, digit - 1, cycle * 10 + number / 10)))
    }

    // MARK: The signal

    /// What the converter gave; 24 bits. Where a tape holds none it is 0, and not sent.
    private func sampled(_ session: Int, _ channel: Int, _ position: Int64) -> Int32 {
        if let tape = headset.world.tape {
            return tape.value(stream: 0, channel: channel, position: sessions[session].tapePositions[0] + position) ?? 0
        }
        // A count of the Ganglion is a twelfth of one of the common signal.
        return 12
            * SimulatedSignal.value(
                seed: headset.world.seed, boot: UInt32(session), stream: 0, channel: channel,
                index: UInt32(truncatingIfNeeded: position))
    }

    private func acceleration(_ session: Int, _ axis: Int, _ position: Int64) -> Int32 {
        if let tape = headset.world.tape {
            // Its byte is in packets of samples, so that one that a tape does not hold is sent as 0.
            return tape.value(stream: 1, channel: axis, position: sessions[session].tapePositions[1] + position) ?? 0
        }
        let value = SimulatedSignal.value(
            seed: headset.world.seed, boot: UInt32(session), stream: 1, channel: axis,
            index: UInt32(truncatingIfNeeded: position))
        // Neighbours differ, so that a row at a wrong n shows.
        return Int32(Int8(truncatingIfNeeded: value >> 4))
    }

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        if position < 0 { return nil }
        if stream == GanglionProfile.accelerometer {
            let first = Self.packet(ofAxis: channel, position, specification.firmware)
            return isThere(first, session: session) ? acceleration(session, channel, position) : nil
        }
        if !isThere(position, session: session) { return nil }
        switch specification.firmware {
        case .version3:
            if position % Self.cycle == Self.cycle - 1 { return nil }
            let width = width(session, position)
            return GanglionField.sample(
                GanglionField.field(ofSample: sampled(session, channel, position), width: width), width: width)
        case .version2:
            return reconstructed(session, cycle: position / Self.cycle)[Int(position % Self.cycle) * 4 + channel]
        }
    }

    /// A cycle of firmware 2 with what the lowest bits of the differences have lost.
    private func reconstructed(_ session: Int, cycle: Int64) -> [Int32] {
        if let known = reconstruction, known.session == session, known.cycle == cycle { return known.values }
        let first = cycle * Self.cycle
        var values = (0..<4).map { sampled(session, $0, first) }
        for position in (first + 1)..<(first + Self.cycle) {
            let width = width(session, position)
            for channel in 0..<4 {
                let difference = sampled(session, channel, position - 1) - sampled(session, channel, position)
                let field = GanglionField.field(ofDifference: difference, width: width)
                values.append(values[values.count - 4] - GanglionField.difference(field, width: width))
            }
        }
        reconstruction = Reconstruction(session: session, cycle: cycle, values: values)
        return values
    }
}

extension HeadsetSpecification {
    /// An OpenBCI Ganglion: no memory, no serial number; packets count the samples of a second.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - specification: its firmware and crystal.
    package static func ganglion(
        number: Int = 1, _ specification: GanglionSpecification = GanglionSpecification()
    ) -> HeadsetSpecification {
        let digits = String(0xA000 + number, radix: 16)
        var headset = HeadsetSpecification(
            localName: "Ganglion-\(digits)", identifier: address(number: 0x200 + number),
            serviceUUIDs: [GanglionService.service],
            database: GATTDatabase(characteristics: GanglionService.characteristics),
            firmware: { GanglionHeadset(specification, headset: $0) })
        headset.connectionInterval = .milliseconds(20)
        headset.indexesPerPacket = [Int64(GanglionService.cycleLength), GanglionHeadset.accelerationsPerCycle]
        headset.playsTapes = true
        headset.crystal = Crystal(errorPPM: specification.crystalErrorPPM)
        return headset
    }
}

extension SimulatedModel {
    static let ganglion = SimulatedModel(
        profile: GanglionProfile(), make: { .ganglion(number: $0) },
        varieties: [
            Variety(name: "ganglion", sendsAllSamples: false) { .ganglion(GanglionSpecification(crystalErrorPPM: $0)) },
            Variety(name: "ganglion2") {
                .ganglion(GanglionSpecification(firmware: .version2, crystalErrorPPM: $0))
            },
        ],
        share: .own(oneIn: 4) { generator in
            let firmware: GanglionFirmware = generator.next() % 2 == 0 ? .version2 : .version3
            return .ganglion(GanglionSpecification(firmware: firmware, crystalErrorPPM: crystalErrorPPM(&generator)))
        },
        outlivesStalls: false)
}
