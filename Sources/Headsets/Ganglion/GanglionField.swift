/// One channel's value in a packet of the Ganglion: 18 bits with the accelerometer on, 19 with it off. In both firmwares the
/// lowest bit repeats the sign.
package enum GanglionField {
    /// The difference that a field of firmware 2 stands for.
    ///
    /// The sign is taken from the lowest bit, which stays in the value: OpenBCI's own library does so, and the lowest bit is
    /// right where the difference has overflowed. BrainFlow takes the highest bit and clears the lowest. They differ for
    /// overflowed differences, and by 1 for negative ones, which then drift by half a count a sample.
    @inlinable package static func difference(_ field: UInt32, width: Int) -> Int32 {
        Int32(bitPattern: field & 1 == 0 ? field : field | ~UInt32(0) << width)
    }

    /// The sample after `previous`: less the difference, in the 24 bits that the converter has. Sums that drift beyond them
    /// come back at the other end, as the headset's own would.
    static func sum(_ previous: Int32, less field: UInt32, width: Int) -> Int32 {
        ((previous &- difference(field, width: width)) << 8) >> 8
    }

    /// The sample that a field of firmware 3 stands for: its highest bits, the rest 0.
    @inlinable package static func sample(_ field: UInt32, width: Int) -> Int32 {
        Int32(bitPattern: (field & ~1) << (32 - width)) >> 8
    }

    /// The field of a difference, cut to `width` bits as firmware 2 does.
    package static func field(ofDifference difference: Int32, width: Int) -> UInt32 {
        let bits = UInt32(bitPattern: difference) & ((1 << width) - 1)
        return difference < 0 ? bits | 1 : bits & ~1
    }

    /// The field of a 24-bit sample, as firmware 3 makes it.
    package static func field(ofSample sample: Int32, width: Int) -> UInt32 {
        let bits = UInt32(bitPattern: sample << 8) >> (32 - width)
        return sample < 0 ? bits | 1 : bits & ~1
    }

    /// Packs eight fields, the first bit of the first field being the highest of the first byte.
    ///
    /// - Returns: 18 bytes of 18-bit fields, or 19 bytes of 19-bit fields.
    package static func packed(_ fields: [UInt32], width: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var (pending, count): (UInt64, Int) = (0, 0)
        for field in fields {
            pending = pending << UInt64(width) | UInt64(field)
            count += width
            while count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(count)))
            }
        }
        return bytes
    }
}

/// Reads the eight fields of a packet one after the other, without an array in between.
struct GanglionFields {
    private var pending: UInt64 = 0
    private var count = 0
    private var position: Int
    private let width: Int

    /// Begins at the byte after the packet's identifier.
    init(width: Int, from position: Int = 1) {
        self.width = width
        self.position = position
    }

    /// The next field; the packet must have been found long enough.
    mutating func next(of bytes: borrowing [UInt8]) -> UInt32 {
        while count < width {
            pending = pending << 8 | UInt64(bytes[position])
            position += 1
            count += 8
        }
        count -= width
        return UInt32(truncatingIfNeeded: pending >> UInt64(count)) & ((1 << UInt32(width)) - 1)
    }
}
