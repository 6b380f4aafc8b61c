package import Bluetooth
import GRDB

/// Annotations from a file: all of them, or none.
extension ControlStore {
    /// Onsets that are nearer to each other are one, where everything else that is said is the same: the clock of the host
    /// may be known more exactly than it was at an earlier import.
    static let sameOnsetNanoseconds: Int64 = 1_000_000

    /// Stores annotations, but for those that are there already, also where they were corrected or deleted since.
    ///
    /// - Returns: how many were stored and were not; or, with nothing stored, which are refused, by their index, and why.
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func importAnnotations(
        _ annotations: [StatedAnnotation], into recording: RecordingID, at now: MonotonicTime
    ) throws(StorageError) -> AnnotationImport {
        try write { db in
            let recorded = try AnnotatedRecording(recording, presentBoot: hostBootID, now: now, in: db)
            var result = AnnotationImport()
            var onsets: [StoredOnset] = []
            for (index, annotation) in annotations.enumerated() {
                do throws(AnnotationRefusal) {
                    onsets.append(try recorded.stored(annotation.onset))
                } catch {
                    result.refused.append((index, error.reason))
                }
            }
            guard result.refused.isEmpty else { return result }
            var known = try KnownAnnotations(of: recording, in: db)
            for (annotation, onset) in zip(annotations, onsets) {
                switch known.find(annotation, at: onset) {
                case .holds?: result.present += 1
                case .withdrawn?: result.withdrawn += 1
                case nil:
                    _ = try insert(annotation, at: onset, into: recording, in: db)
                    known.add(annotation, at: onset)
                    result.stored += 1
                }
            }
            return result
        }
    }
}

/// What became of annotations from a file.
package struct AnnotationImport: Sendable {
    package var stored = 0
    /// There already.
    package var present = 0
    /// There already, and corrected or deleted since.
    package var withdrawn = 0
    /// With nothing stored.
    package var refused: [(index: Int, reason: String)] = []
}

/// The annotations that a recording has, to be found by all that they say.
private struct KnownAnnotations {
    enum State {
        case holds, withdrawn
    }

    private struct Key: Hashable {
        var description: String
        var durationSeconds: Double?
        var code: Int64?
        var sample: AnnotatedSample?
        var hostBoot: Int64?
        /// The onset in units of ``ControlStore/sameOnsetNanoseconds``; 0 where a sample says it.
        var slot: Int64
    }

    private var onsets: [Key: [(boottime: Int64, state: State)]] = [:]

    init(of recording: RecordingID, in db: Database) throws {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT * FROM annotation WHERE recording_id = ?", arguments: [recording.rawValue])
        while let row = try rows.next() {
            var sample: AnnotatedSample?
            if let stream = row["stream_id"] as Int64?, let n = row["n"] as Int64? {
                sample = AnnotatedSample(stream: StreamID(rawValue: stream), n: n)
            }
            add(
                StatedAnnotation(
                    onset: .unix(nanoseconds: 0), durationSeconds: row["duration_seconds"], description: row["description"],
                    code: row["code"]),
                at: StoredOnset(hostBoot: row["host_boot_id"], boottime: row["boottime_ns"], sample: sample),
                state: row["withdrawn_boottime_ns"] as Int64? == nil ? .holds : .withdrawn)
        }
    }

    mutating func add(_ annotation: StatedAnnotation, at onset: StoredOnset, state: State = .holds) {
        onsets[Self.key(annotation, at: onset), default: []].append((onset.boottime, state))
    }

    func find(_ annotation: StatedAnnotation, at onset: StoredOnset) -> State? {
        var found: State?
        for slot in onset.sample == nil ? [-1, 0, 1] as [Int64] : [0] {
            var key = Self.key(annotation, at: onset)
            key.slot += slot
            for (boottime, state) in onsets[key] ?? []
            where onset.sample != nil || abs(boottime - onset.boottime) < ControlStore.sameOnsetNanoseconds {
                if state == .holds { return .holds }
                found = state
            }
        }
        return found
    }

    private static func key(_ annotation: StatedAnnotation, at onset: StoredOnset) -> Key {
        Key(
            description: annotation.description, durationSeconds: annotation.durationSeconds, code: annotation.code,
            sample: onset.sample, hostBoot: onset.sample == nil ? onset.hostBoot : nil,
            slot: onset.sample == nil ? onset.boottime / ControlStore.sameOnsetNanoseconds : 0)
    }
}
