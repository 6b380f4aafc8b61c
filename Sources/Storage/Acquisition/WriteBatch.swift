/// Everything that one transaction writes. A batch is committed whole or not at all, so the audit holds after every commit.
///
/// Instants are on the host's `CLOCK_BOOTTIME` of the boot that the store was opened in.
package struct WriteBatch: Hashable, Sendable {
    /// The batch's number, counted by the acquisition; comes back with the commit.
    package var number: UInt64
    /// The headsets that the batch is about, so that one whose part is refused can be distinguished from the others.
    package var parts: [HeadsetPart] = []
    /// New sample rows: nearly all that there is to write, and written without a detour.
    package var samples: [SampleRows] = []
    /// Everything else, in the order in which it happened.
    package var changes: [Change] = []
    /// True for what a process writes last: what the ``DiskReserve`` keeps free is there for such.
    package var usesReserve = false

    /// Creates an empty batch.
    package init(number: UInt64) {
        self.number = number
    }

    /// The number of sample rows.
    package var rowCount: Int { samples.reduce(0) { $0 + $1.rowCount } }

    /// Adds a later batch, whose number it takes.
    package mutating func append(_ later: WriteBatch) {
        number = later.number
        for part in later.parts {
            if let index = parts.firstIndex(where: part.isOfSameHeadset(as:)) {
                parts[index].streams += part.streams.filter { !parts[index].streams.contains($0) }
                parts[index].presentStreams = part.presentStreams
            } else {
                parts.append(part)
            }
        }
        samples += later.samples
        changes += later.changes
    }

    /// True where there is nothing to write.
    package var isEmpty: Bool { samples.isEmpty && changes.isEmpty }
}

/// What a batch says about one headset belongs to these keys.
package struct HeadsetPart: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var recording: RecordingID
    /// Every stream of the recording that the batch may mention.
    package var streams: [StreamID]
    /// Those of ``streams`` that the headset goes on with.
    package var presentStreams: [StreamID]

    package init(headset: HeadsetID, recording: RecordingID, streams: [StreamID], presentStreams: [StreamID]) {
        self.headset = headset
        self.recording = recording
        self.streams = streams
        self.presentStreams = presentStreams
    }

    /// True where both are about one headset in one recording, in whatever streams.
    func isOfSameHeadset(as other: HeadsetPart) -> Bool { headset == other.headset && recording == other.recording }

    /// True where a change concerns this headset.
    func contains(_ subject: ChangeSubject) -> Bool {
        switch subject {
        case .stream(let stream): streams.contains(stream)
        case .recording(let recording): recording == self.recording
        case .headset(let headset): headset == self.headset
        case .host: false
        }
    }
}

/// A part of a batch that the database refused, and why.
package struct RefusedPart: Hashable, Sendable {
    package var part: HeadsetPart
    package var error: StorageError

    package init(part: HeadsetPart, error: StorageError) {
        self.part = part
        self.error = error
    }
}

extension WriteBatch {
    /// What the batch says about one headset.
    func records(of part: HeadsetPart) -> WriteBatch { filtered(part.contains) }

    /// What the batch says about no headset of ``parts``: clocks, captures, measurements.
    func sharedRecords() -> WriteBatch {
        filtered { subject in !parts.contains { $0.contains(subject) } }
    }

    /// Takes out what the batch says about the headset of a part.
    package mutating func remove(_ part: HeadsetPart) {
        let removed = [part] + parts.filter(part.isOfSameHeadset(as:))
        let rest = filtered { subject in !removed.contains { $0.contains(subject) } }
        (samples, changes) = (rest.samples, rest.changes)
        parts.removeAll(where: part.isOfSameHeadset(as:))
    }

    private func filtered(_ isIncluded: (ChangeSubject) -> Bool) -> WriteBatch {
        var batch = WriteBatch(number: number)
        batch.samples = samples.filter { isIncluded(.stream($0.stream)) }
        batch.changes = changes.filter { isIncluded($0.record.subject) }
        return batch
    }
}
