import Bluetooth

/// A segment of a time map with the host boot whose clock its times are on.
package struct StoredSegment: Hashable, Sendable {
    package var record: SegmentRecord
    /// The key of the host boot.
    package var hostBoot: Int64

    package init(_ record: SegmentRecord, hostBoot: Int64) {
        self.record = record
        self.hostBoot = hostBoot
    }
}

/// What a stream's time map can be computed anew from.
package struct StreamEvidence: Sendable {
    package var stream: StreamID
    /// The stream's name and bank.
    package var name: String
    package var bank: Int
    /// Nominal, in hertz.
    package var samplingFrequency: Double
    /// True where the headset counts its samples. Otherwise losses are found by time or marks, and numbers may lag behind the
    /// clock for a while.
    package var isCounted: Bool
    /// The map as it is, ascending.
    package var segments: [StoredSegment]
    /// The evidence, ascending by n. Of a neighbour only its end that is nearer.
    package var arrivals: [ArrivalRecord]
    /// The first n of each gap of no count, ascending: n did not count the time before it, as the headset paused, or the host's
    /// boot is another one.
    package var gapsOfNoCount: [Int64]

    package init(
        stream: StreamID, name: String, bank: Int, samplingFrequency: Double, isCounted: Bool, segments: [StoredSegment],
        arrivals: [ArrivalRecord], gapsOfNoCount: [Int64]
    ) {
        self.stream = stream
        self.name = name
        self.bank = bank
        self.samplingFrequency = samplingFrequency
        self.isCounted = isCounted
        self.segments = segments
        self.arrivals = arrivals
        self.gapsOfNoCount = gapsOfNoCount
    }
}

/// A stream of another recording of the same headset, whose clock is likely to have run as fast.
package struct NeighbouringEvidence: Sendable {
    /// Of a neighbour so many arrivals are read: an hour gives its rate.
    static let limit = 3600
    /// Fewer arrivals do not give a rate.
    static let minimum = 60

    package var evidence: StreamEvidence
    /// True where it was recorded before.
    package var isEarlier: Bool

    package init(evidence: StreamEvidence, isEarlier: Bool) {
        self.evidence = evidence
        self.isEarlier = isEarlier
    }
}

/// A stream's time map that replaces the one that is stored.
package struct SegmentReplacement: Sendable {
    package var stream: StreamID
    /// All segments as they were read, ascending.
    package var before: [StoredSegment]
    /// All segments as they shall be, ascending. They cover the same samples.
    package var after: [StoredSegment]
    /// How many arrivals the new map rests on.
    package var evidenceCount: Int
    /// By how much times move, forth or back, in nanoseconds.
    package var shiftMaximum: Double
    package var shiftMean: Double

    package init(
        stream: StreamID, before: [StoredSegment], after: [StoredSegment], evidenceCount: Int, shiftMaximum: Double,
        shiftMean: Double
    ) {
        self.stream = stream
        self.before = before
        self.after = after
        self.evidenceCount = evidenceCount
        self.shiftMaximum = shiftMaximum
        self.shiftMean = shiftMean
    }
}
