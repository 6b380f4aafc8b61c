import Foundation
import Page
import Storage

/// What the page is answered, by path.
struct PageRoutes: Sendable {
    let reading: PageReading
    let now: NowDocument

    /// - Parameter configuration: read anew for each look, as it may change; nil where there is none.
    init(reading: PageReading, settings: Configuration.Serve, configuration: @escaping @Sendable () -> Configuration?) {
        self.reading = reading
        now = NowDocument(reading: reading, allowsControl: settings.allowsControl, configuration: configuration)
    }

    /// Answers a request that the policy allows.
    func respond(_ request: PageRequest) async -> PageResponse {
        do {
            if request.method == "GET", let asset = PageAsset.all[request.path] { return asset.response }
            switch (request.method, request.path) {
            case ("GET", "/api/now"): return .json(try await now.current())
            default: return .problem(404, "There is nothing at this address.")
            }
        } catch {
            return PageReading.problem(error)
        }
    }
}

/// What is shown of now. However many look at it, it is computed once a second.
actor NowDocument {
    /// How long it is taken for now.
    static let age = Duration.milliseconds(900)

    private let reading: PageReading
    private let allowsControl: Bool
    private let configuration: @Sendable () -> Configuration?
    private var task: (began: ContinuousClock.Instant, document: Task<Data, any Error>)?

    init(reading: PageReading, allowsControl: Bool, configuration: @escaping @Sendable () -> Configuration?) {
        self.reading = reading
        self.allowsControl = allowsControl
        self.configuration = configuration
    }

    /// The document, at most ``age`` old.
    func current(at instant: ContinuousClock.Instant = .now) async throws -> Data {
        if let task, instant - task.began < Self.age { return try await task.document.value }
        let (reading, allowsControl, configuration) = (reading, allowsControl, configuration)
        let document = Task {
            try await reading.run { store in
                try PageReading.document(
                    NowFacts(
                        store: store, configuration: configuration(), allowsControl: allowsControl, now: HostClock.now))
            }
        }
        task = (instant, document)
        return try await document.value
    }
}
