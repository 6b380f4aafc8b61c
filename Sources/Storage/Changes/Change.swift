/// One change of the database by the acquisition; the cases carry the records, by domain one file each.
///
/// A further kind of record is a type that says whom it concerns and how it is written, beside the others of its domain, and
/// here a case and a line.
package enum Change: Hashable, Sendable, Codable {
    /// A stream that nothing before mentions.
    case stream(NewStream)
    case recording(RecordingChange)
    case annotation(AnnotationRecord)
    /// Channels of rows stored earlier that arrived late.
    case fill(ChannelFill)
    case ledger(LedgerEntry)
    case quarantine(QuarantineRecord)
    /// Inserted, or updated by (stream, number).
    case epoch(EpochRecord)
    /// Inserted, or updated by (stream, first n).
    case segment(SegmentRecord)
    case arrival(ArrivalRecord)
    case lossDetection(LossDetectionRecord)
    case clockOffset(ClockOffsetRecord)
    case clockObservation(ClockObservationRecord)
    /// Inserted, or counted on the row of an earlier one.
    case connectionAttempt(ConnectionAttemptRecord)
    /// Inserted, or counted on the row of an earlier one.
    case connectionEvent(ConnectionEventRecord)
    case streamingReturn(StreamingReturnRecord)
    case linkQuality(LinkQualityRecord)
    /// Replaced by headset.
    case preservedState(PreservedStateRecord)
    case identifierUse(IdentifierUse)
    case candidate(CandidateRecord)
    case adoption(AdoptionRecord)
    /// Stored once.
    case identityProof(IdentityProofRecord)
    case statusReport(StatusReportRecord)
    case signalCheck(SignalCheckRecord)
    case impedance(ImpedanceRecord)
    case capture(CaptureChunk)
    /// A person's timed request that has ended.
    case completed(CompletedRequest)
    case process(ProcessChange)
    case suspension(SuspensionRecord)
    case fullDisk(FullDiskRecord)
    /// Inserted, or updated by (headset, begin).
    case link(LinkRecord)
    /// Inserted, or counted on the row of an earlier one.
    case headsetMessage(HeadsetMessageRecord)

    /// The record.
    var record: any ChangeRecord {
        switch self {
        case .stream(let record): record
        case .recording(let record): record
        case .annotation(let record): record
        case .fill(let record): record
        case .ledger(let record): record
        case .quarantine(let record): record
        case .epoch(let record): record
        case .segment(let record): record
        case .arrival(let record): record
        case .lossDetection(let record): record
        case .clockOffset(let record): record
        case .clockObservation(let record): record
        case .connectionAttempt(let record): record
        case .connectionEvent(let record): record
        case .streamingReturn(let record): record
        case .linkQuality(let record): record
        case .preservedState(let record): record
        case .identifierUse(let record): record
        case .candidate(let record): record
        case .adoption(let record): record
        case .identityProof(let record): record
        case .statusReport(let record): record
        case .signalCheck(let record): record
        case .impedance(let record): record
        case .capture(let record): record
        case .completed(let record): record
        case .process(let record): record
        case .suspension(let record): record
        case .fullDisk(let record): record
        case .link(let record): record
        case .headsetMessage(let record): record
        }
    }
}

extension Change {
    /// What kind of record it carries: one for each type.
    package var kind: ObjectIdentifier { ObjectIdentifier(type(of: record)) }

    /// How many of its kind may wait for the database, which may be full for days, with one headset; the oldest go first: they
    /// say least about how it stands. Nil where a headset can begin only so many.
    package var waitingMaximum: Int? { type(of: record).waitingMaximum }

    /// The bound for kinds of which there may be any number.
    package static let repeatedMaximum = 4096
}

/// What a change carries.
protocol ChangeRecord {
    /// How many may wait; see ``Change/waitingMaximum``.
    static var waitingMaximum: Int? { get }

    /// Whom it concerns.
    var subject: ChangeSubject { get }

    /// Writes it, on any error nothing that would be committed.
    func write(in transaction: BatchTransaction) throws
}

extension ChangeRecord {
    static var waitingMaximum: Int? { nil }
}

/// Whom a change concerns.
enum ChangeSubject: Hashable {
    case stream(StreamID)
    case recording(RecordingID)
    case headset(HeadsetID)
    /// No headset alone.
    case host
}
