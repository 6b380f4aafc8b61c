import Bluetooth

/// A segment of a time map with the host boot whose clock its times are on.
public struct StoredSegment: Hashable, Sendable {
    public var record: SegmentRecord
    /// The key of the host boot.
    public var hostBoot: Int64

    public init(_ record: SegmentRecord, hostBoot: Int64) {
        self.record = record
        self.hostBoot = hostBoot
    }
}

/// What a stream's time map can be computed anew from.
public struct StreamEvidence: Sendable {
    public var stream: StreamID
    /// The stream's name and bank.
    public var name: String
    public var bank: Int
    /// Nominal, in hertz.
    public var samplingFrequency: Double
    /// True where the headset counts its samples. Otherwise losses are told by time or by marks, and numbers may lag behind the
    /// clock for a while.
    public var isCounted: Bool
    /// The map as it is, ascending.
    public var segments: [StoredSegment]
    /// The evidence, ascending by n. Of a neighbour only its end that is nearer.
    public var arrivals: [ArrivalRecord]

    public init(
        stream: StreamID, name: String, bank: Int, samplingFrequency: Double, isCounted: Bool, segments: [StoredSegment],
        arrivals: [ArrivalRecord]
    ) {
        self.stream = stream
        self.name = name
        self.bank = bank
        self.samplingFrequency = samplingFrequency
        self.isCounted = isCounted
        self.segments = segments
        self.arrivals = arrivals
    }
}

/// A stream of another recording of the same headset, whose clock is likely to have run as fast.
public struct NeighbouringEvidence: Sendable {
    /// Of a neighbour so many arrivals are read: an hour tells its rate.
    static let limit = 3600
    /// Fewer arrivals do not tell a rate.
    static let minimum = 60

    public var evidence: StreamEvidence
    /// True where it was recorded before.
    public var isEarlier: Bool

    public init(evidence: StreamEvidence, isEarlier: Bool) {
        self.evidence = evidence
        self.isEarlier = isEarlier
    }
}

/// A stream's time map that takes the place of the one that is stored.
public struct SegmentReplacement: Sendable {
    public var stream: StreamID
    /// All segments as they were read, ascending.
    public var before: [StoredSegment]
    /// All segments as they shall be, ascending. They cover the same samples.
    public var after: [StoredSegment]
    /// How many arrivals the new map rests on.
    public var evidenceCount: Int
    /// By how much times move, forth or back, in nanoseconds.
    public var shiftMaximum: Double
    public var shiftMean: Double

    public init(
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
