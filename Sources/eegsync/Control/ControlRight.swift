import Glibc

/// What a person may do with a database that only the daemon's user may write. Each right is a group of the system; see
/// <doc:Rights>.
enum ControlRight: String, CaseIterable, Codable, Sendable {
    /// Wishes and marks: nothing that was recorded can be changed or removed with it.
    case record
    /// What changes or removes it for everybody: names, times, whole recordings.
    case administer

    /// The group whose members have it.
    var group: String {
        switch self {
        case .record: "eegsync-record"
        case .administer: "eegsync-admin"
        }
    }

    /// The groups that have it: who administers may record.
    var groups: [String] {
        switch self {
        case .record: [Self.record.group, Self.administer.group]
        case .administer: [Self.administer.group]
        }
    }

    /// Whether somebody has it.
    ///
    /// - Parameters:
    ///   - user: who asks.
    ///   - groups: the numbers of their groups.
    ///   - owner: the user that may write the database, who may do everything, as root may.
    ///   - number: looks up a group's number by its name.
    func isHeld(user: uid_t, groups: [gid_t], owner: uid_t, number: (String) -> gid_t? = groupNumber) -> Bool {
        if user == 0 || user == owner { return true }
        return self.groups.contains { name in number(name).map(groups.contains) ?? false }
    }

    /// What somebody is answered who lacks it.
    func refusal(_ consequence: String = "nothing was changed.") -> Failure {
        let what =
            switch self {
            case .record: "record or mark"
            case .administer: "administer recordings"
            }
        return Failure(
            problem: "this user may not \(what): that is for members of the group \(group).", consequence: consequence,
            remedy: "join it: sudo usermod -aG \(group) $USER; then log in again (or: newgrp \(group)).", code: .noPermission)
    }
}

/// The number of a group of the system; nil where there is none of the name.
func groupNumber(_ name: String) -> gid_t? {
    var entry = Glibc.group()
    var found: UnsafeMutablePointer<Glibc.group>?
    var buffer = [CChar](repeating: 0, count: 1 << 16)
    guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return entry.gr_gid
}
