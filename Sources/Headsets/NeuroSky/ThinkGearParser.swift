/// Finds frames in a ThinkGear byte stream that may be cut anywhere and damaged anywhere.
///
/// After a bad checksum the search goes on at the byte after the first sync, not after the claimed end: a damaged length
/// byte must not swallow the good frames behind it. For the same reason a frame counts only where rows fill it exactly: the
/// 8-bit checksum alone lets a damaged length pass now and then, but the AA of a swallowed frame is no row's code.
package struct ThinkGearParser: Sendable {
    /// A frame that was found; valid until the next ``append(_:)``.
    package struct Frame: Hashable, Sendable {
        /// Where the payload stands; see ``ThinkGearParser/payload(of:)``.
        package var payload: Range<Int>
        /// Bytes between the frame before, or the start of the stream, and this one that belong to no valid frame. Additional
        /// sync bytes alone are idle time and count as 0.
        package var skippedByteCount: Int
        /// How many times those bytes look like the beginning of a frame.
        package var skippedSyncCount: Int
        /// True for the first frame of the stream.
        package var isFirst: Bool
    }

    /// The longest frame: what may at most be left over between two calls of ``append(_:)``.
    package static let frameLengthMaximum = ThinkGearFrame.payloadLengthMaximum + ThinkGearFrame.overhead

    /// Frames that were found since the start.
    package private(set) var frameCount: UInt64 = 0
    /// Sync patterns whose checksum or rows were wrong, since the start.
    package private(set) var damagedFrameCount: UInt64 = 0

    private var buffer: [UInt8] = []
    /// The first byte in ``buffer`` that was not examined yet.
    private var start = 0
    private var skippedByteCount = 0
    private var skippedSyncCount = 0
    /// False while only sync bytes were skipped.
    private var skippedOther = false

    /// Creates a parser for one stream.
    package init() {}

    /// Adds the next piece of the stream. Take all frames with ``next()`` before adding more: what is left over beyond one
    /// frame's length is skipped.
    package mutating func append(_ bytes: [UInt8]) {
        while buffer.count - start > Self.frameLengthMaximum { skipByte() }
        buffer.removeFirst(start)
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// The next whole frame, or nil until more bytes come.
    package mutating func next() -> Frame? {
        while buffer.count - start >= 3 {
            let length = Int(buffer[start + 2])
            guard buffer[start] == ThinkGearFrame.sync, buffer[start + 1] == ThinkGearFrame.sync,
                length <= ThinkGearFrame.payloadLengthMaximum
            else {
                skipByte()
                continue
            }
            let payload = start + 3..<start + 3 + length
            guard payload.upperBound < buffer.count else { return nil }
            guard hasGoodChecksum(payload), isRawSample(payload) || ThinkGearRows.fill(buffer[payload]) else {
                damagedFrameCount += 1
                skipByte()
                continue
            }
            let frame = Frame(
                payload: payload, skippedByteCount: skippedOther ? skippedByteCount : 0, skippedSyncCount: skippedSyncCount,
                isFirst: frameCount == 0)
            frameCount += 1
            skippedByteCount = 0
            skippedSyncCount = 0
            skippedOther = false
            start = payload.upperBound + 1
            return frame
        }
        return nil
    }

    /// The payload of the frame that ``next()`` returned last.
    package func payload(of frame: Frame) -> ArraySlice<UInt8> {
        buffer.indices.contains(frame.payload.lowerBound) ? buffer[frame.payload.clamped(to: 0..<buffer.count)] : []
    }

    /// The sample of a frame that holds one raw sample and nothing else, as 512 of 513 frames do; nil of any other frame.
    func rawSample(of frame: Frame) -> Int16? {
        guard frame.payload.upperBound < buffer.count, isRawSample(frame.payload) else { return nil }
        let high = buffer[frame.payload.lowerBound + 2]
        return Int16(bitPattern: UInt16(high) << 8 | UInt16(buffer[frame.payload.lowerBound + 3]))
    }

    private func isRawSample(_ payload: Range<Int>) -> Bool {
        payload.count == 4 && buffer[payload.lowerBound] == ThinkGearRow.raw && buffer[payload.lowerBound + 1] == 2
    }

    /// Whether the byte behind the payload, which must be there, is its checksum. By indices: a slice costs as much as the sum.
    private func hasGoodChecksum(_ payload: Range<Int>) -> Bool {
        var sum: UInt8 = 0
        for index in payload { sum &+= buffer[index] }
        return ~sum == buffer[payload.upperBound]
    }

    private mutating func skipByte() {
        if buffer[start] != ThinkGearFrame.sync {
            skippedOther = true
        } else if start + 2 < buffer.count, buffer[start + 1] == ThinkGearFrame.sync, buffer[start + 2] != ThinkGearFrame.sync {
            skippedSyncCount += 1
        }
        skippedByteCount += 1
        start += 1
    }
}
