import Export
import Foundation
import Page
import Storage

/// What the page is answered, by path.
struct PageRoutes: Sendable {
    private let reading: PageReading
    private let now: SharedDocument
    private let recordings: SharedDocument
    private let signals: SignalRoutes
    private let live: DatabaseLiveSource
    private let pictures: SignalPictures
    private let exports: ExportJobs
    /// Nil where the page only shows.
    private let control: PageControl?

    /// - Parameters:
    ///   - cache: where what was computed is kept; nil for nowhere.
    ///   - control: has done what is wished; nil where the page only shows.
    ///   - measuresImpedance: whether headsets of a model do.
    ///   - configuration: read anew for each look, as it may change; nil where there is none.
    init(
        reading: PageReading, cache: String?, control: PageControl?,
        measuresImpedance: @escaping @Sendable (_ model: String) -> Bool = { _ in false },
        configuration: @escaping @Sendable () -> Configuration?
    ) {
        self.reading = reading
        self.control = control
        let allowsControl = control != nil
        now = SharedDocument(reading: reading, age: .milliseconds(900)) { store in
            try PageReading.document(
                NowFacts(
                    store: store, configuration: configuration(), allowsControl: allowsControl,
                    measuresImpedance: measuresImpedance, now: HostClock.now))
        }
        recordings = SharedDocument(reading: reading, age: .seconds(2)) { store in
            try PageReading.document(RecordingsFacts(recordings: try store.recordings()))
        }
        live = DatabaseLiveSource(reading: reading)
        pictures = SignalPictures(reading: reading, directory: cache)
        signals = SignalRoutes(reading: reading, pictures: pictures, live: live)
        exports = ExportJobs(database: reading.store.path, cache: cache)
    }

    /// Answers a request that the policy allows.
    func respond(_ request: PageRequest) async -> PageResponse {
        do {
            if request.method == "GET", let asset = PageAsset.all[request.path] { return asset.response }
            let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
            guard parts.first == "api" else { return Self.nothing }
            let rest = Array(parts.dropFirst())
            return request.method == "GET" ? try await get(rest, request) : try await post(rest, request)
        } catch {
            return PageReading.problem(error)
        }
    }

    private func get(_ parts: [String], _ request: PageRequest) async throws -> PageResponse {
        switch (parts.first, parts.count) {
        case ("now", 1): return .json(try await now.current())
        case ("recordings", 1): return .json(try await recordings.current())
        case ("recordings", 2...3):
            guard let number = Int64(parts[1]), number > 0 else { return Self.nothing }
            return try await recording(RecordingID(rawValue: number), parts.dropFirst(2).first, request)
        case ("exports", 2):
            guard let job = Int(parts[1]).flatMap(exports.job) else { return Self.nothing }
            return .json(try PageReading.document(job))
        case ("exports", 3):
            guard let id = Int(parts[1]), let index = Int(parts[2]) else { return Self.nothing }
            return exports.file(id, index) ?? Self.nothing
        default: return Self.nothing
        }
    }

    private func recording(_ id: RecordingID, _ part: String?, _ request: PageRequest) async throws -> PageResponse {
        switch part {
        case nil: .json(try await reading.run { try PageReading.document(HistoryPageFacts(id, in: $0)) })
        case "streams": .json(try await signals.streams(of: id))
        case "newest": try await signals.newest(request, recording: id)
        case "rows": try await signals.rows(request, recording: id)
        case "columns": try await signals.columns(request, recording: id)
        default: Self.nothing
        }
    }

    /// What an export is asked for with.
    private struct WantedExport: Decodable {
        var recording: Int64
        var format: String
    }

    private func post(_ parts: [String], _ request: PageRequest) async throws -> PageResponse {
        switch parts {
        case ["exports"]:
            guard let wanted = try? JSONDecoder().decode(WantedExport.self, from: request.body),
                let download = PageDownload.all.first(where: { $0.name == wanted.format })
            else { return .problem(400, "There is no such format.") }
            return .json(try PageReading.document(exports.start(recording: wanted.recording, as: download)), status: 202)
        case ["control"]:
            guard let control else {
                return .problem(403, "The page only shows: 'control: true' stands not under 'serve:' in the configuration.")
            }
            return await control.respond(request.body)
        default: return Self.nothing
        }
    }

    private static let nothing = PageResponse.problem(404, "There is nothing at this address.")

    /// Lets go what nobody needs any more; called once a second.
    ///
    /// - Parameter isMinute: once a minute true: what was deleted meanwhile goes here, too.
    func tidy(isMinute: Bool) async {
        await live.tidy()
        exports.tidy()
        if isMinute { await pictures.tidy() }
    }
}
