import Headsets

/// How the values of a stream are written: as physical values, because no reader of XDF knows of a scale.
struct XDFSampleFormat: Sendable {
    let channels: [ChannelDescription]
    /// True for eight bytes a value, false for four.
    let isDouble: Bool

    /// Four bytes where they give every raw count back, which they do where a value's last bit is a quarter of a count at most.
    init(channels: [ChannelDescription]) {
        self.channels = channels
        isDouble = channels.contains { channel in
            let values = [channel.rawMinimum, channel.rawMaximum].map { channel.scale * Double($0) + channel.offset }
            let last = (values.map(abs).max() ?? 0) * Double(Float.ulpOfOne)
            return last > abs(channel.scale) / 4
        }
    }

    /// What XDF calls it.
    var name: String { isDouble ? "double64" : "float32" }
    /// The bytes of a row with its time stamp.
    var rowByteCount: Int { 9 + channels.count * (isDouble ? 8 : 4) }

    /// Writes a raw count; nil is written as NaN.
    ///
    /// - Returns: what ``read(channel:from:)`` gives; another count only where it is far beyond the channel's range.
    @inline(__always)
    func write(_ raw: Int32?, channel: Int, to bytes: BinaryWriter) throws -> Int32? {
        guard let raw else {
            if isDouble { try bytes.append(Double.nan) } else { try bytes.append(Float.nan) }
            return nil
        }
        let description = channels[channel]
        let value = description.scale * Double(raw) + description.offset
        if isDouble { try bytes.append(value) } else { try bytes.append(Float(value)) }
        if raw >= description.rawMinimum && raw <= description.rawMaximum { return raw }
        return self.raw(isDouble ? value : Double(Float(value)), channel: channel)
    }

    /// Reads a raw count back; nil for NaN and for what is none.
    @inline(__always)
    func read(channel: Int, from bytes: BinaryReader) throws -> Int32? {
        raw(
            isDouble ? Double(bitPattern: try bytes.number()) : Double(Float(bitPattern: try bytes.number())), channel: channel)
    }

    @inline(__always)
    private func raw(_ value: Double, channel: Int) -> Int32? {
        Int32(exactly: ((value - channels[channel].offset) / channels[channel].scale).rounded())
    }
}
