import Bluetooth

/// Discovers what a server has (Core Specification, Vol 3, Part G, 4.4 to 4.7), in as few round trips as the protocol allows:
/// each kind of declaration is searched for over all handles, not service by service.
///
/// What is found last is the Database Hash, so that it is not older than the rest.
struct DatabaseDiscovery: GATTProcedure {
    /// Where the discovery stands. Handles are those from which the search goes on.
    private enum Stage: Hashable {
        case services(from: AttributeHandle)
        case includes(from: AttributeHandle)
        /// The UUID of an included service that is not among the primary ones, and whose declaration did not hold it.
        case includedService(HandleRange)
        case characteristics(from: AttributeHandle)
        case configurations(from: AttributeHandle)
        case descriptors(HandleRange)
        case hash
    }

    /// No server has more of one kind; one that goes on for ever is not followed.
    private static let entryLimit = 4096

    let search: DescriptorSearch
    private var stage = Stage.services(from: .first)
    private var draft = HandleMapDraft()
    /// Handles between which descriptors are still searched for, in descending order: the next one is the last.
    private var gaps: [HandleRange] = []

    init(search: DescriptorSearch) {
        self.search = search
    }

    mutating func begin(mtu: AttributeMTU) -> GATTStep { request() }

    mutating func answered(_ response: AttributePDU, mtu: AttributeMTU) -> GATTStep {
        let end: AttributeHandle?
        switch (stage, response) {
        case (.services(let from), .readByGroupTypeResponse(let groups)): end = draft.addServices(groups, from: from)
        case (.includes(let from), .readByTypeResponse(let values)): end = draft.addIncludes(values, from: from)
        case (.includedService(let range), .readResponse(let value)):
            end = draft.addSecondaryService(range, value) ? .last : nil
        case (.characteristics(let from), .readByTypeResponse(let values)):
            end = draft.addCharacteristics(values, from: from)
        case (.configurations(let from), .readByTypeResponse(let values)):
            end = draft.addConfigurations(values, from: from)
        case (.descriptors(let range), .findInformationResponse(let entries)):
            end = draft.addDescriptors(entries, in: range)
        case (.hash, .readResponse(let value)):
            draft.setHash(value)
            end = .last
        default: end = nil
        }
        guard let end, draft.count <= Self.entryLimit else { return .failed(.senselessResponse) }
        return goOn(after: end)
    }

    mutating func refused(_ error: ATTError, _ handle: AttributeHandle, mtu: AttributeMTU) -> GATTStep {
        switch stage {
        case .services, .characteristics, .descriptors:
            // The end of a search (Part G, 4.4.1). Everything else hides attributes that are there.
            guard error == .attributeNotFound else { return .failed(.refused(error, handle)) }
        case .configurations:
            if error != .attributeNotFound { draft.forgetConfigurations() }
        case .includes, .includedService, .hash: break  // Nothing that a headset needs depends on them.
        }
        return goOn(after: .last)
    }

    /// The next request, after everything up to a handle was listed.
    private mutating func goOn(after end: AttributeHandle) -> GATTStep {
        switch (stage, end.next) {
        case (.services, let next?): stage = .services(from: next)
        case (.services, nil): stage = .includes(from: .first)
        case (.includes, let next?): stage = .includes(from: next)
        case (.includes, nil), (.includedService, _): stage = includedServiceOrCharacteristics()
        case (.characteristics, let next?) where next <= draft.lastHandle: stage = .characteristics(from: next)
        case (.characteristics, _): return beginDescriptors()
        case (.configurations, let next?) where next <= draft.lastHandle: stage = .configurations(from: next)
        case (.configurations, _):
            gaps = draft.gaps(all: false).reversed()
            return nextGap()
        case (.descriptors(let range), let next?) where next <= range.end:
            stage = .descriptors(HandleRange(next, range.end))
        case (.descriptors, _): return nextGap()
        case (.hash, _): return .done(.map(draft.map))
        }
        return request()
    }

    private mutating func includedServiceOrCharacteristics() -> Stage {
        draft.nextUnnamedInclude().map { .includedService($0) } ?? .characteristics(from: .first)
    }

    private mutating func beginDescriptors() -> GATTStep {
        if search == .configurations, !draft.gaps(all: false).isEmpty {
            stage = .configurations(from: .first)
            return request()
        }
        gaps = draft.gaps(all: search == .all).reversed()
        return nextGap()
    }

    private mutating func nextGap() -> GATTStep {
        if let gap = gaps.popLast() {
            stage = .descriptors(gap)
            return request()
        }
        guard draft.hashHandle != nil else { return .done(.map(draft.map)) }
        stage = .hash
        return request()
    }

    private func request() -> GATTStep {
        switch stage {
        case .services(let from): .request(.readByGroupTypeRequest(HandleRange(from, .last), type: .primaryService))
        case .includes(let from): .request(.readByTypeRequest(HandleRange(from, .last), type: .include))
        case .includedService(let range): .request(.readRequest(range.start))
        case .characteristics(let from): .request(.readByTypeRequest(HandleRange(from, .last), type: .characteristic))
        case .configurations(let from):
            .request(.readByTypeRequest(HandleRange(from, .last), type: .clientCharacteristicConfiguration))
        case .descriptors(let range): .request(.findInformationRequest(range))
        case .hash: draft.hashHandle.map { .request(.readRequest($0)) } ?? .done(.map(draft.map))
        }
    }
}
