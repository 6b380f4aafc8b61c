import Foundation
import Headsets
import Page
import Storage

/// The newest rows, from the database: read at most four times a second for all viewers together, and not at all while nobody
/// looks. While somebody does, the daemon commits each second.
actor DatabaseLiveSource: LiveSource {
    /// How old what was read may be.
    static let age = Duration.milliseconds(240)
    /// How much of a stream is kept for those who begin to look.
    static let secondsKept = 15.0
    /// For how long after the last look the daemon is asked to commit each second.
    private static let attention = Duration.seconds(10)

    private struct Window {
        var rows = SampleChunk()
        var read: ContinuousClock.Instant
        var asked: ContinuousClock.Instant
    }

    private let reading: PageReading
    private var windows: [StreamID: Window] = [:]
    private var follower: Follower?

    init(reading: PageReading) {
        self.reading = reading
    }

    func rows(of stream: SignalStream, after n: Int64?) async throws -> SampleChunk {
        let now = ContinuousClock.now
        if follower == nil { follower = reading.store.path.flatMap(Follower.init(database:)) }
        var window = windows[stream.id]
        if window == nil || now - (window?.read ?? now) >= Self.age {
            // Noted before the reading, so that those who ask meanwhile take what there is.
            window?.read = now
            windows[stream.id] = window
            let newer = try await newer(stream, after: windows[stream.id]?.rows.n.last)
            var kept = windows[stream.id] ?? Window(read: now, asked: now)
            kept.rows.append(newer, channels: stream.description.channels.count)
            kept.rows.keepLast(Int(stream.description.samplingFrequency * Self.secondsKept), stream)
            window = kept
        }
        window?.asked = now
        windows[stream.id] = window
        return window?.rows.after(n, channels: stream.description.channels.count) ?? SampleChunk()
    }

    private func newer(_ stream: SignalStream, after n: Int64?) async throws -> SampleChunk {
        let length = Int64(stream.description.samplingFrequency * Self.secondsKept)
        let channels = stream.description.channels.count
        return try await reading.run { store in
            guard let newest = try store.newestN(of: stream.id) else { return SampleChunk() }
            let first = max(newest - length, n.map { $0 + 1 } ?? .min)
            guard first <= newest else { return SampleChunk() }
            return try store.rows(of: stream.id, channelCount: channels, in: first...newest, limit: Int(length) + 1)
        }
    }

    /// Lets go what nobody has asked for of late; called once a second.
    func tidy(at now: ContinuousClock.Instant = .now) {
        windows = windows.filter { now - $0.value.asked < Self.attention }
        if windows.isEmpty { follower = nil }
    }
}

extension SampleChunk {
    /// Appends later rows of the same stream. What is there already stays: two readings may overlap.
    mutating func append(_ other: SampleChunk, channels: Int) {
        let news = other.after(n.last, channels: channels)
        n += news.n
        values += news.values
        missingChannels += news.missingChannels
    }

    /// The rows behind an n.
    func after(_ known: Int64?, channels: Int) -> SampleChunk {
        guard let known, let first = n.firstIndex(where: { $0 > known }) else { return known == nil ? self : SampleChunk() }
        var rest = SampleChunk()
        rest.n = Array(n[first...])
        rest.values = Array(values[(first * channels)...])
        rest.missingChannels = Array(missingChannels[first...])
        return rest
    }

    /// Forgets all but the first rows.
    mutating func keepFirst(_ count: Int, channels: Int) {
        let excess = n.count - count
        guard excess > 0 else { return }
        n.removeLast(excess)
        values.removeLast(excess * channels)
        missingChannels.removeLast(excess)
    }

    /// Forgets all but the last rows.
    fileprivate mutating func keepLast(_ count: Int, _ stream: SignalStream) {
        guard n.count > count else { return }
        let excess = n.count - count
        n.removeFirst(excess)
        values.removeFirst(excess * stream.description.channels.count)
        missingChannels.removeFirst(excess)
    }
}
