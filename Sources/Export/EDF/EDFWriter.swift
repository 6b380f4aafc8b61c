import Bluetooth
import FoundationEssentials
import Headsets
import Storage

/// Writes one EDF+ or BDF+ file.
struct EDFWriter {
    /// What is written, where to, and how.
    struct Plan {
        var contents: RecordingContents
        var variant: EDFVariant
        var isContinuous: Bool
        var timeline: FileTimeline
        /// For each track and channel.
        var mappings: [[EDFDigitalMapping]]
        /// Annotations of the recording that belong into this file.
        var annotations: [AnnotationContents]
        /// The time zone that the header's start is of; nil for UTC.
        var startZone: TimeZone?

        /// Lets the header say the start in the time of a zone.
        mutating func write(startIn zone: TimeZone) {
            startZone = zone
            timeline.utcOffsetSeconds = zone.secondsFromGMT(
                for: Date(timeIntervalSince1970: Double(timeline.startSeconds)))
        }
    }

    /// What was written, for the check and the report.
    struct Written {
        var header: EDFHeader
        var digest: SampleDigest
        /// Rows of each track.
        var rowCounts: [Int64]
        var clippedCount: Int64
    }

    /// Thrown where the annotations need more room in each record.
    private struct AnnotationsDoNotFit: Error {
        var leftBytes: Int
    }

    /// About how much memory the data records of a block take.
    private static let blockByteCount = 1 << 19
    /// The least room for annotations in a record, in bytes: time keeping and two gaps.
    private static let smallestAnnotationRoom = 120
    /// The longest time-keeping list: sign, 12 digits of seconds, point, six digits, three bytes of end.
    private static let timeKeepingByteCount = 23

    let plan: Plan
    let reader: RecordingReader
    /// Where the rows of each track are.
    let rows: [RowSource]

    private let labels: [[String]]
    private var annotationRoom: Int
    private let texts: [EDFAnnotation]

    init(plan: Plan, reader: RecordingReader, rows: [RowSource]) {
        self.plan = plan
        self.reader = reader
        self.rows = rows
        let channels = plan.timeline.tracks.map(\.stream.description.channels)
        var unique = EDFSignal.unique(channels.joined().map(EDFSignal.label))[...]
        let labels = channels.map { group in
            defer { unique = unique.dropFirst(group.count) }
            return Array(unique.prefix(group.count))
        }
        self.labels = labels
        let recorded = plan.annotations.flatMap { annotation in
            EDFAnnotation.annotations(
                onset: plan.timeline.microseconds(of: annotation),
                duration: annotation.durationMicroseconds, text: annotation.description)
        }
        let lengths = plan.timeline.tracks.enumerated().flatMap { index, track in
            EDFAnnotation.lengths(
                of: track, in: plan.timeline, labels: index == 0 ? [] : labels[index])
        }
        let times = EDFAnnotation.times(of: plan.timeline, zone: plan.startZone)
        texts = (times + recorded + lengths).sorted { $0.onsetMicroseconds < $1.onsetMicroseconds }
        annotationRoom = 0
        annotationRoom = estimatedAnnotationRoom
    }

    /// How long the file will be, where no annotation needs more room and no record is left out.
    var byteCount: Int64 {
        get throws {
            let header = try header()
            return Int64(clamping: Double(header.recordCount) * Double(header.recordByteCount) + Double(header.bytes.count))
        }
    }

    /// Writes the whole file, again with more room where the annotations did not fit.
    mutating func write(to file: PartialFile, progress: (Double) -> Void) throws -> Written {
        while true {
            do {
                return try writeOnce(to: file, progress: progress)
            } catch let error as AnnotationsDoNotFit {
                try file.restart()
                annotationRoom = max(annotationRoom * 2, min(annotationRoom + error.leftBytes, annotationRoom * 16))
            }
        }
    }

    /// The header; its number of data records is that of the timeline.
    func header() throws -> EDFHeader {
        let timeline = plan.timeline
        var signals: [EDFSignal] = []
        for (index, track) in timeline.tracks.enumerated() {
            for (channel, description) in track.stream.description.channels.enumerated() {
                var signal = try EDFSignal(
                    channel: description, mapping: plan.mappings[index][channel], samplesPerRecord: track.samplesPerRecord)
                signal.label = labels[index][channel]
                if description.type == "EEG" { signal.describe(plan.contents.provenance.latest) }
                signals.append(signal)
            }
        }
        let width = plan.variant.bytesPerSample
        signals.append(EDFSignal(annotationsOf: plan.variant, samplesPerRecord: (annotationRoom + width - 1) / width))
        let start = EDFHeader.start(unixSeconds: timeline.startSeconds + Int64(timeline.utcOffsetSeconds))
        return EDFHeader(
            variant: plan.variant, isContinuous: plan.isContinuous, patient: EDFHeader.patient(plan.contents),
            recording: EDFHeader.recording(
                plan.contents, startdate: start.startdate, uncertaintySeconds: timeline.timeUncertaintySeconds),
            startDate: start.date, startTime: start.time, recordCount: timeline.recordCount,
            recordDurationMicroseconds: timeline.recordDurationMicroseconds, signals: signals)
    }

    private func writeOnce(to file: PartialFile, progress: (Double) -> Void) throws -> Written {
        var header = try header()
        try file.write(header.bytes)
        let tracks = try trackWriters(header)
        let recordByteCount = header.recordByteCount
        let blockRecords = max(1, min(256, Self.blockByteCount / recordByteCount))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: blockRecords * recordByteCount, alignment: 16)
        let digests = UnsafeMutablePointer<UInt64>.allocate(capacity: blockRecords * header.signals.count)
        let holdsRows = UnsafeMutablePointer<Bool>.allocate(capacity: blockRecords)
        defer {
            buffer.deallocate()
            digests.deallocate()
            holdsRows.deallocate()
        }
        // The buffer holds at least one record of at least 120 bytes.
        guard let base = buffer.baseAddress else { preconditionFailure("An allocation of more than 0 bytes has an address.") }
        var queue = EDFAnnotationQueue(texts: texts, room: header.signals.last?.samplesPerRecord ?? 0, variant: plan.variant)
        var digest = SampleDigest()
        var writtenCount: Int64 = 0
        let total = plan.timeline.recordCount
        for first in stride(from: 0, to: total, by: blockRecords) {
            let count = Int(min(Int64(blockRecords), total - first))
            digests.update(repeating: 0, count: count * header.signals.count)
            holdsRows.update(repeating: false, count: count)
            let block = EDFTrackWriter.Block(
                base: base, firstRecord: first, recordCount: count, recordByteCount: recordByteCount, digests: digests,
                signalCount: header.signals.count, holdsRows: holdsRows)
            for (track, rows) in zip(tracks, rows) { try track.fill(block, from: rows) }
            let isLast = first + Int64(count) == total
            if isLast { tracks.forEach { $0.finish() } }
            queue.add(Self.marked(tracks.map { $0.takeAnnotations() }))
            for record in 0..<count where plan.isContinuous || holdsRows[record] {
                let onset =
                    plan.timeline.startFractionMicroseconds + (first + Int64(record)) * header.recordDurationMicroseconds
                let memory = UnsafeMutableRawBufferPointer(
                    rebasing: buffer[(record * recordByteCount)..<((record + 1) * recordByteCount)])
                digest.add(EDFAnnotation(onsetMicroseconds: onset, durationMicroseconds: nil, text: ""))
                let isFinal = isLast && record == count - 1
                queue.insert(
                    into: memory, at: onset, before: isFinal ? .max : onset + header.recordDurationMicroseconds, digest: &digest
                )
                for signal in 0..<(header.signals.count - 1) { digest.add(digests[record * header.signals.count + signal]) }
                try file.write(UnsafeRawBufferPointer(memory))
                writtenCount += 1
            }
            progress(Double(first + Int64(count)) / Double(total))
        }
        guard queue.isEmpty else { throw AnnotationsDoNotFit(leftBytes: queue.byteCount) }
        if writtenCount != header.recordCount {
            header.recordCount = writtenCount
            try file.overwrite(EDFField.bytes(String(writtenCount), width: 8), at: Int64(EDFHeader.recordCountOffset))
        }
        return Written(
            header: header, digest: digest, rowCounts: tracks.map(\.rowCount),
            clippedCount: tracks.reduce(0) { $0 + $1.clippedCount })
    }

    /// One writer for each track. Missing rows of the first stream are marked for all signals, of the others for theirs alone.
    private func trackWriters(_ header: EDFHeader) throws -> [EDFTrackWriter] {
        var writers: [EDFTrackWriter] = []
        var (signal, offset) = (0, 0)
        for (index, track) in plan.timeline.tracks.enumerated() {
            let channelTexts = labels[index].map { EDFAnnotation.skipText + EDFAnnotation.channelSeparator + $0 }
            writers.append(
                EDFTrackWriter(
                    timeline: plan.timeline, track: track, variant: plan.variant, firstSignal: signal, firstOffset: offset,
                    mappings: plan.mappings[index], rowTexts: index == 0 ? [EDFAnnotation.skipText] : channelTexts,
                    channelTexts: channelTexts,
                    firstValues: try rows[index].firstValues(of: track.stream, in: track.range, from: reader)))
            signal += labels[index].count
            offset += labels[index].count * track.samplesPerRecord * plan.variant.bytesPerSample
        }
        return writers
    }

    /// The annotations of all tracks, without those of other streams that lie within one of the first, which is for all
    /// signals: MNE takes two of one onset and duration for one, and would leave only the channels of the second out.
    private static func marked(_ taken: [[EDFAnnotation]]) -> [EDFAnnotation] {
        guard let first = taken.first else { return [] }
        let whole = first.filter { $0.text == EDFAnnotation.skipText }
        let others = taken.dropFirst().joined().filter { other in
            // They ascend and do not overlap: only the last that begins before it can hold it.
            var (low, high) = (0, whole.count)
            while low < high {
                let middle = (low + high) / 2
                if whole[middle].onsetMicroseconds <= other.onsetMicroseconds { low = middle + 1 } else { high = middle }
            }
            return low == 0 || whole[low - 1].endMicroseconds < other.endMicroseconds
        }
        return first + others
    }

    /// Bytes for annotations in each record: room for the longest one, and twice what texts and ledgered gaps need if they were
    /// spread evenly. Where that is too little, the file is written again.
    private var estimatedAnnotationRoom: Int {
        let gapByteCount = 64
        let gaps = plan.timeline.tracks.reduce(0) { sum, track in
            let open = track.stream.gaps.filter { $0.count > $0.recovered && $0.cause != .notSent }
            return open.reduce(sum) { $0 + Int(1 + min($1.recovered, 16)) }
        }
        let total = texts.reduce(gaps * gapByteCount) { $0 + $1.bytes.count }
        let longest = texts.map(\.bytes.count).max() ?? 0
        let spread = 2 * total / Int(max(1, plan.timeline.recordCount))
        return max(Self.smallestAnnotationRoom, Self.timeKeepingByteCount + max(longest, spread))
    }
}
