import Bluetooth
import Foundation
import GRDB

/// An onset on the clock of a host boot, as it is stored.
struct StoredOnset: Hashable {
    var hostBoot: Int64
    var boottime: Int64
    var sample: AnnotatedSample?
}

/// Where a recording lies in time, read once for any number of annotations.
struct AnnotatedRecording {
    /// Boots of the host that the recording has to do with, and their clocks.
    private let clocks: [(hostBoot: Int64, offset: Int64)]
    /// From the request or the first sample, whichever is earlier.
    private let beginning: Int64
    /// When it had ended; nil while it goes on.
    private let end: Int64?
    /// When its first sample was taken; nil where there is none yet.
    private let firstSample: Int64?
    private let extents: [StreamID: ClosedRange<Int64>]
    private let presentBoot: Int64
    private let now: Int64

    /// - Parameters:
    ///   - presentBoot: the row of the present host boot.
    ///   - now: the boottime; nothing is said of what lies ahead.
    /// - Throws: ``StorageError/notFound(what:)``, ``StorageError/refused(reason:)`` where no clock is known.
    init(_ recording: RecordingID, presentBoot: Int64, now: MonotonicTime, in db: Database) throws {
        let found = try Row.fetchOne(
            db, sql: "SELECT * FROM recording_overview WHERE recording_id = ?", arguments: [recording.rawValue])
        guard let row = found else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
        let start = row.instant("start_unix_ns")
        guard let requested = row.instant("requested_unix_ns") else {
            throw StorageError.refused(reason: "what UTC was while recording \(recording.rawValue) ran is not known")
        }
        beginning = min(requested, start ?? requested)
        end = row.instant("stopped_unix_ns")
        firstSample = start
        clocks = try Row.fetchAll(
            db,
            sql: """
                SELECT host_boot_id, offset_ns FROM host_boot_clock WHERE offset_ns IS NOT NULL AND (host_boot_id = ?2
                    OR host_boot_id IN (SELECT requested_host_boot_id FROM recording WHERE id = ?1)
                    OR host_boot_id IN (SELECT g.host_boot_id FROM stream AS st JOIN segment AS g ON g.stream_id = st.id
                        WHERE st.recording_id = ?1))
                ORDER BY offset_ns
                """, arguments: [recording.rawValue, presentBoot]
        ).map { ($0["host_boot_id"], $0["offset_ns"]) }
        extents = try Dictionary(
            Row.fetchAll(
                db, sql: "SELECT stream_id, first_n, last_n FROM stream_overview WHERE recording_id = ? AND last_n >= first_n",
                arguments: [recording.rawValue]
            ).map { (StreamID(rawValue: $0["stream_id"]), ($0["first_n"] as Int64)...($0["last_n"] as Int64)) }
        ) { first, _ in first }
        self.presentBoot = presentBoot
        self.now = now.nanoseconds
    }

    /// True where the onset lies in the recording.
    func holds(_ onset: StatedOnset) -> Bool { (try? stored(onset)) != nil }

    /// The onset as it is stored.
    ///
    /// - Throws: ``AnnotationRefusal`` where it lies outside the recording, or ahead.
    func stored(_ onset: StatedOnset) throws(AnnotationRefusal) -> StoredOnset {
        switch onset {
        case .boottime(let time):
            let clock = clocks.last { $0.hostBoot == presentBoot }
            guard let clock else { throw AnnotationRefusal(reason: "what UTC is now is not known") }
            return try stored(unix: clock.offset.addingClamped(time.nanoseconds))
        case .unix(let nanoseconds): return try stored(unix: nanoseconds)
        case .recordingStart(let seconds):
            guard let firstSample else {
                throw AnnotationRefusal(reason: "the recording has no sample yet from which seconds could be counted")
            }
            guard seconds.isFinite, abs(seconds) < 1e9 else {
                throw AnnotationRefusal(reason: "no recording is as long as \(seconds) s")
            }
            return try stored(unix: firstSample + Int64((seconds * 1e9).rounded()))
        case .sample(let sample):
            guard let extent = extents[sample.stream], extent.contains(sample.n) else {
                let words = extents[sample.stream].map { "from \($0.lowerBound) to \($0.upperBound)" } ?? "none yet"
                throw AnnotationRefusal(reason: "there is no sample \(sample.n): the stream has \(words)")
            }
            return StoredOnset(hostBoot: presentBoot, boottime: now, sample: sample)
        }
    }

    private func stored(unix: Int64) throws(AnnotationRefusal) -> StoredOnset {
        let onset = Self.words(unix)
        if let present = clocks.last(where: { $0.hostBoot == presentBoot }), unix > present.offset.addingClamped(now) {
            throw AnnotationRefusal(reason: "\(onset) lies ahead; now it is \(Self.words(present.offset.addingClamped(now)))")
        }
        guard unix >= beginning else {
            throw AnnotationRefusal(reason: "\(onset) is before the recording, which began at \(Self.words(beginning))")
        }
        if let end, unix > end {
            throw AnnotationRefusal(reason: "\(onset) is after the recording, which ended at \(Self.words(end))")
        }
        guard let clock = clocks.last(where: { $0.offset <= unix }) ?? clocks.first else {
            throw AnnotationRefusal(reason: "what UTC was then is not known")
        }
        return StoredOnset(hostBoot: clock.hostBoot, boottime: unix - clock.offset)
    }

    /// ISO 8601, to a millisecond.
    private static func words(_ unix: Int64) -> String {
        Date(timeIntervalSince1970: Double(unix) / 1e9).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
