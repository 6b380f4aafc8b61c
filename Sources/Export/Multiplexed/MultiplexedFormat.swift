import Headsets

/// How the values of a file stand in it whose rows follow each other, a value for each channel: as 16-bit integers or as
/// floating-point numbers of 32 bits, little endian.
struct MultiplexedFormat: Hashable, Sendable {
    /// A channel: what stands in the file is gain × raw + shift.
    struct Channel: Hashable, Sendable {
        var gain: Double
        var shift: Double
        /// The counts from this one on ...
        var exactMinimum: Int32
        /// ... to this one come back as they were, without looking at each; none where it is less.
        var exactMaximum: Int32
    }

    /// True for two bytes a value, false for four.
    let isInteger: Bool
    let channels: [Channel]

    /// - Parameters:
    ///   - isInteger: true where every channel's declared range fits into 16 bits with a gain of 1 and a whole shift.
    ///   - gain: what a channel's raw counts are multiplied with.
    ///   - shift: what is added to them then.
    init(
        _ channels: [ChannelDescription], isInteger: Bool, gain: (ChannelDescription) -> Double,
        shift: (ChannelDescription) -> Double
    ) {
        self.isInteger = isInteger
        self.channels = channels.map { channel in
            let (gain, shift) = (gain(channel), shift(channel))
            let range = channel.rawMinimum...channel.rawMaximum
            let largest = [range.lowerBound, range.upperBound].map { abs(gain * Double($0) + shift) }.max() ?? 0
            // Where a value's last bit is a quarter of a count at most, rounding gives the count back.
            let isExact = isInteger || largest * Double(Float.ulpOfOne) <= abs(gain) / 4
            return Channel(
                gain: gain, shift: shift, exactMinimum: isExact ? range.lowerBound : .max,
                exactMaximum: isExact ? range.upperBound : .min)
        }
    }

    /// The bytes of a row.
    var rowByteCount: Int { channels.count * valueByteCount }

    /// The bytes of a value.
    var valueByteCount: Int { isInteger ? 2 : 4 }

    /// Writes a raw count to memory.
    ///
    /// - Returns: what ``raw(at:of:isInteger:)`` gives; another count where the format has no room for this one.
    @inline(__always)
    static func store(_ raw: Int32, of channel: Channel, isInteger: Bool, at memory: UnsafeMutableRawPointer) -> Int32 {
        let stored = channel.gain * Double(raw) + channel.shift
        if isInteger {
            let number = Int16(clamping: Int(stored))
            memory.storeBytes(of: number.littleEndian, as: Int16.self)
            return Self.raw(Double(number), of: channel)
        }
        let number = Float(stored)
        memory.storeBytes(of: number.bitPattern.littleEndian, as: UInt32.self)
        if raw >= channel.exactMinimum && raw <= channel.exactMaximum { return raw }
        return Self.raw(Double(number), of: channel)
    }

    /// Reads a raw count back; the least one for what is none.
    @inline(__always)
    static func raw(at memory: UnsafeRawPointer, of channel: Channel, isInteger: Bool) -> Int32 {
        if isInteger { return raw(Double(Int16(littleEndian: memory.loadUnaligned(as: Int16.self))), of: channel) }
        return raw(Double(Float(bitPattern: UInt32(littleEndian: memory.loadUnaligned(as: UInt32.self)))), of: channel)
    }

    @inline(__always)
    private static func raw(_ stored: Double, of channel: Channel) -> Int32 {
        WholeCount.nearest((stored - channel.shift) / channel.gain) ?? .min
    }
}
