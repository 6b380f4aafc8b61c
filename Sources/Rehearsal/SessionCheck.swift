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
            // Without a counter, a loss on the way cannot be seen from the bytes, nor where a sample belongs.
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
                    guard let index = known.lastIndex(where: { $0.firstN <= n }), let origin = origins[index] else {
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

    /// Where the epoch began: in the latest session of its time, at the latest position that has its counter and may have been
    /// sent by then. What is late by a turn or more is known by what was stored.
    private func origin(of epoch: EpochRecord, stream: StreamContents) -> Origin? {
        guard let session = headset.sessions.lastIndex(where: { $0.began <= epoch.began }) else { return nil }
        let sampled = headset.sessions[session]
        let near = sampled.firstIndexes[stream.position] + sampled.position(at: epoch.began, stream: stream.position)
        func origin(_ index: Int64) -> Origin {
            Origin(session: session, shift: epoch.firstN - (index - sampled.firstIndexes[stream.position]))
        }
        guard let modulus = stream.description.counterModulus else { return origin(epoch.firstIndex) }
        let turn = modulus * Int64(stream.description.samplesPerCount)
        let nearest = origin(epoch.firstIndex + Int64((Double(near - epoch.firstIndex) / Double(turn)).rounded()) * turn)
        // Half a turn is more than what arrives can usually be late by.
        for back in 0..<4 {
            let candidate = Origin(session: session, shift: nearest.shift + Int64(back) * turn)
            if agrees(candidate, epoch, stream) { return candidate }
        }
        return nearest
    }

    /// Whether the epoch's first rows are what the headset sent.
    private func agrees(_ origin: Origin, _ epoch: EpochRecord, _ stream: StreamContents) -> Bool {
        let channels = stream.description.channels.count
        var agrees = true
        try? reader.forEachChunk(of: stream.id, in: epoch.firstN...epoch.firstN + 24, rowsPerChunk: 25) { chunk in
            for row in 0..<chunk.n.count {
                for channel in 0..<channels where chunk.missingChannels[row] >> channel & 1 == 0 {
                    let sent = headset.sent(
                        session: origin.session, stream: stream.position, channel: channel,
                        position: chunk.n[row] - origin.shift)
                    if sent != chunk.values[row * channels + channel] { agrees = false }
                }
            }
        }
        return agrees
    }

    // MARK: Time

    /// When the rows of a stream were taken: by their numbers, or where the headset has none, by what they hold.
    func times(of stream: StreamContents, _ rows: [Range<Int64>]) throws(StorageError) -> (Int64) -> MonotonicTime? {
        let known = epochs[stream.id] ?? []
        let sessions = headset.sessions
        guard stream.description.counterModulus != nil else { return try SampleSearch(self, stream, known).times() }
        let origins = known.map { origin(of: $0, stream: stream) }
        return { n in
            guard let index = known.lastIndex(where: { $0.firstN <= n }), let origin = origins[index] else { return nil }
            return sessions[origin.session].time(of: n - origin.shift, stream: stream.position)
        }
    }
}
