/// The packets of a Muse S Athena: several to a notification, each with blocks of different content.
///
/// A packet is: length u8 (itself included), index u16, device time u48 in milliseconds (all least significant byte first),
/// then blocks. A block is: tag u8, number u8, three bytes of unknown meaning, content. Checked on recordings of
/// several owners with old firmware.
package enum MuseAthenaPacket {
    /// Bytes before the first block.
    package static let headerLength = 9
    /// Bytes of a block before its content.
    package static let blockHeaderLength = 5

    /// What a block holds. Other tags exist; their length is not known.
    package enum Tag: UInt8, Hashable, Sendable, CaseIterable {
        /// 4 instants of 4 channels, 14 bits each.
        case eeg4 = 0x11
        /// 2 instants of 8 channels, 14 bits each.
        case eeg8 = 0x12
        /// 3 instants of 4 channels, 20 bits each.
        case optics4 = 0x34
        /// 2 instants of 8 channels, 20 bits each.
        case optics8 = 0x35
        /// 1 instant of 16 channels, 20 bits each.
        case optics16 = 0x36
        /// 3 instants of accelerometer and gyroscope, 16 bits each.
        case motion = 0x47
        /// 6 instants of reference and driven right leg, 16 bits each; OpenMuse does not know it.
        case reference = 0x53
        /// Battery, with old firmware.
        case battery = 0x98
        /// Battery, with new firmware: reaches to the packet's end.
        case newBattery = 0x88

        /// Bytes of the content; nil where it reaches to the packet's end.
        package var contentLength: Int? {
            switch self {
            case .eeg4, .eeg8: 28
            case .optics4: 30
            case .optics8, .optics16: 40
            case .motion: 36
            case .reference: 24
            case .battery: 20
            case .newBattery: nil
            }
        }
    }

    /// Where the packets of a notification end, and where the last of them begins; what follows is none. Nothing in a packet
    /// can be checked but its form: its length, and that the lowest bytes of the indexes, in which all who have read recordings
    /// agree, follow each other.
    static func extent(of bytes: borrowing [UInt8]) -> (last: Int, end: Int) {
        var (last, end) = (0, 0)
        while end < bytes.count {
            let next = end + Int(bytes[end])
            guard next - end > headerLength, next <= bytes.count else { break }
            if end > 0, lowIndex(bytes, at: end) != lowIndex(bytes, at: last) &+ 1 { break }
            (last, end) = (end, next)
        }
        return (last, end)
    }

    /// Whether known blocks fill a packet to its end.
    static func isFilled(_ bytes: borrowing [UInt8], _ packet: Range<Int>) -> Bool {
        var start = packet.lowerBound + headerLength
        while start + blockHeaderLength <= packet.upperBound, let tag = Tag(rawValue: bytes[start]) {
            guard let length = tag.contentLength else { return true }
            start += blockHeaderLength + length
        }
        return start == packet.upperBound
    }

    /// The lowest byte of the index of the packet that begins there.
    static func lowIndex(_ bytes: borrowing [UInt8], at start: Int) -> UInt8 { bytes[start + 1] }

    /// Appends `count` numbers of `width` bits, packed with the lowest bit first.
    static func appendPacked(
        _ bytes: borrowing [UInt8], from start: Int, count: Int, width: Int, to values: inout [Int32]
    ) {
        var (pending, available, position): (UInt64, Int, Int) = (0, 0, start)
        let mask = (UInt64(1) << UInt64(width)) - 1
        for _ in 0..<count {
            while available < width {
                pending |= UInt64(bytes[position]) << UInt64(available)
                position += 1
                available += 8
            }
            values.append(Int32(truncatingIfNeeded: pending & mask))
            pending >>= UInt64(width)
            available -= width
        }
    }

    /// Packs numbers, the lowest bit first; the rest of the last byte is 0.
    package static func packed(_ values: [Int32], width: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var (pending, available): (UInt64, Int) = (0, 0)
        for value in values {
            pending |= (UInt64(UInt32(bitPattern: value)) & ((1 << UInt64(width)) - 1)) << UInt64(available)
            available += width
            while available >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                available -= 8
            }
        }
        if available > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
        return bytes
    }

    /// A packet of blocks, as a headset sends it; blocks that do not fit into 255 bytes are left out.
    package static func encoded(
        index: UInt16, deviceMilliseconds: UInt64, blocks: [(tag: Tag, number: UInt8, content: [UInt8])]
    ) -> [UInt8] {
        var packet: [UInt8] = [0, UInt8(truncatingIfNeeded: index), UInt8(index >> 8)]
        packet += (0..<6).map { UInt8(truncatingIfNeeded: deviceMilliseconds >> (8 * $0)) }
        for block in blocks where packet.count + blockHeaderLength + block.content.count <= 255 {
            packet += [block.tag.rawValue, block.number, 0, 0, 0] + block.content
        }
        packet[0] = UInt8(packet.count)
        return packet
    }
}
