import Bluetooth
package import Headsets

/// A recording as a reader sees it: everything but the sample rows.
package struct RecordingContents: Hashable, Sendable {
    package var id: RecordingID
    package var headsetName: String
    package var model: String
    package var serialNumber: String?
    package var label: String?
    package var subject: String?
    package var task: String?
    /// UTC nanoseconds since 1970 of the first sample; nil where there is none.
    package var startUnixNanoseconds: Int64?
    /// Streams by position and bank.
    package var streams: [StreamContents]
    /// By onset.
    package var annotations: [AnnotationContents]
    /// What it was made with, and what people say of it.
    package var provenance: Provenance

    package init(
        id: RecordingID, headsetName: String, model: String, serialNumber: String?, label: String?, subject: String?,
        task: String?, startUnixNanoseconds: Int64?, streams: [StreamContents], annotations: [AnnotationContents],
        provenance: Provenance = Provenance()
    ) {
        self.id = id
        self.headsetName = headsetName
        self.model = model
        self.serialNumber = serialNumber
        self.label = label
        self.subject = subject
        self.task = task
        self.startUnixNanoseconds = startUnixNanoseconds
        self.streams = streams
        self.annotations = annotations
        self.provenance = provenance
    }
}

/// One stream of a recording.
package struct StreamContents: Hashable, Sendable {
    package var id: StreamID
    package var position: Int
    package var description: StreamDescription
    /// The first n that a row or a gap covers; nil where the stream is empty.
    package var firstN: Int64?
    /// The last n that a row or a closed gap covers.
    package var lastN: Int64?
    package var rowCount: Int64
    /// Closed gaps of whole rows and of single channels, by first n.
    package var gaps: [GapContents]
    /// The time map, by first n, in UTC.
    package var segments: [TimeSegment]
    /// What shows that a sample is missing: a ``Headsets/LossDetection``.
    package var lossDetection: String
    /// Digests of the last block of each chain, in hexadecimal, by the chain's name; see the page Evidence.
    package var chainHeads: [String: String]
    /// The runs of the headset's counter, by first n.
    package var epochs: [EpochContents]

    package init(
        id: StreamID, position: Int, description: StreamDescription, firstN: Int64?, lastN: Int64?, rowCount: Int64,
        gaps: [GapContents], segments: [TimeSegment], lossDetection: String, chainHeads: [String: String],
        epochs: [EpochContents] = []
    ) {
        self.id = id
        self.position = position
        self.description = description
        self.firstN = firstN
        self.lastN = lastN
        self.rowCount = rowCount
        self.gaps = gaps
        self.segments = segments
        self.lossDetection = lossDetection
        self.chainHeads = chainHeads
        self.epochs = epochs
    }

    /// UTC nanoseconds since 1970 of sample n, by the segment that holds n or the nearest one; nil without segments.
    package func unixNanoseconds(ofSample n: Int64) -> Int64? {
        let segment = segments.last { $0.firstN <= n } ?? segments.first
        return segment?.unixNanoseconds(ofSample: n)
    }

    /// Within what the times of all samples of a range are right, in nanoseconds, but for the headset's constant delay; nil
    /// where that is not known of all of them.
    package func timeUncertaintyNanoseconds(in range: ClosedRange<Int64>) -> Double? {
        var worst: Double?
        for (index, segment) in segments.enumerated() {
            let end = segments.indices.contains(index + 1) ? segments[index + 1].firstN : .max
            // The first one also gives the times of what lies before it.
            guard range.upperBound >= (index == 0 ? .min : segment.firstN), range.lowerBound < end else { continue }
            guard let uncertainty = segment.uncertaintyNanoseconds else { return nil }
            worst = max(worst ?? 0, uncertainty)
        }
        return worst
    }
}

extension StreamContents {
    /// True where all of the samples were taken and never sent by the headset, so that no sample of the stream was lost.
    package func isUnsent(_ range: Range<Int64>) -> Bool {
        var (low, high) = (0, gaps.count)
        while low < high {
            let middle = (low + high) / 2
            if gaps[middle].firstN < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        let same = gaps[low...].prefix { $0.firstN == range.lowerBound }
        return same.contains { $0.channel == 0 && $0.cause == .notSent && $0.count >= range.upperBound - range.lowerBound }
    }
}

/// One piece of the time map, in UTC.
package struct TimeSegment: Hashable, Sendable {
    package var firstN: Int64
    package var lastN: Int64
    package var referenceN: Int64
    package var referenceUnixNanoseconds: Int64
    package var periodNanoseconds: Double
    /// The key of the host boot on whose clock it was measured: times of two boots are as far apart as their clocks say.
    package var hostBoot: Int64
    /// Within what its times are right, but for the headset's constant delay; nil where an earlier version did not say.
    package var uncertaintyNanoseconds: Double?

    package init(
        firstN: Int64, lastN: Int64, referenceN: Int64, referenceUnixNanoseconds: Int64, periodNanoseconds: Double,
        hostBoot: Int64 = 1, uncertaintyNanoseconds: Double? = nil
    ) {
        self.firstN = firstN
        self.lastN = lastN
        self.referenceN = referenceN
        self.referenceUnixNanoseconds = referenceUnixNanoseconds
        self.periodNanoseconds = periodNanoseconds
        self.hostBoot = hostBoot
        self.uncertaintyNanoseconds = uncertaintyNanoseconds
    }

    /// UTC nanoseconds since 1970 of sample n; the first or the last instant that 64 bits hold where it lies beyond them.
    package func unixNanoseconds(ofSample n: Int64) -> Int64 {
        let (distance, overflow) = n.subtractingReportingOverflow(referenceN)
        if distance == 0, !overflow { return referenceUnixNanoseconds }
        let elapsed = ((overflow ? Double(n) - Double(referenceN) : Double(distance)) * periodNanoseconds).rounded()
        guard abs(elapsed) < 0x1p62 else { return Int64(clamping: Double(referenceUnixNanoseconds) + elapsed) }
        return referenceUnixNanoseconds.addingClamped(Int64(elapsed))
    }
}

/// One run of the headset's counter; its samples have n = firstN + (index - firstIndex).
package struct EpochContents: Hashable, Sendable {
    package var firstN: Int64
    /// The index of the sample at ``firstN``, before the counter's modulus is taken.
    package var firstIndex: Int64

    package init(firstN: Int64, firstIndex: Int64) {
        self.firstN = firstN
        self.firstIndex = firstIndex
    }
}

/// One closed gap of the ledger.
package struct GapContents: Hashable, Sendable {
    package var firstN: Int64
    package var count: Int64
    /// 0 for whole rows, else 1 ... 8.
    package var channel: Int
    package var cause: GapCause
    /// How many of `count` arrived after all.
    package var recovered: Int64
    /// How the length is known: `counted`, `timed` or `unknown`.
    package var certainty: String
    /// Of a timed length: right within so many samples; nil where that was not said.
    package var uncertainty: Int64?
    /// How many samples are missing for good, also between two host boots, where ``count`` is 0; nil while that is not known.
    package var missing: Int64?

    package init(
        firstN: Int64, count: Int64, channel: Int, cause: GapCause, recovered: Int64, certainty: String, uncertainty: Int64?,
        missing: Int64?
    ) {
        self.firstN = firstN
        self.count = count
        self.channel = channel
        self.cause = cause
        self.recovered = recovered
        self.certainty = certainty
        self.uncertainty = uncertainty
        self.missing = missing
    }
}

/// One annotation in UTC.
package struct AnnotationContents: Hashable, Sendable {
    /// A year. Commands take no longer duration; other programs may have written any.
    package static let durationSecondsMaximum = 31_536_000.0

    package var onsetUnixNanoseconds: Int64
    /// 0 ... ``durationSecondsMaximum``; nil for an instant.
    package var durationSeconds: Double?
    package var description: String
    /// `operator`, `headset`, `eegsync` or `sql`.
    package var source: String
    /// The sample that the headset said it of; nil where it is said of an instant.
    package var sample: AnnotatedSample?
    /// The headset's own clock then, as sent.
    package var deviceTicks: Int64?
    /// The number of a trigger, as sent.
    package var code: Int64?

    package init(
        onsetUnixNanoseconds: Int64, durationSeconds: Double?, description: String, source: String = "operator",
        sample: AnnotatedSample? = nil, deviceTicks: Int64? = nil, code: Int64? = nil
    ) {
        self.onsetUnixNanoseconds = onsetUnixNanoseconds
        self.durationSeconds = durationSeconds.map(Self.capped)
        self.description = description
        self.source = source
        self.sample = sample
        self.deviceTicks = deviceTicks
        self.code = code
    }

    /// The nearest duration that is one; 0 for what is no number.
    package static func capped(durationSeconds: Double) -> Double {
        durationSeconds > 0 ? min(durationSeconds, durationSecondsMaximum) : 0
    }
}

/// Rows of one stream, in ascending order of n; n's without a row are simply not there.
package struct SampleChunk: Sendable {
    /// The n of each row.
    package var n: [Int64] = []
    /// Raw values, row after row, one for each channel; 0 where the channel is missing.
    package var values: [Int32] = []
    /// Per row a bit set of the channels that are NULL (bit 0 = channel 1).
    package var missingChannels: [UInt8] = []

    package init() {}
}
