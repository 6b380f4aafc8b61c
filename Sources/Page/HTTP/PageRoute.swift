import Foundation
package import Storage

/// What a request asks for, by its path, its parameters and its body. Pure: whether there is such a thing, others know.
package enum PageRoute: Sendable {
    case asset(PageAsset)
    case now
    case recordings
    case recording(RecordingID)
    case signals(Signals, of: RecordingID)
    /// How far an export is.
    case export(Int)
    case exportedFile(export: Int, index: Int)
    case startExport(WantedExport)
    case control(PageWish)
    /// How the machines of a study are.
    case study
    /// Nothing that the page has, and why.
    case refused(PageResponse)

    /// What is asked about the signals of a recording.
    package enum Signals: Hashable, Sendable {
        case streams
        /// Rows behind an n; nil for all that is kept.
        case newest(stream: Int64, after: Int64?)
        /// All rows of a time, in nanoseconds since 1970, that is at most ``rowsNanosecondsMaximum`` long.
        case rows(stream: Int64, Range<Int64>)
        /// The same time in 1 ... 4096 columns.
        case columns(stream: Int64, Range<Int64>, count: Int)
    }

    /// What an export is asked for with, as the page sends it.
    package struct WantedExport: Hashable, Sendable, Decodable {
        package var recording: Int64
        package var format: String
    }

    /// The longest time of which all rows are sent; longer ones are painted into columns.
    package static let rowsNanosecondsMaximum: Int64 = 60_000_000_000

    /// What a request that the policy allows asks for.
    package init(_ request: PageRequest) {
        if request.method == "GET", let asset = PageAsset.all[request.path] {
            self = .asset(asset)
            return
        }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard parts.first == "api" else {
            self = .refused(Self.nothing)
            return
        }
        let rest = Array(parts.dropFirst())
        self = request.method == "GET" ? Self.get(rest, request) : Self.post(rest, request)
    }

    private static func get(_ parts: [String], _ request: PageRequest) -> PageRoute {
        switch (parts.first, parts.count) {
        case ("now", 1): return .now
        case ("recordings", 1): return .recordings
        case ("study", 1): return .study
        case ("recordings", 2...3):
            guard let number = Int64(parts[1]), number > 0 else { return .refused(nothing) }
            let id = RecordingID(rawValue: number)
            return parts.count == 2 ? .recording(id) : signals(parts[2], of: id, request)
        case ("exports", 2): return Int(parts[1]).map { .export($0) } ?? .refused(nothing)
        case ("exports", 3):
            guard let id = Int(parts[1]), let index = Int(parts[2]) else { return .refused(nothing) }
            return .exportedFile(export: id, index: index)
        default: return .refused(nothing)
        }
    }

    private static func signals(_ part: String, of recording: RecordingID, _ request: PageRequest) -> PageRoute {
        if part == "streams" { return .signals(.streams, of: recording) }
        guard ["newest", "rows", "columns"].contains(part) else { return .refused(nothing) }
        guard let stream = request.integer("stream", 0...Int64.max) else { return .refused(noStream) }
        if part == "newest" {
            return .signals(.newest(stream: stream, after: request.integer("after", .min ... .max)), of: recording)
        }
        guard let time = time(request) else { return .refused(noTime) }
        if part == "rows" {
            let isShort = time.upperBound - time.lowerBound <= rowsNanosecondsMaximum
            return isShort ? .signals(.rows(stream: stream, time), of: recording) : .refused(noTime)
        }
        guard let count = request.integer("columns", 1...4096) else { return .refused(noTime) }
        return .signals(.columns(stream: stream, time, count: Int(count)), of: recording)
    }

    /// From `from_ms` up to `to_ms`, milliseconds since 1970; not empty.
    private static func time(_ request: PageRequest) -> Range<Int64>? {
        let bounds = 0.0...9e12
        guard let from = request.number("from_ms", bounds), let to = request.number("to_ms", bounds) else { return nil }
        let (start, end) = (Int64(from * 1e6), Int64(to * 1e6))
        return start < end ? start..<end : nil
    }

    private static func post(_ parts: [String], _ request: PageRequest) -> PageRoute {
        switch parts {
        case ["exports"]:
            let wanted = try? JSONDecoder().decode(WantedExport.self, from: request.body)
            return wanted.map { .startExport($0) } ?? .refused(noFormat)
        case ["control"]:
            let wish = try? JSONDecoder().decode(PageWish.self, from: request.body)
            return wish.map { .control($0) } ?? .refused(PageWish.refusal)
        default: return .refused(nothing)
        }
    }

    package static let nothing = PageResponse.problem(404, "There is nothing at this address.")
    package static let noStream = PageResponse.problem(404, "The recording has no such stream.")
    package static let noTime = PageResponse.problem(400, "The time that is asked for is none, or too long.")
    package static let noFormat = PageResponse.problem(400, "There is no such format.")
}

/// What the page wishes to have done, as it sends it.
package struct PageWish: Hashable, Sendable, Decodable {
    package var action: String
    package var headset: String?
    package var text: String?

    package init(action: String, headset: String? = nil, text: String? = nil) {
        self.action = action
        self.headset = headset
        self.text = text
    }

    /// The answer to what is no wish.
    package static let refusal = PageResponse.problem(400, "That is nothing the page can have done.")
}
