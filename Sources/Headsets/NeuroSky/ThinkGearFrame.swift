/// One frame of NeuroSky's ThinkGear serial stream: AA AA, length, payload, checksum.
///
/// Source: NeuroSky, ThinkGear Communications Protocol.
package struct ThinkGearFrame: Hashable, Sendable {
    /// The byte that begins a frame, twice.
    package static let sync: UInt8 = 0xAA
    /// The most bytes of a payload; a length byte of 170 (AA) is one more sync, above that it is an error.
    package static let payloadLengthMaximum = 169
    /// Bytes around the payload: two syncs, length, checksum.
    package static let overhead = 4
    /// Bytes of the frame that carries one raw sample.
    package static let rawLength = 8
    /// Bytes of the frame that carries signal quality, powers, attention and meditation, once a second.
    package static let powerLength = 36

    /// Data rows, at most ``payloadLengthMaximum`` bytes.
    package var payload: [UInt8]

    /// Creates a frame.
    package init(payload: [UInt8]) {
        self.payload = payload
    }

    /// The frame of one raw sample.
    package static func raw(_ value: Int16) -> ThinkGearFrame {
        let bits = UInt16(bitPattern: value)
        return ThinkGearFrame(payload: [
            ThinkGearRow.raw, 2, UInt8(bits >> 8), UInt8(truncatingIfNeeded: bits),
        ])
    }

    /// The frame that comes once a second.
    ///
    /// - Parameters:
    ///   - poorSignal: 0 for good contact ... 200 for none.
    ///   - power: the lowest 24 bits of eight numbers: delta, theta, low and high alpha, low and high beta, low and mid gamma.
    ///   - attention: 0 ... 100; 0 where it cannot be computed.
    ///   - meditation: 0 ... 100; 0 where it cannot be computed.
    package static func power(poorSignal: UInt8, power: [UInt32], attention: UInt8, meditation: UInt8) -> ThinkGearFrame {
        var payload = [ThinkGearRow.poorSignal, poorSignal, ThinkGearRow.power, 24]
        for index in 0..<8 {
            let value = index < power.count ? power[index] : 0
            payload.append(UInt8(truncatingIfNeeded: value >> 16))
            payload.append(UInt8(truncatingIfNeeded: value >> 8))
            payload.append(UInt8(truncatingIfNeeded: value))
        }
        payload += [ThinkGearRow.attention, attention, ThinkGearRow.meditation, meditation]
        return ThinkGearFrame(payload: payload)
    }

    /// The frame of a blink of strength 1 ... 255.
    package static func blink(strength: UInt8) -> ThinkGearFrame {
        ThinkGearFrame(payload: [ThinkGearRow.blink, strength])
    }

    /// The frame's bytes; a payload that is too long is cut.
    package func encoded() -> [UInt8] {
        let rows = payload.prefix(Self.payloadLengthMaximum)
        return [Self.sync, Self.sync, UInt8(rows.count)] + rows + [Self.checksum(of: rows)]
    }

    /// The complement of the lowest 8 bits of the payload's sum.
    static func checksum(of payload: ArraySlice<UInt8>) -> UInt8 {
        var sum: UInt8 = 0
        for byte in payload { sum &+= byte }
        return ~sum
    }
}
