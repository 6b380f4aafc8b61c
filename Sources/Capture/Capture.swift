package import Bluetooth

/// Notifications of one headset as they were recorded, with their times.
package struct Capture: Hashable, Sendable {
    /// One notification, or one piece of a byte stream.
    package struct Piece: Hashable, Sendable {
        /// The time since the first piece; 0 or more, never less than the piece before.
        package var time: Duration
        /// Where the bytes came from.
        package var characteristic: BluetoothUUID
        /// The bytes.
        package var value: [UInt8]
        /// True for the first one of a further link, where the capture shows that the link before it ended.
        package var beginsLink: Bool

        /// Creates a piece.
        package init(time: Duration, characteristic: BluetoothUUID, value: [UInt8], beginsLink: Bool = false) {
            self.time = time
            self.characteristic = characteristic
            self.value = value
            self.beginsLink = beginsLink
        }
    }

    /// The pieces, in the order of their times.
    package var pieces: [Piece]
    /// UTC of the first piece in nanoseconds since 1970, where the capture shows it.
    package var startUnixNanoseconds: Int64?
    /// How many notifications were left out because nothing showed the UUID of their attribute handle.
    package var unmappedCount = 0
    /// The handles of those notifications, each once, in the order of their first occurrence.
    package var unmappedHandles: [UInt16] = []

    /// Creates a capture from pieces in the order of their times.
    package init(pieces: [Piece]) {
        self.pieces = pieces
    }

    /// The time from the first piece to the last.
    package var duration: Duration { pieces.last?.time ?? .zero }

    /// Cuts a raw byte stream into pieces at a steady rate; see ``CaptureByteStream``.
    package init(
        byteStream: [UInt8], characteristic: BluetoothUUID = .serialPort, bytesPerSecond: Double = 4132,
        pieceLength: Int = 128
    ) {
        self.init(
            pieces: Array(
                CaptureByteStream(
                    CaptureBytes(byteStream), characteristic: characteristic, bytesPerSecond: bytesPerSecond,
                    pieceLength: pieceLength)))
    }
}

/// Why bytes are no capture.
package enum CaptureError: Error, Hashable, Sendable {
    /// A line has not the three fields time, characteristic and bytes; lines count from 1.
    case wrongFieldCount(line: Int)
    /// A time is neither seconds nor ISO 8601.
    case invalidTime(line: Int)
    /// A time is of the other kind than the first.
    case mixedTimes(line: Int)
    /// A time lies before that of the line before.
    case timeGoesBackwards(line: Int)
    /// A characteristic is no UUID.
    case invalidCharacteristic(line: Int)
    /// The bytes are not pairs of hexadecimal digits.
    case invalidBytes(line: Int)
    /// The file does not begin as a btsnoop file.
    case notBTSnoop
    /// The btsnoop file's version is not 1.
    case unsupportedVersion(UInt32)
    /// The btsnoop file's packets are of another kind than HCI (1001), HCI UART (1002) or Linux Monitor (2001).
    case unsupportedDatalink(UInt32)
    /// A record claims more bytes than the file has, or is larger than any packet.
    case malformedRecord(offset: Int)
    /// A file holds nothing that could be played.
    case empty
    /// Several peripherals of a btsnoop file sent what is wanted.
    case severalConnections([CapturedPeripheral])
    /// None of the peripherals of a btsnoop file sent what is wanted.
    case nothingWanted(found: [CapturedPeripheral])
    /// A btsnoop file has no peripheral of that number.
    case noSuchConnection(Int, found: [CapturedPeripheral])
}

extension CaptureError: CustomStringConvertible {
    /// What is wrong where, and what a person can do.
    package var description: String {
        switch self {
        case .wrongFieldCount(let line): "line \(line) is not `time<TAB>characteristic<TAB>hex`"
        case .invalidTime(let line): "the time in line \(line) is neither seconds, such as 12.5 or 1700000000.25, nor ISO 8601"
        case .mixedTimes(let line): "the time in line \(line) is of another kind than that of the first line"
        case .timeGoesBackwards(let line): "the time in line \(line) lies before that of the line before; sort the file"
        case .invalidCharacteristic(let line): "the characteristic in line \(line) is no UUID of 4, 8 or 32 digits"
        case .invalidBytes(let line): "the bytes in line \(line) are not pairs of hexadecimal digits"
        case .notBTSnoop: "the file does not begin as a btsnoop file does"
        case .unsupportedVersion(let version): "btsnoop version \(version) is not supported; 1 is"
        case .unsupportedDatalink(let code): "btsnoop datalink \(code) is not supported; 1001, 1002 and 2001 are"
        case .malformedRecord(let offset): "the record at byte \(offset) has an impossible length; the file may be cut off"
        case .empty: "the file holds no notifications"
        case .severalConnections(let found): "several headsets could be meant" + Self.list(found)
        case .nothingWanted(let found): "nothing in it is what a headset of the model sends" + Self.list(found)
        case .noSuchConnection(let number, let found): "it has no connection \(number)" + Self.list(found)
        }
    }

    private static func list(_ found: [CapturedPeripheral]) -> String {
        found.map { "\n    \($0)" }.joined()
    }
}
