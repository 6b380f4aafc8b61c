package import Bluetooth

/// A raw byte stream, as read from a serial port, cut into pieces at a steady rate.
package struct CaptureByteStream: Sequence, Sendable {
    private let bytes: CaptureBytes
    private let characteristic: BluetoothUUID
    private let bytesPerSecond: Double
    private let pieceLength: Int

    /// - Parameters:
    ///   - bytes: the bytes; none give no pieces.
    ///   - characteristic: where they count as coming from.
    ///   - bytesPerSecond: the nominal rate, greater than 0; a ThinkGear headset sends 512 × 8 + 36 = 4132.
    ///   - pieceLength: bytes of one piece; at least 1.
    package init(_ bytes: CaptureBytes, characteristic: BluetoothUUID, bytesPerSecond: Double, pieceLength: Int) {
        self.bytes = bytes
        self.characteristic = characteristic
        self.bytesPerSecond = bytesPerSecond.isFinite && bytesPerSecond > 0 ? bytesPerSecond : 4132
        self.pieceLength = Swift.max(1, pieceLength)
    }

    /// What they hold.
    package var contents: CaptureContents {
        CaptureContents(
            pieces: self, characteristics: bytes.count > 0 ? [characteristic] : [], duration: time(ofEnd: bytes.count))
    }

    /// A piece arrives when its last byte was sent; the first one is the beginning.
    private func time(ofEnd end: Int) -> Duration {
        let sent = Double(end - Swift.min(pieceLength, bytes.count)) / bytesPerSecond
        return .nanoseconds(Int64(Swift.min(Swift.max(0, sent) * 1e9, 4e18)))
    }

    /// Starts at the first byte.
    package func makeIterator() -> Iterator { Iterator(stream: self) }

    /// Goes from piece to piece.
    package struct Iterator: IteratorProtocol {
        private let stream: CaptureByteStream
        private var cursor: ByteCursor

        fileprivate init(stream: CaptureByteStream) {
            self.stream = stream
            cursor = ByteCursor(stream.bytes)
        }

        /// The next piece.
        package mutating func next() -> Capture.Piece? {
            let count = Swift.min(stream.pieceLength, cursor.remaining)
            guard count > 0, let value = cursor.take(count) else { return nil }
            return Capture.Piece(
                time: stream.time(ofEnd: cursor.offset), characteristic: stream.characteristic, value: Array(value))
        }
    }
}
