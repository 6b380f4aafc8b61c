import Bluetooth
import Export
import Glibc
import Headsets
import Storage

/// A recording made of formulas, so that a test can say what every exported sample must be.
struct RecordingFixture {
    /// 2026-03-01T10:00:00.250000Z.
    static let start: Int64 = 1_772_359_200_250_000_000

    struct Stream {
        var description: StreamDescription
        var range: ClosedRange<Int64>
        /// n's without a row.
        var absent: [ClosedRange<Int64>] = []
        var absenceCause = GapCause.linkLost
        /// How the lengths of those gaps are known.
        var certainty = GapCertainty.counted
        /// Within what the times are right, in nanoseconds.
        var uncertainty: Double?
        /// n's whose row lacks a channel (1 ...).
        var nulls: [(channel: Int, range: ClosedRange<Int64>)] = []
        /// Nanoseconds after ``start`` of the first n.
        var delay: Int64 = 0
        /// The recorded sample period over the nominal one.
        var stretch = 1.0
        /// The value of a sample where it is not ``RecordingFixture/value(_:_:)``.
        var value: (Int64, Int) -> Int32 = RecordingFixture.value
    }

    var streams: [Stream]
    var annotations: [AnnotationContents] = []
    var subject: String? = "S01"
    var label: String?
    var task: String?
    var model = "Buffered EEG"
    var headset = "anna"
    var start = RecordingFixture.start

    /// The raw value of a sample: within ±2000, and no two neighbours alike.
    static func value(_ n: Int64, _ channel: Int) -> Int32 {
        Int32((n * 37 + Int64(channel) * 101) % 4001) - 2000
    }

    /// Channels of 12 bits and more, by default what a headset of ±450 uV sends.
    static func channel(
        _ name: String, type: String = "EEG", unit: String = "uV", scale: Double = 0.2197265625, offset: Double = 0,
        raw: ClosedRange<Int32> = -2048...2047
    ) -> ChannelDescription {
        ChannelDescription(
            name: name, type: type, unit: unit, scale: scale, offset: offset, rawMinimum: raw.lowerBound,
            rawMaximum: raw.upperBound)
    }

    static func description(
        _ name: String = "eeg", frequency: Double = 256, channels: [ChannelDescription] = [channel("TP9"), channel("AF7")]
    ) -> StreamDescription {
        StreamDescription(name: name, samplingFrequency: frequency, counterModulus: 65_536, channels: channels)
    }

    /// Whether a row is there, and its values.
    func row(_ stream: Stream, _ n: Int64) -> [Int32?]? {
        guard !stream.absent.contains(where: { $0.contains(n) }) else { return nil }
        return stream.description.channels.indices.map { channel in
            stream.nulls.contains { $0.channel == channel + 1 && $0.range.contains(n) } ? nil : stream.value(n, channel)
        }
    }

    /// The recording as a store gives it, after it was committed to one.
    func reader() throws -> RecordingReader {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "11111111-1111-4111-8111-111111111111"))
        return try store.reader(of: try record(into: store))
    }

    /// An exporter of the recording, from a store of its own.
    ///
    /// - Parameter machine: recordings of two machines are two recordings.
    func exporter(machine: Int = 1) throws -> Exporter {
        let boot = HostBoot(uuid: "11111111-1111-4111-8111-11111111111\(machine)")
        let store = try AcquisitionStore.inMemory(hostBoot: boot)
        return try Exporter(store: store, recording: try record(into: store))
    }

    /// Commits the whole recording.
    func record(into store: AcquisitionStore) throws -> RecordingID {
        let boottime = MonotonicTime(nanoseconds: 100_000_000_000)
        let recording = try store.control.startRecording(
            headset: headset, model: model, label: label, subject: subject, task: task, at: boottime)
        var batch = WriteBatch(number: 1)
        batch.changes += [
            .clockOffset(
                ClockOffsetRecord(
                    at: boottime, offsetNanoseconds: start - boottime.nanoseconds, stepNanoseconds: 0, isSynchronised: true)),
            .recording(.started(recording, at: boottime)),
        ]
        for (index, stream) in streams.enumerated() {
            let id = StreamID(rawValue: Int64(index + 1))
            let first = boottime + .nanoseconds(stream.delay)
            batch.changes += [
                .stream(NewStream(id: id, recording: recording, position: index, description: stream.description)),
                .epoch(
                    EpochRecord(
                        stream: id, number: 0, bootIdentifier: 7, firstN: stream.range.lowerBound,
                        firstIndex: stream.range.lowerBound,
                        began: first)),
                .segment(
                    SegmentRecord(
                        stream: id, firstN: stream.range.lowerBound, lastN: stream.range.upperBound, epoch: 0,
                        referenceN: stream.range.lowerBound, referenceTime: first,
                        periodNanoseconds: 1e9 / stream.description.samplingFrequency * stream.stretch,
                        residualNanoseconds: 1e6,
                        observationCount: 100, uncertaintyNanoseconds: stream.uncertainty)),
            ]
            batch.samples += rows(stream, id)
            batch.changes += stream.absent.map {
                .open(
                    stream: id, firstN: $0.lowerBound, channel: 0, count: Int64($0.count), cause: stream.absenceCause,
                    noticed: first, certainty: stream.certainty)
            }.map(Change.ledger)
            batch.changes += stream.nulls.map {
                .open(
                    stream: id, firstN: $0.range.lowerBound, channel: $0.channel, count: Int64($0.range.count),
                    cause: .packetLost,
                    noticed: first)
            }.map(Change.ledger)
        }
        batch.changes += annotations.map {
            AnnotationRecord(
                recording: recording, onset: boottime + .nanoseconds($0.onsetUnixNanoseconds - start),
                durationSeconds: $0.durationSeconds, description: $0.description, source: $0.source, sample: $0.sample,
                deviceTicks: $0.deviceTicks.map(UInt64.init), code: $0.code)
        }.map(Change.annotation)
        try store.commit(batch)
        return recording
    }

    /// The rows that are there, in unbroken runs.
    private func rows(_ stream: Stream, _ id: StreamID) -> [SampleRows] {
        var runs: [SampleRows] = []
        var isOpen = false
        for n in stream.range {
            guard let values = row(stream, n) else {
                isOpen = false
                continue
            }
            if !isOpen {
                runs.append(SampleRows(stream: id, channelCount: values.count, firstN: n, values: []))
                isOpen = true
            }
            runs[runs.count - 1].values += values.map { $0 ?? 0 }
            runs[runs.count - 1].missingChannels.append(
                values.enumerated().reduce(0) { $1.element == nil ? $0 | 1 << UInt8($1.offset) : $0 })
        }
        return runs
    }

    /// An annotation at seconds after the start.
    func annotation(_ text: String, at seconds: Double, duration: Double? = nil) -> AnnotationContents {
        AnnotationContents(
            onsetUnixNanoseconds: start + Int64((seconds * 1e9).rounded()), durationSeconds: duration, description: text)
    }
}

/// A directory of a test's own, gone when the test is over.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/eegsync-export-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw CannotCreate() }
        path = String(cString: made)
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// Removes a file.
    func remove(_ name: String) { unlink(path + "/" + name) }

    /// The files in it, hidden ones too, sorted.
    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var result: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { result.append(name) }
        }
        return result.sorted()
    }

    struct CannotCreate: Error {}
}

/// The whole of a small file.
func contents(of path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&buffer, 1, buffer.count, file)
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}
