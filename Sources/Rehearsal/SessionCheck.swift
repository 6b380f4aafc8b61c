import Bluetooth
import Headsets
import Simulation
import Storage

/// Compares what was stored of a headset without memory with what the headset sent, session by session.
struct SessionCheck {
    let headset: any SessionHeadset
    let reader: RecordingReader
    /// What was committed, by stream.
    let epochs: [StreamID: [EpochRecord]]

    /// An epoch's samples in terms of the headset's session.
    private struct Origin {
        var session: Int
        /// n less position.
        var shift: Int64
    }

    /// The first stored value that the headset did not send for its instant; nil where there is none.
    func firstWrong() throws(StorageError) -> String? {
        for stream in reader.contents.streams {
            // Without a counter, a loss on the way cannot be told from the bytes, nor where a sample belongs.
            guard let firstN = stream.firstN, let lastN = stream.lastN, stream.description.counterModulus != nil else {
                continue
            }
            if let wrong = try firstWrong(stream, firstN...lastN) { return wrong }
            if let wrong = wrongBank(stream) { return wrong }
        }
        return nil
    }

    /// Where a bank has other numbers for the samples of a session than the first bank of its stream.
    private func wrongBank(_ stream: StreamContents) -> String? {
        let bank = stream.description.bank
        guard bank > 0, let first = reader.contents.streams.first(where: { $0.position == stream.position - bank }) else {
            return nil
        }
        let known = (epochs[first.id] ?? []).compactMap { origin(of: $0, stream: first) }
        for epoch in epochs[stream.id] ?? [] {
            guard let own = origin(of: epoch, stream: stream) else { continue }
            let shifts = known.filter { $0.session == own.session }.map(\.shift)
            if !shifts.isEmpty, !shifts.contains(own.shift) {
                return "n \(epoch.firstN), bank \(bank) of \(stream.description.name): n is \(own.shift) beyond the headset's "
                    + "number, in bank 0 \(shifts)"
            }
        }
        return nil
    }

    private func firstWrong(_ stream: StreamContents, _ range: ClosedRange<Int64>) throws(StorageError) -> String? {
        let known = epochs[stream.id] ?? []
        let origins = known.map { origin(of: $0, stream: stream) }
        let channels = stream.description.channels.count
        var wrong: String?
        do {
            try reader.forEachChunk(of: stream.id, in: range, rowsPerChunk: 4096) { chunk in
                for row in 0..<chunk.n.count where wrong == nil {
                    let n = chunk.n[row]
                    guard let place = known.lastIndex(where: { $0.firstN <= n }), let origin = origins[place] else {
                        wrong = "n \(n) of \(stream.description.name) belongs to no session"
                        return
                    }
                    for channel in 0..<channels where chunk.missingChannels[row] >> channel & 1 == 0 {
                        let value = headset.sent(
                            session: origin.session, stream: stream.position, channel: channel, position: n - origin.shift)
                        let stored = chunk.values[row * channels + channel]
                        if stored != value {
                            wrong =
                                "n \(n), channel \(channel + 1) of \(stream.description.name): \(stored), "
                                + "sent \(value.map(String.init) ?? "nothing")"
                            return
                        }
                    }
                }
            }
        } catch let error as StorageError {
            throw error
        } catch {
            return "\(error)"
        }
        return wrong
    }

    /// Where the epoch began: in the latest session of its time, at the position that has its counter and lies nearest.
    private func origin(of epoch: EpochRecord, stream: StreamContents) -> Origin? {
        guard let session = headset.sessions.lastIndex(where: { $0.began <= epoch.began }) else { return nil }
        let sampled = headset.sessions[session]
        let near = sampled.firstIndexes[stream.position] + sampled.position(at: epoch.began, stream: stream.position)
        var index = epoch.firstIndex
        if let modulus = stream.description.counterModulus {
            let turn = modulus * Int64(stream.description.samplesPerCount)
            index += Int64((Double(near - index) / Double(turn)).rounded()) * turn
        }
        return Origin(session: session, shift: epoch.firstN - (index - sampled.firstIndexes[stream.position]))
    }
}
