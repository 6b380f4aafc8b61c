import Bluetooth
import Headsets
import Storage
import Testing

@testable import Acquisition

/// What one headset has to write besides its streams.
struct HeadsetRecordsTests {
    private static let headset = HeadsetID(rawValue: 1)

    private static func record(_ number: Int64, in records: inout HeadsetRecords) {
        let now = MonotonicTime(nanoseconds: number)
        records.annotations.append(
            AnnotationRecord(
                recording: RecordingID(rawValue: 1), onset: now, durationSeconds: nil, description: "", source: "headset"))
        records.statusReports.append(StatusReportRecord(headset: headset, at: now, status: nil, outcome: "noAnswer"))
        records.connectionAttempts.append(
            ConnectionAttemptRecord(
                headset: headset, layer: "scan", identifier: nil, began: now, ended: now, outcome: "silent", detail: nil))
        records.connectionEvents.append(
            ConnectionEventRecord(headset: headset, at: now, state: "searching", detail: nil))
        records.identifierUses.append(
            IdentifierUse(
                headset: headset, identifier: HeadsetScript.identifier, at: now, succeeded: false))
        records.clockObservations.append(
            ClockObservationRecord(
                headset: headset, bootIdentifier: nil, deviceTicks: 0, tickFrequency: 1, at: now))
    }

    @Test("Each kind keeps its latest records and no more than the limit")
    func bound() {
        var records = HeadsetRecords()
        let count = Int64(HeadsetRecords.limit) + 1000
        for number in 1...count {
            Self.record(number, in: &records)
            // Several may have come since the last look.
            if number % 3 == 0 { records.bound() }
        }
        records.bound()
        var batch = WriteBatch(number: 1)
        records.move(into: &batch, headset: Self.headset)
        let kinds = [
            batch.annotations.map(\.onset), batch.statusReports.map(\.at), batch.connectionAttempts.map(\.ended),
            batch.connectionEvents.map(\.at), batch.identifierUses.map(\.at), batch.clockObservations.map(\.at),
        ]
        for times in kinds { #expect(times == (1001...count).map { MonotonicTime(nanoseconds: $0) }) }
    }
}
