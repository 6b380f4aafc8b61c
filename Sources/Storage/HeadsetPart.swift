/// What a batch says about one headset belongs to these keys.
public struct HeadsetPart: Hashable, Sendable {
    public var headset: HeadsetID
    public var recording: RecordingID
    /// Every stream of the recording that the batch may mention.
    public var streams: [StreamID]
    /// Those of ``streams`` that the headset goes on with.
    public var presentStreams: [StreamID]

    public init(headset: HeadsetID, recording: RecordingID, streams: [StreamID], presentStreams: [StreamID]) {
        self.headset = headset
        self.recording = recording
        self.streams = streams
        self.presentStreams = presentStreams
    }
}

/// A part of a batch that the database refused, and why.
public struct RefusedPart: Hashable, Sendable {
    public var part: HeadsetPart
    public var error: StorageError

    public init(part: HeadsetPart, error: StorageError) {
        self.part = part
        self.error = error
    }
}

extension WriteBatch {
    /// What the batch says about one headset.
    func records(of part: HeadsetPart) -> WriteBatch {
        filtered(
            stream: part.streams.contains, recording: { $0 == part.recording }, headset: { $0 == part.headset },
            isShared: false)
    }

    /// What the batch says about no headset of ``parts``: clocks, captures, measurements.
    func sharedRecords() -> WriteBatch {
        filtered(
            stream: { stream in !parts.contains { $0.streams.contains(stream) } },
            recording: { recording in !parts.contains { $0.recording == recording } },
            headset: { headset in !parts.contains { $0.headset == headset } }, isShared: true)
    }

    private func filtered(
        stream: (StreamID) -> Bool, recording: (RecordingID) -> Bool, headset: (HeadsetID) -> Bool, isShared: Bool
    ) -> WriteBatch {
        var batch = WriteBatch(number: number)
        batch.newStreams = newStreams.filter { stream($0.id) }
        batch.startedRecordings = startedRecordings.filter { recording($0.recording) }
        batch.stoppedRecordings = stoppedRecordings.filter { recording($0.recording) }
        batch.epochs = epochs.filter { stream($0.stream) }
        batch.samples = samples.filter { stream($0.stream) }
        batch.fills = fills.filter { stream($0.stream) }
        batch.ledger = ledger.filter { stream($0.stream) }
        batch.arrivals = arrivals.filter { stream($0.stream) }
        batch.lossDetections = lossDetections.filter { stream($0.stream) }
        batch.segments = segments.filter { stream($0.stream) }
        batch.annotations = annotations.filter { recording($0.recording) }
        batch.statusReports = statusReports.filter { headset($0.headset) }
        batch.connectionAttempts = connectionAttempts.filter { headset($0.headset) }
        batch.connectionEvents = connectionEvents.filter { headset($0.headset) }
        batch.identifierUses = identifierUses.filter { headset($0.headset) }
        batch.identityProofs = identityProofs.filter { headset($0.headset) }
        batch.clockObservations = clockObservations.filter { headset($0.headset) }
        batch.preservedStates = preservedStates.filter { headset($0.headset) }
        batch.signalChecks = signalChecks.filter { stream($0.stream) }
        batch.impedances = impedances.filter { recording($0.recording) }
        batch.quarantines = quarantines.filter { $0.streams.allSatisfy(stream) }
        if isShared {
            batch.clockOffsets = clockOffsets
            batch.captureChunks = captureChunks
            batch.completedCaptures = completedCaptures
            batch.completedMeasurements = completedMeasurements
        }
        return batch
    }
}

extension LedgerEntry {
    /// The stream whose ledger changes.
    public var stream: StreamID {
        switch self {
        case .open(let stream, _, _, _, _, _, _), .close(let stream, _, _, _, _), .recover(let stream, _, _, _),
            .withdraw(let stream, _, _):
            stream
        }
    }
}
