import ArgumentParser
import Assembly
import Foundation
import Headsets
import Storage

/// `eegsync refit`: the times of recordings, computed anew from the evidence.
struct RefitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refit",
        abstract: "Compute the times of recordings anew, from all of their evidence at once.",
        discussion: """
            While it records, eegsync knows only the past: at the beginning of a link neither how fast the headset's clock \
            runs nor how late packets arrive. The earliest arrival of about each second is kept, and from these the times are \
            fitted here with what became known later. Samples, numbers and gaps stay as they are; to do it twice changes \
            nothing more.

            What was before is kept in the tables refit and replaced_segment. Recordings of earlier versions, which kept no \
            evidence, are left as they are, and so is a stream without counter where losses are in doubt. A recording that is \
            being recorded right now is refused, or left out where all are asked for.

            MOVED AT MOST and MEAN say by how much times have moved. UNCERTAINTY is within what times were said to be right \
            where that was least certain, and AFTER what is said now. CLOCK is by how much the headset's clock is fast, in \
            parts per million.

            EXAMPLES
              eegsync refit left --dry-run
              eegsync refit 12 13 --json
              eegsync refit
            """)

    @Argument(
        help: ArgumentHelp("Which recordings; all without any. \(RecordingName.words)", valueName: "recordings"))
    var names: [RecordingName] = []

    @Flag(help: "Only show what would change; nothing is written.")
    var dryRun = false

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let path = try options.databasePath()
        // Nothing is refitted in a database that does not exist; the mode that writes would create it.
        guard FileManager.default.fileExists(atPath: path) else {
            throw StorageError.cannotOpen(path: path, reason: "it is not there")
        }
        var control = try dryRun ? nil : options.openForControl()
        var store: any Store = try control ?? options.openReadOnly()
        let open = try store.openRecordings().map(\.recording.rawValue)
        let named = try names.map { try $0.number(in: store) }
        let wanted = try named.isEmpty ? store.recordings().map(\.id).sorted() : named
        var recorder: Int32?
        if wanted.contains(where: open.contains) {
            if dryRun {
                recorder = DaemonPresence.pid(database: path)
            } else {
                do throws(StorageError) {
                    // With the lock nobody begins to record meanwhile.
                    let acquisition = try AcquisitionStore(path: path, hostBoot: store.hostBoot)
                    (store, control) = (acquisition, acquisition.control)
                } catch {
                    guard case .inUse(_, let pid) = error else { throw error }
                    recorder = pid
                }
            }
        }
        var facts = RefitFacts(isDryRun: dryRun)
        for recording in wanted {
            if let recorder, open.contains(recording) {
                guard named.isEmpty else { throw Self.isBeingRecorded(recording, by: recorder) }
                facts.beingRecorded.append(recording)
            } else {
                facts.recordings.append(try refit(RecordingID(rawValue: recording), store, control))
            }
        }
        try facts.print(asJSON: output.json)
    }

    /// - Parameter control: writes what is found; nil for a dry run.
    private func refit(_ recording: RecordingID, _ store: any Store, _ control: ControlStore?) throws -> RefitFacts.Recording {
        var replacements: [SegmentReplacement] = []
        var streams: [RefitFacts.Stream] = []
        for stream in try store.streams(of: recording) {
            let evidence = try store.evidence(of: stream)
            let refit = Refit(evidence, neighbour: try store.neighbouringEvidence(of: stream))
            streams.append(RefitFacts.Stream(evidence, refit))
            guard refit.segments != evidence.segments else { continue }
            replacements.append(
                SegmentReplacement(
                    stream: stream, before: evidence.segments, after: refit.segments, evidenceCount: refit.evidenceCount,
                    shiftMaximum: refit.shiftMaximum, shiftMean: refit.shiftMean))
        }
        if !replacements.isEmpty {
            try control?.replaceSegments(of: recording, with: replacements, version: Eegsync.version, at: HostClock.now)
        }
        return RefitFacts.Recording(recording: recording.rawValue, streams: streams)
    }

    private static func isBeingRecorded(_ recording: Int64, by pid: Int32) -> Failure {
        Failure(
            problem: "recording \(recording) is being recorded right now, by process \(pid).",
            consequence: "its times were left as they are, and its evidence grows.",
            remedy: "refit it when it has ended (`eegsync record stop HEADSET`), or stop the process first.", code: .temporary)
    }
}

/// What a refit has changed, or would change.
struct RefitFacts: Facts {
    /// One recording.
    struct Recording: Encodable {
        var recording: Int64
        var streams: [Stream]
    }

    /// One stream.
    struct Stream: Encodable {
        var stream: String
        var bank: Int
        /// How many arrivals the map rests on.
        var evidence: Int
        /// False where some of the stream has no evidence and was left as it is.
        var isComplete: Bool
        /// True where losses are in doubt, and the times there were left as they are.
        var isInDoubt: Bool
        /// False where the map was so already.
        var isChanged: Bool
        var movedMaximumMs: Double
        var movedMeanMs: Double
        var uncertaintyBeforeMaximumMs: Double?
        var uncertaintyBeforeMeanMs: Double?
        var uncertaintyAfterMaximumMs: Double?
        var uncertaintyAfterMeanMs: Double?
        /// By how much the headset's clock is fast, and within what that is right.
        var clockPpm: Double?
        var clockUncertaintyPpm: Double?

        init(_ evidence: StreamEvidence, _ refit: Refit) {
            stream = evidence.name
            bank = evidence.bank
            self.evidence = refit.evidenceCount
            isComplete = !refit.isPartial
            isInDoubt = refit.isInDoubt
            isChanged = refit.segments != evidence.segments
            movedMaximumMs = refit.shiftMaximum / 1e6
            movedMeanMs = refit.shiftMean / 1e6
            uncertaintyBeforeMaximumMs = refit.uncertaintyBefore.map { $0.maximum / 1e6 }
            uncertaintyBeforeMeanMs = refit.uncertaintyBefore.map { $0.mean / 1e6 }
            uncertaintyAfterMaximumMs = refit.uncertaintyAfter.map { $0.maximum / 1e6 }
            uncertaintyAfterMeanMs = refit.uncertaintyAfter.map { $0.mean / 1e6 }
            clockPpm = refit.rate.map { $0.fast * 1e6 }
            clockUncertaintyPpm = refit.rate.map { $0.uncertainty * 1e6 }
        }

        fileprivate var result: TextTable.Cell {
            let reason = isInDoubt ? "losses in doubt" : "no evidence"
            if evidence == 0 { return .init("\(reason): left as it is", .caution) }
            if !isComplete { return .init("refitted in part; \(reason): left as it is", .caution) }
            return isChanged ? .init("refitted", .good) : .init("was so already", .good)
        }
    }

    var isDryRun: Bool
    var recordings: [Recording] = []
    /// Left out, as a process records them right now.
    var beingRecorded: [Int64] = []

    func lines(style: TerminalStyle) -> [String] {
        var table = TextTable([
            .init(heading: "RECORDING", alignment: .right), .init(heading: "STREAM"),
            .init(heading: "EVIDENCE", alignment: .right, dispensability: 2),
            .init(heading: "MOVED AT MOST", alignment: .right),
            .init(heading: "MEAN", alignment: .right, dispensability: 1), .init(heading: "UNCERTAINTY", alignment: .right),
            .init(heading: "AFTER", alignment: .right), .init(heading: "CLOCK (PPM)", alignment: .right),
            .init(heading: "RESULT", wraps: true),
        ])
        for recording in recordings {
            for stream in recording.streams {
                let isFitted = stream.evidence > 0
                table.append([
                    .init(String(recording.recording)),
                    .init(StreamDescription.bankName(stream.stream, stream.bank)),
                    .init(Quantity.count(Int64(stream.evidence))),
                    .init(isFitted ? Self.text(stream.movedMaximumMs) : ""),
                    .init(isFitted ? Self.text(stream.movedMeanMs) : ""),
                    .init(stream.uncertaintyBeforeMaximumMs.map(Self.text) ?? ""),
                    .init(stream.uncertaintyAfterMaximumMs.map(Self.text) ?? ""),
                    .init(Self.clock(of: stream)), stream.result,
                ])
            }
        }
        let isEmpty = recordings.allSatisfy(\.streams.isEmpty)
        var lines = isEmpty ? ["No stream holds a sample yet."] : table.rendered(style: style)
        lines.append("")
        for recording in beingRecorded {
            lines.append(style.apply(.caution, to: "Recording \(recording) is being recorded right now: left as it is."))
        }
        let isChanged = recordings.contains { $0.streams.contains(where: \.isChanged) }
        lines.append(
            !isChanged
                ? "Nothing changes."
                : isDryRun
                    ? "Nothing was written: without --dry-run the times move so."
                    : style.apply(.good, to: "The times are written. What was before is in the table replaced_segment."))
        return lines
    }

    private static func text(_ milliseconds: Double) -> String {
        milliseconds < 1000 ? String(format: "%.2f ms", milliseconds) : Quantity.duration(seconds: milliseconds / 1000)
    }

    private static func clock(of stream: Stream) -> String {
        guard let clock = stream.clockPpm, let uncertainty = stream.clockUncertaintyPpm else { return "" }
        return uncertainty < 10_000 ? String(format: "%+.1f ± %.1f", clock, uncertainty) : "unknown"
    }
}
