import Page

/// What the page is answered that shows a study: how its machines and headsets are, and nothing else.
struct StudyRoutes: Sendable {
    private let study: SharedDocument

    /// However many look, the centre is asked no more often than this: machines speak every ten seconds.
    private static let age = Duration.seconds(4)

    /// - Parameters:
    ///   - age: how long an answer of the centre is taken for current.
    ///   - facts: asks the centre.
    init(age: Duration = StudyRoutes.age, facts: @escaping @Sendable () async throws -> FleetFacts) {
        study = SharedDocument(age: age) { try PageReading.document(StudyPageFacts(try await facts())) }
    }

    /// Answers a request that the policy allows.
    func respond(_ request: PageRequest) async -> PageResponse {
        switch PageRoute(request) {
        case .asset(let asset): return (request.path == "/" ? PageAsset.study : asset).response
        case .study:
            do {
                return .json(PageReading.timed(try await study.current()))
            } catch {
                return PageReading.problem(error)
            }
        case .refused(let response): return response
        default: return PageRoute.nothing
        }
    }
}
