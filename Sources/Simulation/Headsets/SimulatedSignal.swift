/// The signal that simulated headsets measure: a pure function, so that memory costs nothing and a checker can compare what
/// was stored with what was sampled.
///
/// It looks like EEG of a relaxed person: an alpha rhythm whose amplitude waxes and wanes, slow drift, noise, and a blink
/// every few seconds. One count is 0.0223517 µV (ADS1299, gain 24: 4.5 V / 24 / (2^23 - 1)).
package enum SimulatedSignal {
    /// The scale of the values, in microvolts a count: ADS1299 at gain 24.
    package static let scaleMicrovolts = 4.5 / 24 / 8_388_607 * 1e6

    /// The value of a sample, within ±2^23.
    ///
    /// - Parameters:
    ///   - seed: the world's seed.
    ///   - boot: the boot identifier under which the sample was taken.
    ///   - stream: the stream's index in the headset's list.
    ///   - channel: the channel's index in the stream.
    ///   - index: the sample's index as the headset sends it, modulo 2^32.
    package static func value(seed: UInt64, boot: UInt32, stream: Int, channel: Int, index: UInt32) -> Int32 {
        let key = key(seed: seed, boot: boot, stream: stream, channel: channel)
        // An electrode offset of up to ±10 mV.
        return alternating(key: key, seed: seed, channel: channel, index: index)
            + Int32(truncatingIfNeeded: key >> 40 & 0xF_FFFF) - 0x8_0000
    }

    /// The same without the electrode's offset, as an amplifier that is coupled through capacitors gives it: within ±10,000,
    /// which are 220 µV.
    package static func alternating(seed: UInt64, boot: UInt32, stream: Int, channel: Int, index: UInt32) -> Int32 {
        alternating(
            key: key(seed: seed, boot: boot, stream: stream, channel: channel), seed: seed, channel: channel, index: index)
    }

    private static func key(seed: UInt64, boot: UInt32, stream: Int, channel: Int) -> UInt64 {
        SeededGenerator.mixed(
            seed ^ UInt64(boot) << 32 ^ UInt64(truncatingIfNeeded: stream) << 8 ^ UInt64(truncatingIfNeeded: channel))
    }

    private static func alternating(key: UInt64, seed: UInt64, channel: Int, index: UInt32) -> Int32 {
        let noise = SeededGenerator.mixed(key ^ UInt64(index) &* 0x9E37_79B9_7F4A_7C15)
        // 10 Hz at 250 Hz: 256 / 25 table steps a sample. Each channel has its own phase.
        let phase = Int(truncatingIfNeeded: ((UInt64(index) &* 2621) >> 8) &+ key) & 0xFF
        let envelope = amplitude(key: key, index: index)
        var value = (sine[phase] * envelope) >> 15
        // About 4 µV of noise: the sum of four uniform numbers is bell-shaped enough.
        value += Int32(truncatingIfNeeded: noise & 0xFF) + Int32(truncatingIfNeeded: noise >> 8 & 0xFF)
        value += Int32(truncatingIfNeeded: noise >> 16 & 0xFF) + Int32(truncatingIfNeeded: noise >> 24 & 0xFF) - 510
        // A period of half a minute.
        value += sine[Int(truncatingIfNeeded: UInt64(index) >> 5 &+ key >> 8) & 0xFF] >> 4
        return value + blink(seed: seed, channel: channel, index: index)
    }

    /// The alpha rhythm's amplitude: goes evenly from one random level to the next every 512 samples; 5 ... 50 µV.
    private static func amplitude(key: UInt64, index: UInt32) -> Int32 {
        let knot = UInt64(index >> 9)
        let from = 224 + Int32(truncatingIfNeeded: SeededGenerator.mixed(key ^ 0xA1FA ^ knot << 20) & 0x7FF)
        let next = 224 + Int32(truncatingIfNeeded: SeededGenerator.mixed(key ^ 0xA1FA ^ (knot + 1) << 20) & 0x7FF)
        return from + (next - from) * Int32(index & 511) / 512
    }

    /// A blink of about 100 µV and 0.25 s every 1,000 samples or so, strongest in the first channels.
    private static func blink(seed: UInt64, channel: Int, index: UInt32) -> Int32 {
        let start = SeededGenerator.mixed(seed ^ 0xB11C ^ UInt64(index / 1000)) % 900
        let offset = Int64(index % 1000) - Int64(start)
        guard offset >= 0, offset < 64 else { return 0 }
        return (sine[Int(offset) * 2] * 4500) >> (15 + Int32(min(channel, 6) / 2))
    }

    /// One period of a sine in 256 steps, ±32767. Computed by rotation with basic operations only: a C library's `sin`
    /// may differ in its last bit from machine to machine.
    private static let sine: [Int32] = {
        // cos and sin of 2 pi / 256.
        let (cosine, sine) = (0.99969881869620425, 0.02454122852291229)
        var (x, y) = (1.0, 0.0)
        return (0..<256).map { _ in
            let value = Int32((y * 32_767).rounded())
            (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
            return value
        }
    }()
}
