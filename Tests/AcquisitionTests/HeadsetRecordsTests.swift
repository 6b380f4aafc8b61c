import Bluetooth
import Headsets
import Storage
import Testing

@testable import Acquisition

/// What one headset has to write besides its streams.
struct HeadsetRecordsTests {
    private static let headset = HeadsetID(rawValue: 1)

    /// One record of each kind that may come any number of times.
    private static func changes(at now: MonotonicTime) -> [Change] {
        let recording = RecordingID(rawValue: 1)
        return [
            .annotation(
                AnnotationRecord(recording: recording, onset: now, durationSeconds: nil, description: "", source: "headset")),
            .statusReport(StatusReportRecord(headset: headset, at: now, status: nil, outcome: "noAnswer")),
            .connectionAttempt(
                ConnectionAttemptRecord(
                    headset: headset, layer: "scan", identifier: nil, began: now, ended: now, outcome: "silent",
                    cause: nil, detail: nil)),
            .connectionEvent(ConnectionEventRecord(headset: headset, at: now, state: "searching", detail: nil)),
            .identifierUse(
                IdentifierUse(headset: headset, identifier: HeadsetScript.identifier, at: now, succeeded: false)),
            .clockObservation(
                ClockObservationRecord(headset: headset, bootIdentifier: nil, deviceTicks: 0, tickFrequency: 1, at: now)),
            .linkQuality(LinkQualityRecord(headset: headset, at: now, quality: LinkQuality(rssi: -60))),
            .impedance(ImpedanceRecord(recording: recording, at: now, electrode: "Fp1", kilohms: 5)),
        ]
    }

    @Test("Each kind keeps its latest records, no more than the limit, in the order in which they came")
    func bound() {
        var records = HeadsetRecords()
        let count = Change.repeatedMaximum + 100
        let all = (1...count).map { Self.changes(at: MonotonicTime(nanoseconds: Int64($0))) }
        for change in all.joined() { records.append(change) }
        #expect(records.take() == Array(all.suffix(Change.repeatedMaximum).joined()))
        #expect(records.take().isEmpty)
    }

    @Test("Of what replaces the one before only the latest waits; what a recording needs is never dropped")
    func latest() {
        var records = HeadsetRecords()
        let start = Change.recording(.started(RecordingID(rawValue: 1), at: .boot))
        records.append(start)
        for number in 1...3 {
            records.append(.preservedState(PreservedStateRecord(headset: Self.headset, json: "\(number)", at: .boot)))
            records.append(.identityProof(IdentityProofRecord(headset: Self.headset, proof: "\(number)")))
        }
        #expect(
            records.take() == [
                start, .preservedState(PreservedStateRecord(headset: Self.headset, json: "3", at: .boot)),
                .identityProof(IdentityProofRecord(headset: Self.headset, proof: "3")),
            ])
    }
}
