import Headsets

/// How the values of a stream are written: as physical values, because no reader of XDF knows of a scale.
struct XDFSampleFormat: Sendable {
    let values: [Value]
    /// True for eight bytes a value, false for four.
    let isDouble: Bool

    /// Four bytes where they give every raw count back, which they do where a value's last bit is a quarter of a count at most.
    init(channels: [ChannelDescription]) {
        values = channels.map {
            Value(scale: $0.scale, offset: $0.offset, rawMinimum: $0.rawMinimum, rawMaximum: $0.rawMaximum)
        }
        isDouble = channels.contains { channel in
            let values = [channel.rawMinimum, channel.rawMaximum].map { channel.scale * Double($0) + channel.offset }
            let last = (values.map(abs).max() ?? 0) * Double(Float.ulpOfOne)
            return last > abs(channel.scale) / 4
        }
    }

    /// What XDF calls it.
    var name: String { isDouble ? "double64" : "float32" }
    /// The bytes of a row with its time stamp.
    var rowByteCount: Int { Self.stampByteCount + values.count * valueByteCount }
    /// The bytes of a value.
    var valueByteCount: Int { isDouble ? 8 : 4 }

    /// What a value is made of.
    struct Value: Hashable, Sendable {
        var scale: Double
        var offset: Double
        var rawMinimum: Int32
        var rawMaximum: Int32
    }

    /// The bytes before the values of a row: those of its time stamp.
    static let stampByteCount = 9

    /// Writes a raw count to memory; nil is written as NaN.
    ///
    /// - Returns: what ``raw(at:of:isDouble:)`` gives; another count only where it is far beyond the channel's range.
    @inline(__always)
    static func store(_ raw: Int32?, of value: Value, isDouble: Bool, at memory: UnsafeMutableRawPointer) -> Int32? {
        let physical = raw.map { value.scale * Double($0) + value.offset } ?? .nan
        if isDouble {
            memory.storeBytes(of: physical.bitPattern.littleEndian, as: UInt64.self)
        } else {
            memory.storeBytes(of: Float(physical).bitPattern.littleEndian, as: UInt32.self)
        }
        guard let raw else { return nil }
        if raw >= value.rawMinimum && raw <= value.rawMaximum { return raw }
        return Self.raw(isDouble ? physical : Double(Float(physical)), of: value)
    }

    /// Reads a raw count back; nil for NaN and for what is none.
    @inline(__always)
    static func raw(at memory: UnsafeRawPointer, of value: Value, isDouble: Bool) -> Int32? {
        if isDouble { return raw(Double(bitPattern: UInt64(littleEndian: memory.loadUnaligned(as: UInt64.self))), of: value) }
        return raw(Double(Float(bitPattern: UInt32(littleEndian: memory.loadUnaligned(as: UInt32.self)))), of: value)
    }

    @inline(__always)
    private static func raw(_ physical: Double, of value: Value) -> Int32? {
        WholeCount.nearest((physical - value.offset) / value.scale)
    }
}
