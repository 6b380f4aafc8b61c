import Headsets
import Storage

/// Reads what the checks said of a stream's signals.
struct SignalReading {
    private let stream: StreamContents
    private let axis: TimeAxis
    private let kilohms: [String: Double]
    /// So many columns of checks: one comes each ten seconds.
    private static let columnCount = 600

    /// - Parameter kilohms: the latest impedance of each electrode.
    init(_ stream: StreamContents, axis: TimeAxis, kilohms: [String: Double]) {
        self.stream = stream
        self.axis = axis
        self.kilohms = kilohms
    }

    private struct Sums {
        var samples: [LaneKind: Int64] = [:]
        var line50 = 0.0
        var line60 = 0.0
        var lineCount = 0
        var raster = ColumnRaster(columnCount: SignalReading.columnCount, kindCount: LaneKind.conditions.count)
    }

    /// Those of channels that were checked or measured.
    func courses(in store: any Store) throws -> [SignalCourse] {
        guard var times = TimeCursor(stream.segments) else { return [] }
        let channels = stream.description.channels
        var sums = Array(repeating: Sums(), count: channels.count)
        try store.forEachSignalCheck(of: stream.id) { check in
            let index = check.channel - 1
            guard channels.indices.contains(index) else { return }
            let kind = LaneKind(check.condition.rawValue)
            sums[index].samples[kind, default: 0] += Int64(check.sampleCount)
            if let line50 = check.line50Hz {
                sums[index].line50 += line50
                sums[index].line60 += check.line60Hz ?? 0
                sums[index].lineCount += 1
            }
            guard let row = LaneKind.conditions.firstIndex(of: kind) else { return }
            let start = axis.fraction(times.unixNanoseconds(ofSample: check.firstN))
            let end = axis.fraction(times.unixNanoseconds(ofSample: check.lastN &+ 1))
            sums[index].raster.add(row, from: start, to: end)
        }
        return channels.indices.compactMap { index in
            let (channel, sum) = (channels[index], sums[index])
            let all = sum.samples.values.reduce(0, +)
            guard all > 0 || kilohms[channel.name] != nil else { return nil }
            let shares = LaneKind.conditions.compactMap { kind in
                sum.samples[kind].map { SignalCourse.Share(condition: kind, part: Double($0) / Double(max(1, all))) }
            }
            return SignalCourse(
                channel: channel.name, unit: channel.unit,
                lane: Lane(name: channel.name, raster: sum.raster, kinds: LaneKind.conditions),
                shares: shares.sorted { $0.part > $1.part },
                line50Hz: sum.lineCount > 0 ? sum.line50 / Double(sum.lineCount) : nil,
                line60Hz: sum.lineCount > 0 ? sum.line60 / Double(sum.lineCount) : nil, kilohms: kilohms[channel.name])
        }
    }
}

/// The course of a battery's charge.
struct BatteryReadings {
    private let axis: TimeAxis
    private(set) var raster: ValueRaster
    private var first: BatteryReading?
    private var last: BatteryReading?
    private var lowest: BatteryReading?

    init(axis: TimeAxis) {
        self.axis = axis
        raster = ValueRaster(columnCount: 400)
    }

    mutating func add(_ reading: BatteryReading) {
        guard reading.percent.isFinite else { return }
        raster.add(reading.percent, at: axis.fraction(reading.unixNanoseconds))
        if first == nil { first = reading }
        last = reading
        if reading.percent < lowest?.percent ?? .infinity { lowest = reading }
    }

    /// First, lowest and last.
    var facts: [ReportDocument.Fact] {
        [("First said", first), ("Lowest", lowest), ("Last said", last)].compactMap { label, reading in
            reading.map {
                .init(label, "\(ReportText.fixed($0.percent, 0)) % at \(axis.clock.text($0.unixNanoseconds))")
            }
        }
    }
}

extension MarkList {
    /// So many marks are listed.
    private static var listMaximum: Int { 200 }

    init(_ annotations: [AnnotationContents], axis: TimeAxis) {
        count = annotations.count
        marks = annotations.prefix(Self.listMaximum).map {
            Mark(
                unixNanoseconds: $0.onsetUnixNanoseconds, description: $0.description, source: $0.source,
                durationSeconds: $0.durationSeconds)
        }
        var raster = ColumnRaster(columnCount: 1000, kindCount: 1)
        for annotation in annotations {
            let position = axis.fraction(annotation.onsetUnixNanoseconds)
            raster.add(0, from: position, to: position)
        }
        positions = raster.runs.flatMap { run in run.columns.map { (Double($0) + 0.5) / 1000 } }
    }
}
