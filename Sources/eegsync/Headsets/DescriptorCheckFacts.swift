import Bluetooth
import HeadsetDescriptors
import Headsets
import YAMLReading

/// What `eegsync headsets check` found.
struct DescriptorCheckFacts: Facts {
    var file: String
    /// Nil where the descriptor is refused.
    var model: String?
    var name: String?
    var streams: [String] = []
    var problems: [YAMLProblem] = []
    /// Why the capture cannot be decoded at all, and what can be done.
    var captureProblem: String?
    var captureRemedy: String?
    /// The exit code where that is so.
    private var captureCode: Failure.Code?
    var trial: TrialFacts?

    init(file: String) {
        self.file = file
    }

    mutating func accept(_ profile: DescribedProfile) {
        model = profile.model
        name = profile.displayName
        streams = profile.streams.map(\.words)
    }

    mutating func refuse(_ error: YAMLDocumentError) { problems = error.problems }

    mutating func refuse(_ failure: Failure) {
        captureProblem = failure.problem
        captureRemedy = failure.remedy
        captureCode = failure.code
    }

    private enum CodingKeys: CodingKey {
        case file, model, name, streams, problems, captureProblem, captureRemedy, trial
    }

    /// The exit code; nil where the descriptor is right, and fits the capture where there is one.
    var failure: Failure.Code? {
        captureCode ?? (problems.isEmpty && trial?.hasSamples != false ? nil : .dataError)
    }

    func lines(style: TerminalStyle) -> [String] {
        guard problems.isEmpty else { return refusal(style) }
        var lines = [
            style.apply(.good, to: "right") + "  \(file): model \(model ?? "") (\(name ?? "")), "
                + (streams.isEmpty ? "streams as the headset says" : streams.joined(separator: ", "))
        ]
        if let captureProblem {
            lines.append("")
            lines += captureProblem.split(separator: "\n").map { style.apply(.bad, to: String($0).printable) }
            if let captureRemedy { lines.append("  What you can do: \(captureRemedy.printable)") }
        }
        if let trial { lines += [""] + trial.lines(style: style) }
        return lines
    }

    private func refusal(_ style: TerminalStyle) -> [String] {
        let open = problems.count(where: \.isOpenFact)
        let wrong = problems.count - open
        var words: [String] = []
        if wrong > 0 { words.append(Quantity.count(Int64(wrong), "problem")) }
        if open > 0 { words.append(Quantity.count(Int64(open), "fact") + " still to be filled in") }
        var lines = [style.apply(.bad, to: "refused") + "  \(file): \(words.joined(separator: ", "))", ""]
        for problem in problems {
            let location = problem.line.map { "\(file):\($0)" + (problem.column.map { ":\($0)" } ?? "") } ?? file
            lines.append(
                style.apply(.faint, to: location) + (problem.key.isEmpty ? "" : "  " + style.apply(.heading, to: problem.key)))
            lines.append(
                "    " + problem.why.printable
                    + (problem.hint.isEmpty || problem.isOpenFact ? "" : "; " + problem.hint.printable))
            if problem.isOpenFact, !problem.hint.isEmpty {
                lines.append("    " + style.apply(.caution, to: problem.hint.printable))
            }
        }
        return lines
    }
}

/// What a descriptor makes of a capture.
struct TrialFacts: Encodable {
    struct Stream: Encodable {
        var name: String
        var blocks: Int
        var samples: Int
        /// Samples that the counter says are missing; nil for a stream without counter.
        var lost: Int?
        var late: Int
        var damaged: Int
        var statedFrequency: Double
        /// Nil where the capture has no times of its own, or is too short.
        var measuredFrequency: Double?
        var channels: [Channel]
    }

    struct Channel: Encodable {
        var name: String
        var unit: String
        /// The lowest and the highest value of the whole capture, in the unit; nil where none came.
        var minimum: Double?
        var maximum: Double?
        var isFlat: Bool
        /// True where the value reaches the end of the raw range.
        var isRailed: Bool
    }

    var capture: String
    var durationSeconds: Double
    var notifications: Int
    var foreignNotifications: Int
    var bytes: Int
    var discardedBytes: Int
    var statuses: Int
    var lastCondition: String?
    var lastBatteryPercent: Double?
    var texts: [String]
    var streams: [Stream]
    /// The curves of a person's answer; not part of a program's.
    private let plots: [StreamPlot]

    private enum CodingKeys: CodingKey {
        case capture, durationSeconds, notifications, foreignNotifications, bytes, discardedBytes, statuses, lastCondition,
            lastBatteryPercent, texts, streams
    }

    /// True where anything was decoded.
    var hasSamples: Bool { streams.contains { $0.samples > 0 } }

    init(_ trial: CaptureTrial, seconds: Double, capture: String, hasTimes: Bool) {
        self.capture = capture
        durationSeconds = trial.duration.inSeconds
        notifications = trial.pieceCount
        foreignNotifications = trial.foreignCount
        bytes = trial.byteCount
        discardedBytes = trial.discardedByteCount
        statuses = trial.statusCount
        lastCondition = trial.lastStatus?.condition.rawValue
        lastBatteryPercent = trial.lastStatus?.batteryPercent
        texts = trial.texts
        streams = trial.streams.map { Self.stream($0, hasTimes: hasTimes) }
        plots = trial.streams.filter { $0.sampleCount > 0 }.map { StreamPlot($0, seconds: min(seconds, 60)) }
    }

    private static func stream(_ stream: CaptureTrial.Stream, hasTimes: Bool) -> Stream {
        let description = stream.description
        let channels = zip(description.channels, stream.ranges).map { channel, range in
            let ends = range.map { [Double($0.lowerBound), Double($0.upperBound)].map { $0 * channel.scale + channel.offset } }
            return Channel(
                name: channel.name, unit: channel.unit, minimum: ends?.min(), maximum: ends?.max(),
                isFlat: range.map { $0.lowerBound == $0.upperBound && stream.sampleCount > 1 } ?? false,
                isRailed: range.map { $0.lowerBound <= channel.rawMinimum || $0.upperBound >= channel.rawMaximum } ?? false)
        }
        return Stream(
            name: description.bankName, blocks: stream.blockCount,
            samples: stream.sampleCount, lost: description.counterModulus == nil ? nil : stream.lostCount,
            late: stream.lateCount, damaged: stream.damagedCount, statedFrequency: description.samplingFrequency,
            measuredFrequency: hasTimes ? stream.measuredFrequency : nil, channels: channels)
    }

    /// The share by which a measured frequency may differ before it is pointed out: clocks of headsets differ by 0.01 %, and a
    /// capture of some seconds has packets that waited.
    private static let tolerance = 0.03

    func lines(style: TerminalStyle) -> [String] {
        let used = bytes - discardedBytes
        let share = bytes == 0 ? 0 : Double(used) / Double(bytes) * 100
        var lines = [
            "\(capture.printable): \(Quantity.duration(seconds: durationSeconds)), "
                + "\(Quantity.count(Int64(notifications), "notification")) of \(Quantity.count(Int64(bytes), "byte")), "
                + style.apply(
                    discardedBytes == 0 && bytes > 0 ? .good : .caution, to: String(share: share) + " of the bytes fit")
        ]
        if discardedBytes > 0 {
            lines.append(
                style.apply(.caution, to: "\(Quantity.count(Int64(discardedBytes), "byte")) fit nothing and were dropped."))
        }
        if foreignNotifications > 0 {
            let count = Quantity.count(Int64(foreignNotifications), "notification")
            lines.append(
                style.apply(.caution, to: "\(count) of characteristics that the descriptor does not name were left out."))
        }
        if statuses > 0 {
            lines.append(
                "\(Quantity.count(Int64(statuses), "status report")), the last: \(lastCondition ?? "")"
                    + (lastBatteryPercent.map { ", battery \(Quantity.significant($0, digits: 3)) %" } ?? ""))
        }
        for text in texts { lines.append("\"\(text.printable)\"") }
        lines += [""] + table.rendered(style: style)
        for plot in plots { lines += [""] + plot.lines(style: style) }
        return lines
    }

    private var table: TextTable {
        var table = TextTable([
            .init(heading: "STREAM"), .init(heading: "PACKETS", alignment: .right, dispensability: 1),
            .init(heading: "SAMPLES", alignment: .right),
            .init(heading: "LOST", alignment: .right),
            .init(heading: "DAMAGED", alignment: .right, dispensability: 2),
            .init(heading: "STATED", alignment: .right), .init(heading: "MEASURED", alignment: .right),
            .init(heading: "NOTE", wraps: true),
        ])
        for stream in streams {
            let isOff = stream.measuredFrequency.map { abs($0 / stream.statedFrequency - 1) > Self.tolerance } ?? false
            var notes: [String] = []
            if stream.samples == 0 { notes.append("nothing came") }
            if stream.late > 0 { notes.append("\(Quantity.count(Int64(stream.late), "packet")) repeated or late") }
            if isOff { notes.append("another sampling frequency, or lost packets") }
            let flat = stream.channels.filter(\.isFlat).map(\.name)
            if !flat.isEmpty { notes.append("flat: \(flat.joined(separator: " "))") }
            let railed = stream.channels.filter { $0.isRailed && !$0.isFlat }.map(\.name)
            if !railed.isEmpty { notes.append("at the end of the range: \(railed.joined(separator: " "))") }
            table.append([
                .init(stream.name), .init(Quantity.count(Int64(stream.blocks))),
                .init(Quantity.count(Int64(stream.samples)), stream.samples == 0 ? .bad : nil),
                .init(stream.lost.map { Quantity.count(Int64($0)) } ?? "-", (stream.lost ?? 0) > 0 ? .caution : nil),
                .init(Quantity.count(Int64(stream.damaged)), stream.damaged > 0 ? .caution : nil),
                .init(Quantity.frequency(stream.statedFrequency)),
                .init(stream.measuredFrequency.map(Quantity.frequency) ?? "-", isOff ? .caution : nil),
                .init(notes.joined(separator: "; "), .caution),
            ])
        }
        return table
    }
}

extension String {
    /// A percentage, which is 100 % only where everything is meant.
    fileprivate init(share: Double) {
        self = share > 99.95 && share < 100 ? "99.9 %" : Quantity.significant(share, digits: 3) + " %"
    }
}

extension StreamDescription {
    /// Such as `eeg 8 × 250 Hz`.
    fileprivate var words: String {
        "\(bankName) \(channels.count) × \(Quantity.frequency(samplingFrequency))"
    }
}
