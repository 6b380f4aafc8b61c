/// Why something could not be done at a centre.
package enum CentreError: Error, Hashable, Sendable {
    /// libpq, the client of PostgreSQL, is not installed.
    case noLibrary(reason: String)
    /// How the centre is reached cannot be used as it was said.
    case address(reason: String)
    /// The server cannot be reached, or does not let this role in.
    case unreachable(detail: String)
    /// The connection broke; what was under way is not there.
    case lost(detail: String)
    /// The server has refused a statement.
    ///
    /// - state: SQLSTATE, five characters (PostgreSQL 15, appendix A).
    case refused(state: String, detail: String)
    /// The database of the server is no centre, one of another version, or can be none.
    ///
    /// - remedy: what a person can do; nil where it is to bring both to one version.
    case schema(reason: String, remedy: String? = nil)
    /// What was asked for is not at the centre, or not for this role.
    case absent(what: String)
    /// The centre does not have all of it yet.
    case incomplete(detail: String)
    /// What the centre has is not what a machine has written.
    case contradiction(detail: String)

    /// Whether the role has used up what it may have at the centre (SQLSTATE `configuration_limit_exceeded`); what is recorded
    /// waits on the machine.
    package var isQuota: Bool {
        if case .refused(state: "53400", _) = self { true } else { false }
    }

    /// Who may mend it.
    package enum Disposition: Hashable, Sendable {
        /// Time may mend it.
        case retry
        /// Only a person can.
        case person
    }

    /// What is to be done about it.
    package var disposition: Disposition {
        switch self {
        case .unreachable, .lost, .incomplete: .retry
        case .noLibrary, .address, .schema, .absent, .contradiction: .person
        case .refused(let state, _):
            // Connections, serialization and deadlock, resources, locks, an operator's shutdown, the system: classes 08, 40,
            // 53, 55, 57, 58. 25006: a server that only reads, such as one that is about to take over.
            ["08", "25006", "40", "53", "55", "57", "58"].contains { state.hasPrefix($0) } ? .retry : .person
        }
    }
}

extension CentreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noLibrary(let reason): "libpq, the client of PostgreSQL, is not there: \(reason)"
        case .address(let reason): reason
        case .unreachable(let detail): "the centre cannot be reached: \(detail)"
        case .lost(let detail): "the connection to the centre broke: \(detail)"
        case .refused(_, let detail) where isQuota:
            "the centre takes no more of this machine until an administrator gives it more "
                + "(eegsync centre enrol with --quota): \(detail)"
        case .refused(let state, let detail): "the centre refused it: \(detail) (SQLSTATE \(state))"
        case .schema(let reason, _): reason
        case .absent(let what): "the centre has no \(what), or this role may not read it"
        case .incomplete(let detail): "the centre does not have all of it yet: \(detail)"
        case .contradiction(let detail): "what the centre has is not what was recorded: \(detail)"
        }
    }
}
