import Bluetooth
import Capture
import Storage

/// The captures of what goes over the air that are under way, and what the ended ones have left to write.
struct ActiveCaptures {
    private var captures: [ActiveCapture] = []
    private var lastChunks: [CaptureChunk] = []
    private var completed: [CaptureID] = []

    /// Makes the captures follow the operator's wishes.
    mutating func follow(_ requests: [CaptureRequest], at now: MonotonicTime) {
        for request in requests {
            guard request.isWanted, request.end > now else {
                finish(request.id)
                continue
            }
            if let index = captures.firstIndex(where: { $0.id == request.id }) {
                captures[index].end = request.end
            } else if !completed.contains(request.id) {
                captures.append(ActiveCapture(request))
            }
        }
        // Whoever asked has taken them away.
        captures.removeAll { capture in !requests.contains { $0.id == capture.id } }
    }

    /// Gives each capture the packets of its headset.
    ///
    /// - Parameter unixNanoseconds: UTC at an instant of this boot; nil before the first reading of the wall clock.
    mutating func collect(
        from packets: inout PacketReconstruction, of acquisitions: [HeadsetAcquisition],
        unixNanoseconds: (MonotonicTime) -> Int64?, at now: MonotonicTime
    ) {
        guard !captures.isEmpty || packets.isCapturing else { return }
        let wasCapturing = packets.isCapturing
        let taken = packets.takePackets()
        packets.isCapturing = !captures.isEmpty
        for index in captures.indices {
            var given: [CapturedPacket] = []
            for acquisition in acquisitions where acquisition.headset == captures[index].headset {
                guard let identifier = acquisition.peripheral, captures[index].add(identifier) else { continue }
                // What led to here, as far as the packets do not show it themselves.
                let isKnown = wasCapturing && taken.contains { $0.peripheral == identifier && $0.beginsLink }
                if !isKnown { given += packets.preamble(of: identifier) }
            }
            for packet in given + taken {
                captures[index].take(packet, unixNanoseconds: unixNanoseconds(packet.time) ?? packet.time.nanoseconds)
            }
        }
        for capture in captures where capture.end <= now { finish(capture.id) }
    }

    private mutating func finish(_ id: CaptureID) {
        guard !completed.contains(id) else { return }
        completed.append(id)
        guard let index = captures.firstIndex(where: { $0.id == id }) else { return }
        if let chunk = captures[index].takeChunk() { lastChunks.append(chunk) }
        captures.remove(at: index)
    }

    /// Moves what was captured into a batch.
    mutating func move(into batch: inout WriteBatch) {
        batch.changes += lastChunks.map(Change.capture)
        lastChunks.removeAll()
        for index in captures.indices {
            if let chunk = captures[index].takeChunk() { batch.changes.append(.capture(chunk)) }
        }
        batch.changes += completed.map { .completed(.capture($0)) }
        completed.removeAll()
    }
}
