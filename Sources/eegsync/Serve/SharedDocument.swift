import Foundation

/// A document that is the same for everybody who looks. However many do, it is computed once in a while.
actor SharedDocument {
    private let age: Duration
    private let body: @Sendable () async throws -> Data
    private var latest: (began: ContinuousClock.Instant, document: Task<Data, any Error>)?

    /// - Parameters:
    ///   - age: how long it is taken for current.
    ///   - body: computes it.
    init(age: Duration, _ body: @escaping @Sendable () async throws -> Data) {
        self.age = age
        self.body = body
    }

    /// The document, about as old as is allowed.
    func current(at instant: ContinuousClock.Instant = .now) async throws -> Data {
        if let latest, instant - latest.began < age { return try await latest.document.value }
        let body = body
        let document = Task { try await body() }
        latest = (instant, document)
        return try await document.value
    }
}
