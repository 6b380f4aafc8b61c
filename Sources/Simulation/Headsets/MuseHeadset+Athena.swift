import Headsets

/// What a Muse S Athena sends: blocks of everything, as many to a packet as there is room for.
extension MuseHeadset {
    /// The longest packets that were seen have some 240 bytes.
    private static let packetLengthMaximum = 240
    /// The device's clock begins here when it is switched on, whatever the date: 2024-12-03 00:00 UTC.
    private static let epochMilliseconds: UInt64 = 1_733_184_000_000

    /// The steps of the time in a packet, in milliseconds, as in a recording.
    private static let clockStep: UInt64 = 10

    private typealias Block = (tag: MuseAthenaPacket.Tag, number: UInt8, content: [UInt8])

    func sendMultiplexed(_ session: SampleSession, at time: Int64) {
        var blocks: [Block] = []
        // The other streams are in the same blocks: acceleration beside rotation, both banks of optics.
        _ = due(MuseAthenaProfile.gyroscope, session, at: time)
        _ = due(MuseAthenaProfile.optics + 1, session, at: time)
        for packet in due(MuseAthenaProfile.eeg, session, at: time) {
            let values = instants(MuseAthenaProfile.eeg, packet, count: 2, channels: 8)
            blocks.append((.eeg8, number(MuseAthenaProfile.eeg, packet, session), MuseAthenaPacket.packed(values, width: 14)))
        }
        for packet in due(MuseAthenaProfile.optics, session, at: time) {
            let values =
                instants(MuseAthenaProfile.optics, packet, count: 1, channels: 8)
                + instants(MuseAthenaProfile.optics + 1, packet, count: 1, channels: 8)
            blocks.append(
                (.optics16, number(MuseAthenaProfile.optics, packet, session), MuseAthenaPacket.packed(values, width: 20)))
        }
        for packet in due(MuseAthenaProfile.accelerometer, session, at: time) {
            let acceleration = instants(MuseAthenaProfile.accelerometer, packet, count: 3, channels: 3)
            let rotation = instants(MuseAthenaProfile.gyroscope, packet, count: 3, channels: 3)
            var values: [Int32] = []
            for first in stride(from: 0, to: 9, by: 3) {
                values += acceleration[first..<(first + 3)]
                values += rotation[first..<(first + 3)]
            }
            blocks.append(
                (.motion, number(MuseAthenaProfile.accelerometer, packet, session), MuseAthenaPacket.packed(values, width: 16)))
        }
        for packet in due(Self.reference, session, at: time) {
            let values = instants(Self.reference, packet, count: 6, channels: 2)
            blocks.append((.reference, number(Self.reference, packet, session), MuseAthenaPacket.packed(values, width: 16)))
        }
        if isTelemetryDue(every: 1_000_000_000, at: time) {
            let battery = MuseReplyQueue.batteryPercent * 256
            var content = [UInt8](repeating: 0, count: 20)
            content[0] = UInt8(truncatingIfNeeded: battery)
            content[1] = UInt8(truncatingIfNeeded: battery >> 8)
            blocks.append((.battery, UInt8(truncatingIfNeeded: time / 1_000_000_000), content))
        }
        send(blocks, session, at: time)
    }

    /// The device's clock when a block was complete: its number is that of the next one less one.
    private func milliseconds(_ block: Block, _ session: SampleSession, at time: Int64) -> UInt64 {
        let stream: Int? =
            switch block.tag {
            case .eeg4, .eeg8: MuseAthenaProfile.eeg
            case .optics4, .optics8, .optics16: MuseAthenaProfile.optics
            case .motion: MuseAthenaProfile.accelerometer
            case .reference: Self.reference
            case .battery, .newBattery: nil
            }
        var headsetTime = headset.headsetTime(at: time)
        if let stream {
            let latest = nextPackets[stream] - 1
            let back = Int64(number(stream, latest, session) &- block.number)
            headsetTime = session.headsetTime(of: (latest - back + 1) * instantsPerPacket[stream], stream: stream)
        }
        let elapsed = max(0, headsetTime - headset.headsetTime(at: bootTime)) / 1_000_000
        return Self.epochMilliseconds + UInt64(elapsed) / Self.clockStep * Self.clockStep
    }

    /// A packet bears the time at which its first block was complete.
    private func send(_ blocks: [Block], _ session: SampleSession, at time: Int64) {
        var packet: [Block] = []
        var length = MuseAthenaPacket.headerLength
        for block in blocks {
            let blockLength = MuseAthenaPacket.blockHeaderLength + block.content.count
            if length + blockLength > Self.packetLengthMaximum {
                notify(packet, deviceMilliseconds: milliseconds(packet[0], session, at: time))
                packet.removeAll()
                length = MuseAthenaPacket.headerLength
            }
            packet.append(block)
            length += blockLength
        }
        if let first = packet.first { notify(packet, deviceMilliseconds: milliseconds(first, session, at: time)) }
    }

    private func notify(_ blocks: [Block], deviceMilliseconds: UInt64) {
        let packet = MuseAthenaPacket.encoded(index: nextIndex, deviceMilliseconds: deviceMilliseconds, blocks: blocks)
        nextIndex &+= 1
        headset.notify(packet, from: MuseService.multiplexed)
    }

    private func number(_ stream: Int, _ packet: Int64, _ session: SampleSession) -> UInt8 {
        UInt8(truncatingIfNeeded: session.firstIndexes[stream] / instantsPerPacket[stream] + packet)
    }

    /// All channels of an instant together.
    private func instants(_ stream: Int, _ packet: Int64, count: Int64, channels: Int) -> [Int32] {
        (packet * count..<(packet + 1) * count).flatMap { position in
            (0..<channels).map { channel in
                sent(session: sessions.count - 1, stream: stream, channel: channel, position: position) ?? 0
            }
        }
    }
}
