import Headsets
import Storage

/// Reads what a headset's connection did while a recording lasted.
struct ConnectionReading {
    let axis: TimeAxis
    let context: ReportContext

    /// So many events are looked at, the latest: months of repeated attempts are folded by the history itself.
    private static let eventMaximum = 20_000
    private static let notRunningWords = "eegsync was not running"
    private static let otherWords = "another state"

    /// - Parameter streams: of the recording: their gaps say when a process died, which is known to be alive once a minute
    ///   only.
    func course(of headset: String, _ streams: [StreamContents], in store: any Store) throws -> ConnectionCourse? {
        var ends: [Int64] = []
        for stream in streams {
            guard var times = TimeCursor(stream.segments) else { continue }
            for gap in stream.gaps where gap.channel == 0 && [.daemonDown, .hostRestarted].contains(gap.cause) {
                ends.append(times.unixNanoseconds(dueAfterSampleBefore: gap.firstN))
            }
        }
        return course(try store.history(of: headset, limit: Self.eventMaximum), ends: ends)
    }

    /// - Parameters:
    ///   - events: of the headset, the process and the machine, in any order.
    ///   - ends: when samples ended because no process was there, UTC nanoseconds since 1970.
    /// - Returns: nil where none says what the connection did.
    func course(_ events: [HistoryEvent], ends: [Int64] = []) -> ConnectionCourse? {
        let entered = Self.entered(events, ends: ends)
        guard let first = entered.first else { return nil }
        var raster = ColumnRaster(columnCount: ReportReading.columnCount, kindCount: LaneKind.states.count)
        var seconds: [LaneKind: (seconds: Double, count: Int)] = [:]
        func add(_ kind: LaneKind, from start: Int64, to end: Int64) {
            let (low, high) = (max(start, axis.start), min(end, axis.end))
            guard high > low, let index = LaneKind.states.firstIndex(of: kind) else { return }
            raster.add(index, from: axis.fraction(low), to: axis.fraction(high))
            let sum = seconds[kind] ?? (0, 0)
            seconds[kind] = (sum.seconds + Double(high - low) / 1e9, sum.count + 1)
        }
        var (state, since) = first
        for (next, time) in entered.dropFirst() where next != state {
            add(state, from: since, to: time)
            (state, since) = (next, time)
        }
        // What was entered last holds until now at the latest.
        add(state, from: since, to: min(axis.end, max(since, context.now)))
        let sums = LaneKind.states.compactMap { kind in
            seconds[kind].map { ConnectionCourse.Sum(kind: kind, words: words(of: kind), seconds: $0.seconds, count: $0.count) }
        }
        guard !sums.isEmpty else { return nil }
        return ConnectionCourse(lane: Lane(name: "Connection", raster: raster, kinds: LaneKind.states), sums: sums)
    }

    /// Which state began when. An event that was repeated also counts when it happened last.
    private static func entered(_ events: [HistoryEvent], ends: [Int64]) -> [(LaneKind, Int64)] {
        var entered: [(LaneKind, Int64)] = []
        let starts = events.filter { $0.kind == .process && $0.name == "started" }.compactMap(\.unixNanoseconds).sorted()
        let ends = ends.sorted()
        for event in events {
            guard let time = event.unixNanoseconds else { continue }
            switch (event.kind, event.name) {
            case (.connection, let name):
                entered.append((LaneKind(name), time))
                if let last = event.lastUnixNanoseconds, last > time { entered.append((LaneKind(name), last)) }
            case (.process, "ended"): entered.append((.notRunning, time))
            case (.process, "died"):
                let next = starts.first { $0 > time } ?? .max
                entered.append((.notRunning, ends.first { $0 >= time && $0 <= next } ?? time))
            default: break
            }
        }
        // Of two that began in the same nanosecond, the later row counts.
        return entered.enumerated().sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }.map(\.element)
    }

    private func words(of kind: LaneKind) -> String {
        switch kind {
        case .notRunning: Self.notRunningWords
        case .other: Self.otherWords
        default: context.stateWords[kind.rawValue] ?? kind.rawValue
        }
    }
}
