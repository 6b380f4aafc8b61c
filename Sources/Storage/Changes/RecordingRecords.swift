package import Bluetooth
import Evidence
import GRDB
package import Headsets

/// A stream that is to be created.
package struct NewStream: Hashable, Sendable, Codable {
    package var id: StreamID
    package var recording: RecordingID
    /// The stream's position in the headset's list of streams.
    package var position: Int
    package var description: StreamDescription

    package init(id: StreamID, recording: RecordingID, position: Int, description: StreamDescription) {
        self.id = id
        self.recording = recording
        self.position = position
        self.description = description
    }
}

extension NewStream: ChangeRecord {
    var subject: ChangeSubject { .stream(id) }

    func write(in transaction: BatchTransaction) throws {
        let view = try StreamView.name(
            for: description.name, recording: recording, position: position, in: transaction.db)
        let identity = try EvidenceBeginning.newIdentity(
            ofStream: id.rawValue, recording: recording.rawValue, in: transaction.db)
        try transaction.execute(
            """
            INSERT INTO stream (id, recording_id, position, name, bank, sampling_frequency, samples_per_count,
                counter_modulus, channel_count, view_name, uuid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                id.rawValue, recording.rawValue, position, description.name, description.bank,
                description.samplingFrequency, description.samplesPerCount, description.counterModulus,
                description.channels.count, view, identity.uuid,
            ])
        for (index, channel) in description.channels.enumerated() {
            try transaction.execute(
                """
                INSERT INTO channel (stream_id, number, name, type, unit, scale, "offset", raw_minimum, raw_maximum)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    id.rawValue, index + 1, channel.name, channel.type, channel.unit, channel.scale, channel.offset,
                    channel.rawMinimum, channel.rawMaximum,
                ])
        }
        try StreamView.create(view, recording: recording, in: transaction.db)
    }
}

/// The beginning or the end of a recording. Of several the first one stays.
package enum RecordingChange: Hashable, Sendable, Codable {
    /// Its first sample came.
    case started(RecordingID, at: MonotonicTime)
    /// It has ended as the operator wished.
    case stopped(RecordingID, at: MonotonicTime)
}

extension RecordingChange: ChangeRecord {
    var subject: ChangeSubject {
        switch self {
        case .started(let recording, _), .stopped(let recording, _): .recording(recording)
        }
    }

    func write(in transaction: BatchTransaction) throws {
        let (word, recording, time) =
            switch self {
            case .started(let recording, let time): ("started", recording, time)
            case .stopped(let recording, let time): ("stopped", recording, time)
            }
        try transaction.execute(
            """
            UPDATE recording SET \(word)_host_boot_id = ?, \(word)_boottime_ns = ?
            WHERE id = ? AND \(word)_host_boot_id IS NULL
            """,
            [transaction.hostBoot, time.nanoseconds, recording.rawValue])
    }
}
