import Storage

/// What one headset has to write besides its streams.
struct HeadsetRecords {
    var newStreams: [NewStream] = []
    var annotations: [AnnotationRecord] = []
    var statusReports: [StatusReportRecord] = []
    var connectionAttempts: [ConnectionAttemptRecord] = []
    var connectionEvents: [ConnectionEventRecord] = []
    var identifierUses: [IdentifierUse] = []
    var clockObservations: [ClockObservationRecord] = []
    var impedances: [ImpedanceRecord] = []
    var preservedState: PreservedStateRecord?
    var identityProof: String?
    var started: RecordingChange?
    var stopped: RecordingChange?
    var quarantine: QuarantineRecord?

    /// The most records of a kind that wait for the database; a full disk may last for days. The oldest go first: they tell
    /// least about how it stands.
    static let limit = 4096

    /// Keeps within the limit.
    mutating func bound() {
        Self.bound(&annotations)
        Self.bound(&statusReports)
        Self.bound(&connectionAttempts)
        Self.bound(&connectionEvents)
        Self.bound(&identifierUses)
        Self.bound(&clockObservations)
        Self.bound(&impedances)
    }

    private static func bound<Record>(_ records: inout [Record]) {
        if records.count > limit { records.removeFirst(records.count - limit) }
    }

    /// Moves everything into a batch.
    mutating func move(into batch: inout WriteBatch, headset: HeadsetID) {
        batch.newStreams += newStreams
        batch.annotations += annotations
        batch.statusReports += statusReports
        batch.connectionAttempts += connectionAttempts
        batch.connectionEvents += connectionEvents
        batch.identifierUses += identifierUses
        batch.clockObservations += clockObservations
        batch.impedances += impedances
        if let preservedState { batch.preservedStates.append(preservedState) }
        if let identityProof { batch.identityProofs.append(IdentityProofRecord(headset: headset, proof: identityProof)) }
        if let started { batch.startedRecordings.append(started) }
        if let quarantine { batch.quarantines.append(quarantine) }
        if let stopped { batch.stoppedRecordings.append(stopped) }
        self = HeadsetRecords()
    }
}
