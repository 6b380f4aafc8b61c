package import Bluetooth
import Foundation
import GRDB

/// The impedance of one electrode at an instant, as the headset says it.
package struct ImpedanceRecord: Hashable, Sendable, Codable {
    package var recording: RecordingID
    package var at: MonotonicTime
    /// The channel's name, or another one of the headset's profile.
    package var electrode: String
    /// In kΩ.
    package var kilohms: Double

    /// Creates a record.
    package init(recording: RecordingID, at: MonotonicTime, electrode: String, kilohms: Double) {
        self.recording = recording
        self.at = at
        self.electrode = electrode
        self.kilohms = kilohms
    }
}

extension ImpedanceRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .recording(recording) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            "INSERT INTO impedance (recording_id, host_boot_id, boottime_ns, electrode, kilohms) VALUES (?, ?, ?, ?, ?)",
            [recording.rawValue, transaction.hostBoot, at.nanoseconds, electrode, kilohms])
    }
}

/// Some packets of a capture.
package struct CaptureChunk: Hashable, Sendable, Codable {
    package var capture: CaptureID
    package var packetCount: Int
    /// Whole records of a btsnoop file.
    package var records: [UInt8]

    /// Creates a chunk.
    package init(capture: CaptureID, packetCount: Int, records: [UInt8]) {
        self.capture = capture
        self.packetCount = packetCount
        self.records = records
    }
}

extension CaptureChunk: ChangeRecord {
    var subject: ChangeSubject { .host }

    /// A capture may have been removed meanwhile: that must cost nothing else.
    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO capture_chunk (capture_id, packet_count, records)
            SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM capture WHERE id = ?1)
            """, [capture.rawValue, packetCount, Data(records)])
    }
}

/// A person's timed request with which the acquisition has done.
package enum CompletedRequest: Hashable, Sendable, Codable {
    case capture(CaptureID)
    case measurement(ImpedanceMeasurementID)
}

extension CompletedRequest: ChangeRecord {
    var subject: ChangeSubject { .host }

    func write(in transaction: BatchTransaction) throws {
        let (table, request) =
            switch self {
            case .capture(let id): (CaptureID.table, id.rawValue)
            case .measurement(let id): (ImpedanceMeasurementID.table, id.rawValue)
            }
        try transaction.execute("UPDATE \(table) SET is_complete = 1 WHERE id = ?", [request])
    }
}
