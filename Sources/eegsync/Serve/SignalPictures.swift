import Foundation
import Glibc
import Page
import Storage
import Synchronization

/// What is kept of streams between one picture and the next: time maps for some seconds, pyramids in files.
final class SignalPictures: Sendable {
    /// How old a time map may be: its newest piece grows each second, and pictures of the past hardly mind.
    private static let age = Duration.seconds(2)
    /// How many n one step of building a pyramid looks at; other requests wait for no more than that.
    static let stepRows: Int64 = 262_144
    /// The most streams of which something is kept.
    private static let countMaximum = 64

    private struct Kept {
        var timelines: [StreamID: (read: ContinuousClock.Instant, timeline: StreamTimeline)] = [:]
        var pyramids: [StreamID: SignalPyramid] = [:]
        var building: Set<StreamID> = []
    }

    /// Where pyramids are kept; nil where they cannot be: pictures of long times are then incomplete.
    private let cache: PageCache?
    private let reading: PageReading
    private let kept = Mutex(Kept())
    /// Whether somebody has looked since ``tidy()``. At the start what an earlier process has left goes.
    private let isLookedAt = Atomic(true)

    init(reading: PageReading, cache: PageCache?) {
        self.reading = reading
        self.cache = cache
    }

    /// Somebody looks at the page.
    func noteLook() { isLookedAt.store(true, ordering: .relaxed) }

    /// The time map of a stream.
    func timeline(of stream: StreamID, _ store: ReadOnlyStore) throws -> StreamTimeline {
        let now = ContinuousClock.now
        if let known = kept.withLock({ $0.timelines[stream] }), now - known.read < Self.age { return known.timeline }
        let timeline = StreamTimeline(try store.timeSegments(of: stream))
        kept.withLock { kept in
            if kept.timelines.count >= Self.countMaximum { kept.timelines = [:] }
            kept.timelines[stream] = (now, timeline)
        }
        return timeline
    }

    /// The pyramid of a stream, up to date where that takes one step; else it is built from now on, step by step, between other
    /// requests. What arrived after all takes a step with each picture. Where it cannot be kept it is as far as it was, or nil.
    func pyramid(of stream: SignalStream, _ store: ReadOnlyStore) throws -> SignalPyramid? {
        guard let extent = stream.extent, let pyramid = pyramid(inFilesOf: stream) else { return nil }
        guard extent.upperBound - (pyramid.end ?? extent.lowerBound) <= Self.stepRows else {
            build(pyramid, of: stream)
            return pyramid
        }
        do {
            _ = try pyramid.extend(from: store, extent: extent, limit: Self.stepRows)
        } catch is PictureFileError {
            // A full disk, or files that somebody has removed: the next picture tries again.
        }
        return pyramid
    }

    /// The pyramid of a stream as it is in its files, which are made where there are none; nil where they cannot be.
    private func pyramid(inFilesOf stream: SignalStream) -> SignalPyramid? {
        guard let directory = cache?.directory else { return nil }
        if let known = kept.withLock({ $0.pyramids[stream.id] }), !known.isLost { return known }
        let pyramid = try? SignalPyramid(of: stream, directory: directory)
        kept.withLock { kept in
            if kept.pyramids.count >= Self.countMaximum { kept.pyramids = [:] }
            kept.pyramids[stream.id] = pyramid
        }
        return pyramid
    }

    private func build(_ pyramid: SignalPyramid, of stream: SignalStream) {
        guard kept.withLock({ $0.building.insert(stream.id).inserted }), let extent = stream.extent else { return }
        Task {
            var isDone = false
            while !isDone {
                // What cannot be read or kept is tried again with the next picture.
                isDone =
                    (try? await reading.run { store in
                        let isComplete = try pyramid.extend(from: store, extent: extent, limit: Self.stepRows)
                        // The rest comes with pictures: while a headset hands over its memory there is always more.
                        return isComplete || extent.upperBound - (pyramid.end ?? extent.lowerBound) <= Self.stepRows
                    }) ?? true
            }
            _ = kept.withLock { $0.building.remove(stream.id) }
        }
    }

    /// Lets go what was kept of streams that are not there any more. Where nobody has looked nothing is read.
    func tidy() async {
        guard isLookedAt.exchange(false, ordering: .relaxed), let directory = cache?.directory else { return }
        try? await reading.run { store in
            SignalPyramid.removeFiles(but: try store.signalStreamIdentifiers(), directory: directory)
        }
        // An open file has its room until it is closed.
        kept.withLock { kept in kept.pyramids = kept.pyramids.filter { !$0.value.isLost } }
    }

    /// Where a program of this user keeps what it can compute again: as the service manager says, or by the XDG Base Directory
    /// Specification; nil where that cannot be made.
    static func cacheDirectory(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        let given = environment["CACHE_DIRECTORY"]
        let home = environment["XDG_CACHE_HOME"] ?? environment["HOME"].map { $0 + "/.cache" }
        guard let path = given ?? home.map({ $0 + "/eegsync" }), path.hasPrefix("/") else { return nil }
        let attributes = [FileAttributeKey.posixPermissions: 0o700]
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: attributes)
        return access(path, W_OK) == 0 ? path : nil
    }
}
