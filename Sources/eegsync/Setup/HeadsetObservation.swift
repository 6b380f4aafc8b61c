import Bluetooth
import Headsets
import Storage

/// What is known of one headset's signal, from the batches that would be written.
struct HeadsetObservation {
    /// One stream.
    fileprivate struct Stream {
        var description: StreamDescription
        var detector: MotionDetector?
        var conditions: [Int: SignalCondition] = [:]
        var firstN: Int64?
        var nextN: Int64 = 0
        var rows: Int64 = 0
        /// Taken by the headset and never sent: nothing is lost.
        var unsent: Int64 = 0
        /// When the first and the last rows came, and the n that came after the first.
        var firstAt: MonotonicTime?
        var firstEndN: Int64 = 0
        var lastAt: MonotonicTime?
    }

    let recording: RecordingID
    private var headset: HeadsetID?
    private var streams: [StreamID: Stream] = [:]
    private var order: [StreamID] = []
    private(set) var serialNumber: String?
    private(set) var batteryPercent: Double?

    /// Begins with nothing known.
    init(recording: RecordingID) { self.recording = recording }

    /// Blinks and taps so far.
    var movements: Int { order.compactMap { streams[$0]?.detector?.movements }.reduce(0, +) }

    /// How long samples have been coming, of the stream of which that is shortest.
    var duration: Duration {
        let lengths = order.compactMap { streams[$0] }.map { stream in
            stream.firstAt.flatMap { first in stream.lastAt.map { $0 - first } } ?? .zero
        }
        return lengths.min() ?? .zero
    }

    /// True once every channel that can be judged was.
    var isJudged: Bool {
        !order.isEmpty
            && order.allSatisfy { id in
                guard let stream = streams[id], stream.description.channels.contains(where: { $0.type == "EEG" }) else {
                    return true
                }
                return !stream.conditions.isEmpty
            }
    }

    /// Takes what a batch says of this headset.
    mutating func take(_ batch: WriteBatch, at now: MonotonicTime) {
        for part in batch.parts where part.recording == recording { headset = part.headset }
        for change in batch.changes {
            switch change {
            case .stream(let new) where new.recording == recording:
                order.append(new.id)
                streams[new.id] = Stream(description: new.description, detector: MotionDetector(new.description))
            case .identityProof(let record) where record.headset == headset: serialNumber = record.proof
            case .statusReport(let record) where record.headset == headset:
                batteryPercent = record.status?.batteryPercent ?? batteryPercent
            case .ledger(.open(let stream, _, 0, let count?, .notSent, _, _)): streams[stream]?.unsent += count
            case .signalCheck(let record): streams[record.stream]?.conditions[record.channel] = record.condition
            default: break
            }
        }
        for rows in batch.samples where streams[rows.stream] != nil {
            streams[rows.stream]?.detector?.take(rows)
            streams[rows.stream]?.take(rows, at: now)
        }
    }

    /// Forgets how much came, and what was said of it: the test begins.
    mutating func restart() {
        for id in order {
            guard let stream = streams[id] else { continue }
            streams[id] = Stream(description: stream.description, detector: stream.detector)
        }
    }

    /// The test's result.
    ///
    /// - Parameter silence: why there is no signal, where there is none.
    func test(of headset: NamedHeadset, silence: String) -> SignalTest {
        var test = SignalTest(
            name: headset.name, address: headset.candidate.identifier.addressDescription,
            serialNumber: serialNumber ?? headset.serialNumber, batteryPercent: batteryPercent,
            seconds: (duration.inSeconds * 10).rounded() / 10, streams: [], channels: [])
        for id in order {
            guard let stream = streams[id] else { continue }
            test.streams.append(stream.result)
            test.channels += stream.conditions.sorted { $0.key < $1.key }.map {
                SignalTest.Channel(
                    stream: stream.description.bankName, name: stream.description.channels[$0.key - 1].name,
                    condition: $0.value.rawValue)
            }
        }
        if test.streams.allSatisfy({ $0.samples == 0 }) { test.silence = silence }
        return test
    }
}

extension HeadsetObservation.Stream {
    fileprivate mutating func take(_ rows: SampleRows, at now: MonotonicTime) {
        let end = rows.firstN + Int64(rows.rowCount)
        if firstN == nil { firstN = rows.firstN }
        self.rows += Int64(rows.rowCount)
        nextN = max(nextN, end)
        // The rows that came first may have been waited for: the rate counts from their end on.
        if firstAt == nil || firstAt == now { (firstAt, firstEndN) = (now, nextN) }
        lastAt = now
    }

    fileprivate var result: SignalTest.Stream {
        var measured: Double?
        if let firstAt, let lastAt, (lastAt - firstAt).inSeconds >= 1 {
            measured = Double(nextN - firstEndN) / (lastAt - firstAt).inSeconds
        }
        return SignalTest.Stream(
            name: description.bankName, samplingFrequency: description.samplingFrequency,
            measuredFrequency: measured.map { ($0 * 10).rounded() / 10 }, samples: rows,
            missing: firstN.map { max(0, nextN - $0 - rows - unsent) } ?? 0)
    }
}
