import Headsets

/// How the values of a file stand in it whose rows follow each other, a value for each channel: as 16-bit integers or as
/// floating-point numbers of 32 bits, little endian.
struct MultiplexedFormat: Hashable, Sendable {
    /// A channel: what stands in the file is gain × raw + shift.
    struct Channel: Hashable, Sendable {
        var gain: Double
        var shift: Double
        /// The counts that come back as they were, without looking at each.
        var exact: ClosedRange<Int32>?
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
            return Channel(gain: gain, shift: shift, exact: isExact ? range : nil)
        }
    }

    /// The bytes of a row.
    var rowByteCount: Int { channels.count * (isInteger ? 2 : 4) }

    /// Writes a raw count.
    ///
    /// - Returns: what ``read(channel:from:)`` gives; another count where the format has no room for this one.
    @inline(__always)
    func write(_ raw: Int32, channel: Int, to bytes: BinaryWriter) throws -> Int32 {
        let description = channels[channel]
        let stored = description.gain * Double(raw) + description.shift
        if isInteger {
            let number = Int16(clamping: Int(stored))
            try bytes.append(number)
            return self.raw(Double(number), channel: channel)
        }
        let number = Float(stored)
        try bytes.append(number)
        if description.exact?.contains(raw) == true { return raw }
        return self.raw(Double(number), channel: channel)
    }

    /// Reads a raw count back; the least one for what is none.
    @inline(__always)
    func read(channel: Int, from bytes: BinaryReader) throws -> Int32 {
        if isInteger { return raw(Double(try bytes.number(Int16.self)), channel: channel) }
        return raw(Double(Float(bitPattern: try bytes.number())), channel: channel)
    }

    @inline(__always)
    private func raw(_ stored: Double, channel: Int) -> Int32 {
        Int32(exactly: ((stored - channels[channel].shift) / channels[channel].gain).rounded()) ?? .min
    }
}
