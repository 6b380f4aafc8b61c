import Bluetooth
import Foundation
import Headsets
import Storage
import Tap

/// A message of the tap as one line of JSON: what it does not say, is not there.
struct TapLine: Encodable {
    var kind: String
    var number: UInt64
    /// When it was said.
    var boottimeNanoseconds: Int64
    var unixNanoseconds: Int64?
    var recording: Int64?
    var headset: String?
    var model: String?
    var stream: String?
    var streamId: Int64?
    /// Of the first row or missing sample, or of what is said of a sample.
    var n: Int64?
    var count: Int64?
    /// When it was: of the first sample, of a gap's first missing one, of a mark's onset, of a state's begin.
    var timeBoottimeNanoseconds: Int64?
    var timeUnixNanoseconds: Int64?
    var periodNanoseconds: Double?
    var uncertaintyNanoseconds: Double?
    var arrivalBoottimeNanoseconds: Int64?
    var isLate: Bool?
    /// Raw counts, row after row; null where a channel is missing.
    var rows: [[Int32?]]?
    var channel: Int?
    var values: [Int32]?
    var channels: [Channel]?
    var samplingFrequency: Double?
    var change: String?
    var cause: String?
    var detail: String?
    var certainty: String?
    var state: String?
    var description: String?
    var source: String?
    var durationSeconds: Double?
    var code: Int64?
    var isStored: Bool?
    var condition: String?
    var batteryPercent: Double?
    var electrode: String?
    var kilohms: Double?
    var version: String?
    var droppedReaders: UInt64?
    var offsetNanoseconds: Int64?
    var isSynchronised: Bool?
    var through: UInt64?
    var committed: [Committed]?

    struct Channel: Encodable {
        var name: String
        var type: String
        var unit: String
        var scale: Double
        var offset: Double
    }

    struct Committed: Encodable {
        var streamId: Int64
        var firstN: Int64
        var count: Int64
    }

    init(_ message: TapMessage, _ names: TapNames) {
        number = message.number
        boottimeNanoseconds = message.at.nanoseconds
        unixNanoseconds = names.unixNanoseconds(message.at)
        kind = Self.kind(of: message.content)
        recording = names.recording(of: message.content)?.rawValue
        headset = names.recording(of: message.content).flatMap { names.headsets[$0]?.name }
        take(message.content, names)
        timeUnixNanoseconds = timeBoottimeNanoseconds.flatMap { names.unixNanoseconds(MonotonicTime(nanoseconds: $0)) }
    }

    static func kind(of content: TapContent) -> String {
        switch content {
        case .hello: "hello"
        case .headset: "headset"
        case .stream: "stream"
        case .state: "state"
        case .clock: "clock"
        case .samples: "samples"
        case .fill: "fill"
        case .gap: "gap"
        case .mark: "mark"
        case .check: "check"
        case .battery: "battery"
        case .impedance: "impedance"
        case .segment: "segment"
        case .recording: "recording"
        case .committed: "committed"
        case .refused: "refused"
        }
    }

    private mutating func take(_ content: TapContent, _ names: TapNames) {
        switch content {
        case .hello(let hello): (version, droppedReaders) = (hello.program, hello.droppedReaders)
        case .headset(let headset): model = headset.model
        case .stream(let stream): take(stream, names)
        case .state(let state):
            (self.state, cause, detail) = (state.state, state.cause, state.detail)
            timeBoottimeNanoseconds = state.since.nanoseconds
        case .clock(let clock): (offsetNanoseconds, isSynchronised) = (clock.offsetNanoseconds, clock.isSynchronised)
        case .samples(let samples): take(samples, names)
        case .fill(let fill):
            take(fill.stream, names)
            (n, channel, values) = (fill.firstN, fill.channel, fill.values)
        case .gap(let gap): take(gap, names)
        case .mark(let mark):
            let annotation = mark.annotation
            (description, source, code) = (annotation.description, annotation.source, annotation.code)
            (durationSeconds, isStored) = (annotation.durationSeconds, mark.isStored)
            timeBoottimeNanoseconds = annotation.onset.nanoseconds
            if let sample = annotation.sample {
                take(sample.stream, names)
                n = sample.n
            }
        case .check(let check):
            take(check.stream, names)
            (channel, condition, n) = (check.channel, check.condition.rawValue, check.firstN)
            count = check.lastN - check.firstN + 1
        case .battery(let battery): (batteryPercent, condition) = (battery.percent, battery.condition)
        case .impedance(let impedance): (electrode, kilohms) = (impedance.electrode, impedance.kilohms)
        case .segment(let segment):
            take(segment.stream, names)
            (n, count) = (segment.firstN, segment.lastN - segment.firstN + 1)
            let first = Double(segment.firstN - segment.referenceN) * segment.periodNanoseconds
            timeBoottimeNanoseconds = (segment.referenceTime + .nanoseconds(Int64(clamping: first.rounded()))).nanoseconds
            (periodNanoseconds, uncertaintyNanoseconds) = (segment.periodNanoseconds, segment.uncertaintyNanoseconds)
        case .recording(.started(_, let time)): (change, timeBoottimeNanoseconds) = ("started", time.nanoseconds)
        case .recording(.stopped(_, let time)): (change, timeBoottimeNanoseconds) = ("stopped", time.nanoseconds)
        case .committed(let commit):
            through = commit.through
            committed = commit.rows.map {
                Committed(streamId: $0.stream.rawValue, firstN: $0.firstN, count: $0.count)
            }
        case .refused(let refusal): (through, detail) = (refusal.through, refusal.reason)
        }
    }

    private mutating func take(_ stream: StreamID, _ names: TapNames) {
        (streamId, self.stream) = (stream.rawValue, names.streamName(stream))
    }

    private mutating func take(_ stream: NewStream, _ names: TapNames) {
        take(stream.id, names)
        samplingFrequency = stream.description.samplingFrequency
        channels = stream.description.channels.map {
            Channel(name: $0.name, type: $0.type, unit: $0.unit, scale: $0.scale, offset: $0.offset)
        }
    }

    private mutating func take(_ samples: TapSamples, _ names: TapNames) {
        let rows = samples.rows
        take(rows.stream, names)
        (n, count, isLate) = (rows.firstN, Int64(rows.rowCount), samples.isLate)
        timeBoottimeNanoseconds = samples.time?.first.nanoseconds
        periodNanoseconds = samples.time?.periodNanoseconds
        uncertaintyNanoseconds = samples.time?.uncertaintyNanoseconds
        arrivalBoottimeNanoseconds = samples.arrival?.nanoseconds
        self.rows = (0..<rows.rowCount).map { row in
            let missing = rows.missingChannels.isEmpty ? 0 : rows.missingChannels[row]
            return (0..<rows.channelCount).map { channel in
                missing >> channel & 1 == 1 ? nil : rows.values[row * rows.channelCount + channel]
            }
        }
    }

    private mutating func take(_ gap: TapGap, _ names: TapNames) {
        take(gap.entry.stream, names)
        timeBoottimeNanoseconds = gap.time?.nanoseconds
        switch gap.entry {
        case .open(_, let firstN, let channel, let count, let cause, _, let certainty):
            (change, n, self.channel, self.count) = ("open", firstN, channel, count)
            (self.cause, self.certainty) = (cause.rawValue, certainty.name)
        case .close(_, let firstN, let channel, let count, let certainty):
            (change, n, self.channel, self.count) = ("close", firstN, channel, count)
            self.certainty = certainty.name
        case .recover(_, let firstN, let channel, let count):
            (change, n, self.channel, self.count) = ("recover", firstN, channel, count)
        case .withdraw(_, let firstN, let channel): (change, n, self.channel) = ("withdraw", firstN, channel)
        }
    }

    /// One line, with keys in snake_case and sorted.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
