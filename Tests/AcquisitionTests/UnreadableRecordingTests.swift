import Bluetooth
import Headsets
import Testing

@testable import Acquisition
@testable import Storage

/// A recording that is wanted, and of which the database does not say where it stands.
struct UnreadableRecordingTests {
    /// Runs an engine for a while, with a database that knows the wishes and no recording, and gives what it reported.
    private static func reports(_ engine: AcquisitionEngine, _ recordings: [OpenRecording], from begin: inout MonotonicTime)
        -> [StorageError]
    {
        var reports: [StorageError] = []
        let contents = OperatorWishes.Contents(recordings: recordings, captures: [], measurements: [])
        for _ in 0..<100 {
            begin = begin + .milliseconds(250)
            var events = [EngineEvent.central([])]
            while !events.isEmpty {
                for effect in engine.handle(events.removeFirst(), at: begin) {
                    switch effect {
                    case .readWishes: events.append(.wishes(.success(OperatorWishes(version: 1, contents: contents))))
                    case .loadResumeState(let recording):
                        events.append(.resumeState(recording, .failure(.notFound(what: "recording \(recording.rawValue)"))))
                    case .report(.readFailed(let error)): reports.append(error)
                    default: break
                    }
                }
            }
        }
        return reports
    }

    private static func open(_ number: Int64) -> OpenRecording {
        OpenRecording(
            recording: RecordingID(rawValue: number), headset: HeadsetID(rawValue: number), headsetName: "headset \(number)",
            model: "buffered-eeg",
            isWanted: true)
    }

    @Test("It is reported once, and again only where it was gone meanwhile")
    func once() {
        let engine = AcquisitionEngine(
            nextStreamID: 1, seed: 1, lookUp: { KnownHeadset(name: $0.headsetName, profile: BufferedEEGProfile()) })
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        #expect(Self.reports(engine, [Self.open(1)], from: &now).count == 1)
        #expect(Self.reports(engine, [Self.open(1)], from: &now).isEmpty)
        // Another one is another matter.
        #expect(Self.reports(engine, [Self.open(1), Self.open(2)], from: &now).count == 1)
        #expect(Self.reports(engine, [Self.open(2)], from: &now).isEmpty)
        #expect(Self.reports(engine, [Self.open(1), Self.open(2)], from: &now).count == 1)
    }
}
