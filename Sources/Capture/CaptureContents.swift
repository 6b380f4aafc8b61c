public import Bluetooth

/// What is in a capture, wherever its pieces are kept: a file is read again each time they are asked for, so that its size is
/// nobody's concern.
public struct CaptureContents: Sendable {
    /// The pieces, in the order of their times.
    public var pieces: any Sequence<Capture.Piece> & Sendable
    /// Where they come from, in the order of the first piece of each.
    public var characteristics: [BluetoothUUID]
    /// The time from the first piece to the last.
    public var duration: Duration
    /// UTC of the first piece in nanoseconds since 1970, where the capture shows it.
    public var startUnixNanoseconds: Int64?
    /// How many notifications were left out because nothing showed the UUID of their attribute handle.
    public var unmappedCount = 0

    /// Describes pieces.
    public init(
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
    public var contents: CaptureContents {
        var contents = CaptureContents(
            pieces: pieces, characteristics: [], duration: .zero, startUnixNanoseconds: startUnixNanoseconds)
        for piece in pieces { contents.note(piece) }
        contents.unmappedCount = unmappedCount
        return contents
    }
}
