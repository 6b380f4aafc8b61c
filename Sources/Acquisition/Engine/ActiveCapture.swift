import Bluetooth
import Capture
import Storage

/// A capture of one headset that is under way.
struct ActiveCapture {
    let id: CaptureID
    let headset: HeadsetID
    var end: MonotonicTime
    /// Under which the headset was tried or reached while the capture went on.
    private var identifiers: [PeripheralIdentifier] = []
    private var records: [UInt8] = []
    private var packetCount = 0
    private var droppedCount = 0

    /// Bytes that may wait for the database; beyond that packets are dropped and counted.
    private static let byteLimit = 16 << 20

    init(_ request: CaptureRequest) {
        id = request.id
        headset = request.headset
        end = request.end
    }

    /// From now on packets of the peripheral are the headset's. True where that is new.
    mutating func add(_ identifier: PeripheralIdentifier) -> Bool {
        guard !identifiers.contains(identifier) else { return false }
        identifiers.append(identifier)
        return true
    }

    mutating func take(_ packet: CapturedPacket, unixNanoseconds: Int64) {
        guard identifiers.contains(packet.peripheral) else { return }
        guard records.count < Self.byteLimit else {
            droppedCount += 1
            return
        }
        packetCount += 1
        SnoopFormat.append(packet, unixNanoseconds: unixNanoseconds, dropped: droppedCount, to: &records)
    }

    /// What is to be written; nil where there is nothing.
    mutating func takeChunk() -> CaptureChunk? {
        guard packetCount > 0 else { return nil }
        defer { (records, packetCount) = ([], 0) }
        return CaptureChunk(capture: id, packetCount: packetCount, records: records)
    }
}
