package import Bluetooth

/// Why the Service Discovery Protocol did not say where a service is.
package enum ServiceDiscoveryError: Error, Hashable, Sendable {
    /// A packet or an element announces more bytes than there are.
    case truncated
    /// Sequences within sequences, beyond what any record needs.
    case nestedTooDeeply
    /// An element or a packet that the specification does not know.
    case malformed
    /// The answer belongs to another request.
    case wrongTransaction
    /// The answer has more parts, or more bytes, than any list of services needs.
    case endless
    /// The peripheral refused; the code of its Error Response (Vol 3, Part B, 4.4.1).
    case refused(code: UInt16)
    /// The peripheral has no such service.
    case noSuchService

    /// A confused answer may be a better one the next time.
    package var disposition: Disposition { .retry }
}

extension ServiceDiscoveryError: CustomStringConvertible {
    /// What was wrong, in words for a person.
    package var description: String {
        switch self {
        case .truncated: "the list of its services breaks off"
        case .nestedTooDeeply: "the list of its services is nested too deeply"
        case .malformed: "the list of its services cannot be read"
        case .wrongTransaction: "it answered another question than the one about its services"
        case .endless: "the list of its services has no end"
        case .refused(let code): "it refused to list its services (error \(code))"
        case .noSuchService: "it offers no serial port"
        }
    }
}
