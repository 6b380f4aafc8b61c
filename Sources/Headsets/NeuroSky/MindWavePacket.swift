/// A notification of a MindWave Mobile 2's eSense characteristic, 20 bytes. What stands between the known bytes is not known.
package enum MindWavePacket: Hashable, Sendable {
    /// EA: signal quality, 0 for good contact ... 200 for none; attention and meditation, 0 ... 100.
    case esense(poorSignal: UInt8, attention: UInt8, meditation: UInt8)
    /// EB: the powers of delta, theta, low alpha and high alpha, 24 bits each.
    case lowPowers([UInt32])
    /// EC: the powers of low beta, high beta, low gamma and mid gamma, 24 bits each.
    case highPowers([UInt32])

    static let esenseType: UInt8 = 0xEA
    static let lowPowersType: UInt8 = 0xEB
    static let highPowersType: UInt8 = 0xEC

    /// Where the signal quality, the attention and the meditation stand.
    static let esenseOffsets = [6, 8, 10]
    /// Where the first byte of each power stands.
    static let powerOffsets = [5, 9, 13, 17]

    /// The packet's bytes, with `stale` in those that are not known.
    package func encoded(stale: UInt8 = 0) -> [UInt8] {
        var bytes = [UInt8](repeating: stale, count: MindWaveService.packetLength)
        switch self {
        case .esense(let poorSignal, let attention, let meditation):
            bytes[0] = Self.esenseType
            for (offset, value) in zip(Self.esenseOffsets, [poorSignal, attention, meditation]) { bytes[offset] = value }
        case .lowPowers(let powers), .highPowers(let powers):
            if case .lowPowers = self { bytes[0] = Self.lowPowersType } else { bytes[0] = Self.highPowersType }
            for (start, power) in zip(Self.powerOffsets, powers) {
                for (offset, shift) in [16, 8, 0].enumerated() {
                    bytes[start + offset] = UInt8(truncatingIfNeeded: power >> shift)
                }
            }
        }
        return bytes
    }

    /// The notification of ten raw samples, most significant byte first.
    package static func raw(_ samples: [Int16]) -> [UInt8] {
        samples.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }
}
