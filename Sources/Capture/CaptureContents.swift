package import Bluetooth

/// What is in a capture, wherever its pieces are kept: a file is read again each time they are asked for, so that its size is
/// nobody's concern.
package struct CaptureContents: Sendable {
    /// The pieces, in the order of their times.
    package var pieces: any Sequence<Capture.Piece> & Sendable
    /// Where they come from, in the order of the first piece of each.
    package var characteristics: [BluetoothUUID]
    /// The time from the first piece to the last.
    package var duration: Duration
    /// UTC of the first piece in nanoseconds since 1970, where the capture shows it.
    package var startUnixNanoseconds: Int64?
    /// How many notifications were left out because nothing showed the UUID of their attribute handle.
    package var unmappedCount = 0

    /// Describes pieces.
    package init(
        pieces: any Sequence<Capture.Piece> & Sendable, characteristics: [BluetoothUUID], duration: Duration,
        startUnixNanoseconds: Int64? = nil
    ) {
        self.pieces = pieces
        self.characteristics = characteristics
        self.duration = duration
        self.startUnixNanoseconds = startUnixNanoseconds
    }
}

extension Capture {
    /// The capture's contents.
    package var contents: CaptureContents {
        var contents = CaptureContents(
            pieces: pieces, characteristics: [], duration: .zero, startUnixNanoseconds: startUnixNanoseconds)
        for piece in pieces { contents.note(piece) }
        contents.unmappedCount = unmappedCount
        return contents
    }
}
