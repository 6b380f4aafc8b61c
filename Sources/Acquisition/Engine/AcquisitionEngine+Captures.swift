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

/// Captures of what goes over the air.
extension AcquisitionEngine {
    /// Makes the captures follow the operator's wishes.
    func follow(_ requests: [CaptureRequest], at now: MonotonicTime) {
        for request in requests {
            guard request.isWanted, request.end > now else {
                finish(request.id)
                continue
            }
            if let index = captures.firstIndex(where: { $0.id == request.id }) {
                captures[index].end = request.end
            } else if !completedCaptures.contains(request.id) {
                captures.append(ActiveCapture(request))
            }
        }
        // Whoever asked has taken them away.
        captures.removeAll { capture in !requests.contains { $0.id == capture.id } }
        collectPackets(at: now)
    }

    /// Gives each capture the packets of its headset.
    func collectPackets(at now: MonotonicTime) {
        guard !captures.isEmpty || context.packets.isCapturing else { return }
        let wasCapturing = context.packets.isCapturing
        let taken = context.packets.takePackets()
        context.packets.isCapturing = !captures.isEmpty
        for index in captures.indices {
            for acquisition in acquisitions where acquisition.headset == captures[index].headset {
                guard let identifier = acquisition.peripheral, captures[index].add(identifier) else { continue }
                // What led to here, as far as the packets do not show it themselves.
                let isKnown = wasCapturing && taken.contains { $0.peripheral == identifier && $0.beginsLink }
                guard !isKnown else { continue }
                for packet in context.packets.preamble(of: identifier) { give(packet, to: index) }
            }
            for packet in taken { give(packet, to: index) }
        }
        for capture in captures where capture.end <= now { finish(capture.id) }
    }

    private func give(_ packet: CapturedPacket, to index: Int) {
        captures[index].take(packet, unixNanoseconds: unixNanoseconds(at: packet.time) ?? packet.time.nanoseconds)
    }

    private func finish(_ id: CaptureID) {
        guard !completedCaptures.contains(id) else { return }
        completedCaptures.append(id)
        guard let index = captures.firstIndex(where: { $0.id == id }) else { return }
        if let chunk = captures[index].takeChunk() { lastChunks.append(chunk) }
        captures.remove(at: index)
    }

    /// Moves what was captured into a batch.
    func moveCaptures(into batch: inout WriteBatch) {
        batch.changes += lastChunks.map(Change.capture)
        lastChunks.removeAll()
        for index in captures.indices {
            if let chunk = captures[index].takeChunk() { batch.changes.append(.capture(chunk)) }
        }
        batch.changes += completedCaptures.map { .completed(.capture($0)) }
        completedCaptures.removeAll()
    }
}
