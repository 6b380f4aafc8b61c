import Headsets
import Storage

/// The events of one file: what is missing in it, and what people and the headset have marked (BIDS, Events).
struct BIDSEvents {
    /// One row. The onset and the duration are in microseconds from the first sample of the file.
    private struct Event {
        var onset: Int64
        var duration: Int64?
        var type: String
        var channels: [String] = []
        var value: Int64?
        var source: String
        var gap: GapContents?
    }

    private var events: [Event] = []
    private let timeline: FileTimeline

    static let gap = "gap"
    /// What fills the last data record of a file, where nothing was due any more, or the first of a stream that begins later.
    static let padding = "padding"

    /// - Parameter timeline: where the file's samples lie; its first stream's are those that the column `sample` counts.
    init(timeline: FileTimeline) { self.timeline = timeline }

    /// Adds what an EDF+ or BDF+ file says is missing.
    ///
    /// - Parameter channels: the names of the file's channels, in its order.
    mutating func addGaps(of file: EDFReader, channels: [String]) throws {
        let labels = file.header.signals.map(\.label)
        for annotation in try file.annotations() where annotation.text.hasPrefix(EDFAnnotation.skipText) {
            let label = annotation.text.dropFirst(EDFAnnotation.skipText.count + EDFAnnotation.channelSeparator.count)
            let channel = labels.firstIndex { $0 == label }
            let onset = annotation.onsetMicroseconds - timeline.startFractionMicroseconds
            let (track, number) = stream(ofChannel: channel ?? 0)
            let gap = track.flatMap {
                ledgered(in: $0, channel: channel == nil ? 0 : number, onset, annotation.durationMicroseconds)
            }
            // Missing rows of a further stream are marked channel by channel.
            if let channel, let last = events.last, last.onset == onset, last.duration == annotation.durationMicroseconds,
                !last.channels.isEmpty
            {
                events[events.count - 1].channels.append(channels[channel])
                continue
            }
            events.append(
                Event(
                    onset: onset, duration: annotation.durationMicroseconds, type: gap == nil ? Self.padding : Self.gap,
                    channels: channel.map { [channels[$0]] } ?? [], source: "eegsync", gap: gap))
        }
    }

    /// Adds runs of missing rows of the timeline's only stream, as positions of its grid.
    mutating func addGaps(_ runs: [ClosedRange<Int64>]) {
        guard let track = timeline.tracks.first else { return }
        for run in runs {
            let start = timeline.microseconds(ofIndex: run.lowerBound, in: track)
            let end = timeline.microseconds(ofIndex: run.upperBound + 1, in: track)
            let onset = start - timeline.startFractionMicroseconds
            events.append(
                Event(
                    onset: onset, duration: end - start, type: Self.gap, source: "eegsync",
                    gap: ledgered(in: track, channel: 0, onset, end - start)))
        }
    }

    /// Adds annotations of the recording.
    mutating func addMarks(_ annotations: [AnnotationContents]) {
        for annotation in annotations {
            events.append(
                Event(
                    onset: timeline.microseconds(of: annotation) - timeline.startFractionMicroseconds,
                    duration: annotation.durationMicroseconds,
                    type: annotation.description, value: annotation.code, source: annotation.source))
        }
    }

    /// The stream of a channel of the file, and the channel's number in it, from 1.
    private func stream(ofChannel channel: Int) -> (FileTimeline.Track?, Int) {
        var left = channel
        for track in timeline.tracks {
            let count = track.stream.description.channels.count
            if left < count { return (track, left + 1) }
            left -= count
        }
        return (nil, 0)
    }

    /// The ledger's gap at an onset: of the channel, or of whole rows.
    private func ledgered(in track: FileTimeline.Track, channel: Int, _ onset: Int64, _ duration: Int64?) -> GapContents? {
        let period = Double(timeline.recordDurationMicroseconds) / Double(track.samplesPerRecord)
        let first = Int64((Double(onset) / period).rounded()) - track.firstIndex + track.range.lowerBound
        let count = max(1, Int64((Double(duration ?? 0) / period).rounded()))
        func holds(_ gap: GapContents) -> Bool {
            gap.firstN < first + count && gap.firstN + gap.count > first && gap.cause != .notSent
        }
        return track.stream.gaps.first { $0.channel == channel && holds($0) }
            ?? track.stream.gaps.first { $0.channel == 0 && holds($0) }
    }

    /// `_events.tsv`.
    var table: BIDSTable {
        var table = BIDSTable(columns: [
            "onset", "duration", "trial_type", "value", "sample", "channel", "source", "cause", "certainty", "uncertainty",
        ])
        let ordered = events.enumerated().sorted { ($0.element.onset, $0.offset) < ($1.element.onset, $1.offset) }
        for (_, event) in ordered {
            table.append([
                ("onset", BIDSNumber.seconds(microseconds: event.onset)),
                ("duration", event.duration.map { BIDSNumber.seconds(microseconds: $0) }),
                ("trial_type", event.type), ("value", event.value.map { String($0) }),
                ("sample", String(sample(at: event.onset))),
                ("channel", event.channels.isEmpty ? nil : event.channels.joined(separator: ",")),
                ("source", event.source), ("cause", event.gap?.cause.rawValue), ("certainty", event.gap?.certainty),
                ("uncertainty", event.gap?.uncertainty.map { String($0) }),
            ])
        }
        return table
    }

    /// The index, from 0, of the sample of the first stream that is nearest to an onset.
    private func sample(at onset: Int64) -> Int64 {
        guard let track = timeline.tracks.first else { return 0 }
        return Int64((Double(onset) * Double(track.samplesPerRecord) / Double(timeline.recordDurationMicroseconds)).rounded())
    }

    /// `_events.json`.
    ///
    /// - Parameter recording: where a person may have said how stimuli were presented.
    static func document(_ recording: BIDSRecording) -> BIDSValue {
        var fields: [String: BIDSValue] = [
            "onset": .column("Onset of the event from the first sample of the file, on the file's samples", units: "s"),
            "duration": .column("Duration of the event; n/a for an instant", units: "s"),
            // Levels would have to name every text that anybody has marked.
            "trial_type": .column(
                "What was marked, as the operator, the headset or a program wrote it. gap: samples are missing here, and "
                    + "the file holds the last value (n/a in a table). padding: no sample was due here; the file's last data "
                    + "record is filled up, or a further stream begins later"),
            "value": .column("The number of a trigger, as the headset sent it"),
            "sample": .column("Index, from 0, of the sample of the file at the onset"),
            "channel": .column(
                "The channels that are meant; n/a where all are", further: ["Delimiter": ","]),
            "source": .column(
                "Who has said it",
                levels: [
                    "operator": "a person", "headset": "the headset", "eegsync": "the acquisition",
                    "sql": "a program that wrote into the database",
                ]),
            "cause": .column("Why samples are missing, in the words of eegsync's gap ledger"),
            "certainty": .column(
                "How the length of a gap is known",
                levels: [
                    "counted": "the headset has counted the missing samples", "timed": "clocks show how many are missing",
                    "unknown": "nobody knows how many are missing",
                ]),
            "uncertainty": .column("Within how many samples the length of a timed gap is right"),
        ]
        if let software = recording.contents.provenance.properties["StimulusPresentation"] {
            fields["StimulusPresentation"] = .object(["SoftwareName": .text(software)])
        }
        return .object(fields)
    }
}
