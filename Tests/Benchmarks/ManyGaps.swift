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
        let store = try AcquisitionStore(path: path, hostBoot: HostBoot(uuid: "benchmark"))
        var specification = BufferedHeadsetSpecification()
        specification.firstIndex = UInt32(gaps) * UInt32(2 * Self.length)
        let headset = HeadsetSpecification.buffered(number: 1, specification)
        let world = SimulatedWorld(seed: 1, headsets: [headset], options: SimulatedWorld.Options(), start: Self.start)
        let recording = try populate(store, boot: world.headsets[0].buffered?.bootHistory.last?.bootIdentifier)
        let (longest, loading) = try drive(world, store, recording)
        let rows = try store.audit(recording: recording).streams.map(\.rows).reduce(0, +)
        try store.close()
        precondition(rows > Int64(gaps) * Self.length + 1000, "the headset's samples were not stored")
        return Cost(
            units: Int64(gaps), cpuSeconds: loading,
            facts: [("longestIterationSeconds", longest), ("rows", Double(rows))])
    }

    /// Until the headset streams, and a while after. Tasks of the database are done beside the engine, as in the daemon: they
    /// are measured apart.
    ///
    /// - Returns: the longest iteration of the engine, and how long it took to read what the database knows of the stream.
    private func drive(
        _ world: SimulatedWorld, _ store: AcquisitionStore, _ recording: RecordingID
    ) throws -> (longest: Double, loading: Double) {
        let engine = AcquisitionEngine(
            nextStreamID: try store.nextStreamID(), seed: 1,
            lookUp: { KnownHeadset(name: $0.headsetName, profile: BufferedEEGProfile()) })
        let central = world.makeCentral()
        let tasks = StorageTasks(store)
        var (longest, loading) = (0.0, 0.0)
        func handle(_ event: EngineEvent) {
            var effects: [EngineEffect] = []
            let iteration = Cost.measure {
                effects = engine.handle(event, at: world.now)
                return 1
            }
            longest = max(longest, iteration.cpuSeconds)
            for effect in effects {
                switch effect {
                case .request(let request): central.request(request)
                case .readClock:
                    handle(
                        .clock(
                            ClockOffsetRecord(
                                at: world.now, offsetNanoseconds: 1_790_000_000_000_000_000, stepNanoseconds: 0,
                                isSynchronised: true)))
                default:
                    var answer: EngineEvent?
                    let task = Cost.measure {
                        answer = tasks.perform(effect, at: world.now)
                        return 1
                    }
                    if case .loadResumeState = effect { loading = task.cpuSeconds }
                    if let answer { handle(answer) }
                }
            }
        }
        var end: MonotonicTime?
        while end.map({ world.now < $0 }) ?? true {
            let next = [world.nextEventTime, engine.deadline, central.deadline].compactMap { $0 }.min() ?? world.now
            world.advance(to: max(next, world.now))
            handle(.central(central.process(at: world.now)))
            if end == nil, engine.phase(of: recording)?.phase == .streaming { end = world.now + Self.after }
            precondition(world.now < Self.start + .seconds(600), "the headset does not stream")
        }
        return (longest, loading)
    }

    private func populate(_ store: AcquisitionStore, boot: UInt32?) throws -> RecordingID {
        let began = MonotonicTime(
            nanoseconds: Self.start.nanoseconds - Int64(gaps) * 2 * Self.length * 4_000_000 - 1_000_000_000)
        let recording = try store.control.startRecording(
            headset: "headset1", model: BufferedEEGProfile().model, label: "benchmark", subject: nil, task: nil, at: began)
        var batch = WriteBatch(number: 1)
        batch.changes += [
            .stream(
                NewStream(id: Self.stream, recording: recording, position: 0, description: BufferedHeadsetSpecification.eeg())),
            .recording(.started(recording, at: began)),
            .epoch(EpochRecord(stream: Self.stream, number: 0, bootIdentifier: boot, firstN: 0, firstIndex: 0, began: began)),
            .segment(
                SegmentRecord(
                    stream: Self.stream, firstN: 0, lastN: Int64(gaps) * 2 * Self.length - 1, epoch: 0, referenceN: 0,
                    referenceTime: began, periodNanoseconds: 4_000_000, residualNanoseconds: 1e6, observationCount: 60,
                    uncertaintyNanoseconds: 1e6)),
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
        batch.changes.append(
            .ledger(
                .open(
                    stream: Self.stream, firstN: first + Self.length, channel: 0, count: Self.length, cause: .packetLost,
                    noticed: began, certainty: .counted)))
    }
}
