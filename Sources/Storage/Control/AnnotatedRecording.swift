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
    /// From the request or the first sample, whichever is earlier; nil where no clock is known for it.
    private let beginning: Int64?
    /// The same on the clock of the present boot, which no step of the other clock moves; nil where it began in another.
    private let beginningOnBoot: Int64?
    /// When it had ended, on the clock of the present boot.
    private let endOnBoot: EndOnBoot
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
    /// - Throws: ``StorageError/notFound(what:)``.
    init(_ recording: RecordingID, presentBoot: Int64, now: MonotonicTime, in db: Database) throws {
        let found = try Row.fetchOne(
            db, sql: "SELECT * FROM recording_overview WHERE recording_id = ?", arguments: [recording.rawValue])
        guard let row = found else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
        let start = row.instant("start_unix_ns")
        beginning = row.instant("requested_unix_ns").map { min($0, start ?? $0) }
        let onBoot = try Row.fetchOne(
            db,
            sql: """
                SELECT iif(requested_host_boot_id = :boot, min(requested_boottime_ns, coalesce((
                        SELECT min(g.reference_boottime_ns + CAST(round((g.first_n - g.reference_n) * g.period_ns) AS INTEGER))
                        FROM stream AS st JOIN segment AS g ON g.stream_id = st.id
                        WHERE st.recording_id = r.id AND g.host_boot_id = :boot), requested_boottime_ns)), NULL) AS beginning,
                    iif(stopped_host_boot_id = :boot, stopped_boottime_ns, NULL) AS stopped,
                    stopped_host_boot_id IS NOT NULL AND stopped_host_boot_id <> :boot AS isEarlier
                FROM recording AS r WHERE r.id = :recording
                """, arguments: ["recording": recording.rawValue, "boot": presentBoot])
        beginningOnBoot = onBoot?["beginning"]
        let stopped = (onBoot?["stopped"] as Int64?).map { EndOnBoot.at($0) }
        endOnBoot = onBoot?["isEarlier"] == true ? .inAnotherBoot : stopped ?? .none
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

    /// When a recording ended, as the present boot of the host sees it.
    private enum EndOnBoot: Hashable {
        case none
        case at(Int64)
        case inAnotherBoot
    }

    /// The recordings that may hold an onset, found without a look at what they recorded: a mark costs the same however many
    /// there are. An instant of the present boot is compared on its own clock.
    ///
    /// - Parameter headset: only of this headset; nil for all.
    /// - Throws: ``StorageError/refused(reason:)`` for an instant before this boot, where nothing says what UTC it is.
    static func candidates(
        for onset: StatedOnset, of headset: String?, presentBoot: Int64, in db: Database
    ) throws -> [RecordingID] {
        var arguments: StatementArguments = ["headset": headset]
        var condition = "TRUE"
        switch onset {
        case .boottime(let time) where time.nanoseconds < 0:
            let offset = try Int64.fetchOne(
                db, sql: "SELECT offset_ns FROM host_boot_clock WHERE host_boot_id = ?", arguments: [presentBoot])
            guard let offset else { throw StorageError.refused(reason: Self.unknownClock) }
            let unix = StatedOnset.unix(nanoseconds: offset.addingClamped(time.nanoseconds))
            return try candidates(for: unix, of: headset, presentBoot: presentBoot, in: db)
        case .boottime(let time):
            condition = """
                (requested_host_boot_id <> :boot OR requested_boottime_ns - \(memoryNanoseconds) <= :time)
                    AND (stopped_host_boot_id IS NULL OR stopped_host_boot_id = :boot AND stopped_boottime_ns >= :time)
                """
            arguments += ["boot": presentBoot, "time": time.nanoseconds]
        case .unix(let nanoseconds):
            condition = """
                coalesce((SELECT c.offset_ns + stopped_boottime_ns FROM host_boot_clock AS c
                        WHERE c.host_boot_id = stopped_host_boot_id) >= :unix, TRUE)
                    AND coalesce((SELECT c.offset_ns + requested_boottime_ns FROM host_boot_clock AS c
                        WHERE c.host_boot_id = requested_host_boot_id) - \(memoryNanoseconds) <= :unix, TRUE)
                """
            arguments += ["unix": nanoseconds]
        case .sample(let sample):
            condition = "r.id IN (SELECT recording_id FROM stream WHERE id = :stream)"
            arguments += ["stream": sample.stream.rawValue]
        case .recordingStart: break
        }
        return try Int64.fetchAll(
            db,
            sql: """
                SELECT r.id FROM recording AS r JOIN headset AS h ON h.id = r.headset_id
                WHERE (:headset IS NULL OR h.name = :headset) AND \(condition) ORDER BY r.id
                """, arguments: arguments
        ).map(RecordingID.init)
    }

    private static let unknownClock = "the instant lies before this boot of the machine, and what UTC is now is not known"

    /// How long before it was asked for a recording may begin, with what a headset had in its memory: more than any has.
    private static let memoryNanoseconds: Int64 = 7 * 86_400 * 1_000_000_000

    /// True where the onset lies in the recording.
    func holds(_ onset: StatedOnset) -> Bool { (try? stored(onset)) != nil }

    /// The onset as it is stored.
    ///
    /// - Throws: ``AnnotationRefusal`` where it lies outside the recording, or ahead.
    func stored(_ onset: StatedOnset) throws(AnnotationRefusal) -> StoredOnset {
        switch onset {
        case .boottime(let time): return try stored(boottime: time.nanoseconds)
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

    /// An instant of the present boot stays on its clock: what UTC was then may be corrected later, and need not be known. One
    /// before it has no clock but UTC, by which the boot is found that it lies in.
    private func stored(boottime: Int64) throws(AnnotationRefusal) -> StoredOnset {
        guard boottime >= 0 else {
            guard let clock = presentClock else { throw AnnotationRefusal(reason: Self.unknownClock) }
            return try stored(unix: clock.offset.addingClamped(boottime))
        }
        guard boottime <= now else {
            throw AnnotationRefusal(reason: "\(words(boottime: boottime)) lies ahead; now it is \(words(boottime: now))")
        }
        if let beginningOnBoot, boottime < beginningOnBoot {
            throw AnnotationRefusal(
                reason:
                    "\(words(boottime: boottime)) is before the recording, which began at \(words(boottime: beginningOnBoot))")
        }
        switch endOnBoot {
        case .none: break
        case .at(let end):
            guard boottime <= end else {
                throw AnnotationRefusal(
                    reason: "\(words(boottime: boottime)) is after the recording, which ended at \(words(boottime: end))")
            }
        case .inAnotherBoot:
            throw AnnotationRefusal(
                reason: "\(words(boottime: boottime)) is after the recording, which ended before this machine was restarted")
        }
        return StoredOnset(hostBoot: presentBoot, boottime: boottime)
    }

    private var presentClock: (hostBoot: Int64, offset: Int64)? { clocks.last { $0.hostBoot == presentBoot } }

    private func words(boottime: Int64) -> String {
        presentClock.map { Self.words($0.offset.addingClamped(boottime)) } ?? "\(Double(boottime) / 1e9) s of this boot"
    }

    private func stored(unix: Int64) throws(AnnotationRefusal) -> StoredOnset {
        let onset = Self.words(unix)
        guard let beginning else { throw AnnotationRefusal(reason: "what UTC was while the recording ran is not known") }
        if let present = presentClock, unix > present.offset.addingClamped(now) {
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
