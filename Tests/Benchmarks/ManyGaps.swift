import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage

/// The longest turn of the thread that stamps arrivals, while a headset comes back to a recording with very many gaps: what the
/// memory of a Buffered EEG may still hold is looked up among them, and what it cannot is given up.
struct ManyGaps {
    /// Gaps of the recording, of 8 samples each, 8 samples apart.
    var gaps: Int

    private static let stream = StreamID(rawValue: 1)
    private static let length: Int64 = 8
    /// How many gaps are committed at once.
    private static let gapsPerBatch = 10_000
    private static let start = MonotonicTime(nanoseconds: 100_000_000_000_000)
    /// How long the headset sends after its return.
    private static let after = Duration.seconds(10)

    func run(path: String) throws -> Cost {
        let store = try Store(path: path, hostBoot: HostBoot(uuid: "benchmark"), mode: .acquire)
        var specification = BufferedHeadsetSpecification()
        specification.firstIndex = UInt32(gaps) * UInt32(2 * Self.length)
        let headset = HeadsetSpecification.buffered(number: 1, specification)
        let world = SimulatedWorld(seed: 1, headsets: [headset], options: SimulatedWorld.Options(), start: Self.start)
        let recording = try populate(store, boot: world.headsets[0].buffered?.bootHistory.last?.bootIdentifier)
        var longest = 0.0
        func turn(_ work: () throws -> Void) rethrows {
            longest = max(
                longest,
                try Cost.measure {
                    try work()
                    return 1
                }.cpuSeconds)
        }
        let acquirer = Acquirer(central: world.makeCentral(), nextStreamID: try store.nextStreamID(), seed: 1)
        acquirer.observeClock(unixNanoseconds: 1_790_000_000_000_000_000, isSynchronised: true, at: world.now)
        // Reads what the database knows of the stream, before the link.
        let loading = try Cost.measure {
            try acquirer.reconcile(with: store, profile: { _ in BufferedEEGProfile() }, at: world.now)
            return 1
        }
        var end: MonotonicTime?
        while end.map({ world.now < $0 }) ?? true {
            let next = [world.nextEventTime, acquirer.deadline].compactMap { $0 }.min() ?? world.now
            world.advance(to: max(next, world.now))
            var batch: WriteBatch?
            turn {
                acquirer.process(at: world.now)
                batch = acquirer.takeBatch(at: world.now)
            }
            if let batch {
                try store.commit(batch)
                turn { acquirer.committed(batch.number, at: world.now) }
            }
            if end == nil, acquirer.phase(of: recording)?.phase == .streaming { end = world.now + Self.after }
            precondition(world.now < Self.start + .seconds(600), "the headset does not stream")
        }
        let rows = try store.audit(recording: recording).streams.map(\.rows).reduce(0, +)
        try store.close()
        precondition(rows > Int64(gaps) * Self.length + 1000, "the headset's samples were not stored")
        return Cost(
            units: Int64(gaps), cpuSeconds: loading.cpuSeconds,
            facts: [("longestTurnSeconds", longest), ("rows", Double(rows))])
    }

    private func populate(_ store: Store, boot: UInt32?) throws -> RecordingID {
        let began = MonotonicTime(
            nanoseconds: Self.start.nanoseconds - Int64(gaps) * 2 * Self.length * 4_000_000 - 1_000_000_000)
        let recording = try store.startRecording(
            headset: "headset1", model: BufferedEEGProfile().model, label: "benchmark", subject: nil, task: nil, at: began)
        var batch = WriteBatch(number: 1)
        batch.newStreams = [
            NewStream(id: Self.stream, recording: recording, position: 0, description: BufferedHeadsetSpecification.eeg())
        ]
        batch.startedRecordings = [RecordingChange(recording: recording, at: began)]
        batch.epochs = [
            EpochRecord(stream: Self.stream, number: 0, bootIdentifier: boot, firstN: 0, firstIndex: 0, began: began)
        ]
        batch.segments = [
            SegmentRecord(
                stream: Self.stream, firstN: 0, lastN: Int64(gaps) * 2 * Self.length - 1, epoch: 0, referenceN: 0,
                referenceTime: began, periodNanoseconds: 4_000_000, residualNanoseconds: 1e6, observationCount: 60,
                uncertaintyNanoseconds: 1e6)
        ]
        for first in stride(from: 0, to: gaps, by: Self.gapsPerBatch) {
            for gap in first..<min(first + Self.gapsPerBatch, gaps) { add(gap: Int64(gap), to: &batch, began) }
            try store.commit(batch)
            batch = WriteBatch(number: batch.number + 1)
        }
        return recording
    }

    private func add(gap: Int64, to batch: inout WriteBatch, _ began: MonotonicTime) {
        let first = gap * 2 * Self.length
        batch.samples.append(
            SampleRows(
                stream: Self.stream, channelCount: 8, firstN: first, values: Array(repeating: 7, count: 8 * Int(Self.length)),
                missingChannels: []))
        batch.ledger.append(
            .open(
                stream: Self.stream, firstN: first + Self.length, channel: 0, count: Self.length, cause: .packetLost,
                noticed: began, certainty: .counted))
    }
}
