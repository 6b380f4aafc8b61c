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
    ///   - cache: where what was computed, and exports, are kept; nil for nowhere.
    ///   - control: has done what is wished; nil where the page only shows.
    ///   - measuresImpedance: whether headsets of a model do.
    ///   - configuration: read anew for each look, as it may change; nil where there is none.
    init(
        reading: PageReading, cache: PageCache?, control: PageControl?,
        measuresImpedance: @escaping @Sendable (_ model: String) -> Bool = { _ in false },
        configuration: @escaping @Sendable () -> Configuration?
    ) {
        self.reading = reading
        self.control = control
        let allowsControl = control != nil
        now = SharedDocument(age: .milliseconds(900)) {
            try await reading.run { store in
                try PageReading.document(
                    NowFacts(
                        store: store, configuration: configuration(), allowsControl: allowsControl,
                        measuresImpedance: measuresImpedance, now: HostClock.now))
            }
        }
        recordings = SharedDocument(age: .seconds(2)) {
            try await reading.run { try PageReading.document(RecordingsFacts(recordings: try $0.recordings())) }
        }
        live = DatabaseLiveSource(reading: reading)
        pictures = SignalPictures(reading: reading, cache: cache)
        signals = SignalRoutes(reading: reading, pictures: pictures, live: live)
        exports = ExportJobs(database: reading.store.path, cache: cache)
    }

    /// Answers a request that the policy allows.
    func respond(_ request: PageRequest) async -> PageResponse {
        pictures.noteLook()
        do {
            switch PageRoute(request) {
            case .asset(let asset): return asset.response
            case .now: return .json(PageReading.timed(try await now.current()))
            case .recordings: return .json(PageReading.timed(try await recordings.current()))
            case .recording(let id):
                return .json(try await reading.run { try PageReading.document(HistoryPageFacts(id, in: $0)) })
            case .signals(let wanted, let id): return try await signals.respond(wanted, recording: id)
            case .export(let id): return try exports.job(id).map { .json(try PageReading.document($0)) } ?? PageRoute.nothing
            case .exportedFile(let id, let index): return exports.file(id, index) ?? PageRoute.nothing
            case .startExport(let wanted): return try start(wanted)
            case .control(let wish):
                guard let control else {
                    return .problem(
                        403, "The page only shows: 'control: true' stands not under 'serve:' in the configuration.")
                }
                return await control.respond(wish)
            case .study: return PageRoute.nothing
            case .refused(let response): return response
            }
        } catch {
            return PageReading.problem(error)
        }
    }

    private func start(_ wanted: PageRoute.WantedExport) throws -> PageResponse {
        guard let download = PageDownload.all.first(where: { $0.name == wanted.format }) else { return PageRoute.noFormat }
        return .json(try PageReading.document(exports.start(recording: wanted.recording, as: download)), status: 202)
    }

    /// Lets go what nobody needs any more; called once a second.
    ///
    /// - Parameter isMinute: once a minute true: what was deleted meanwhile goes here, too, where somebody has looked.
    func tidy(isMinute: Bool) async {
        await live.tidy()
        exports.tidy()
        if isMinute { await pictures.tidy() }
    }
}
