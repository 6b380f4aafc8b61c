import CBuild

/// Which build of the program this is: its version, and the commit where the build says it.
///
/// Deploy/build gives releases their commit through Package.swift; a plain `swift build` does not know it, so that it need not
/// link anew after each commit.
struct BuildIdentity: Hashable {
    /// Version of the program, such as `0.1.0`.
    var version: String
    /// Abbreviated commit, with `-changed` where the checkout differed from it; nil where it is not known.
    var commit: String?
    /// Day of the commit in UTC, such as `2026-11-24`.
    var date: String?

    /// - Parameter stamp: what the build says: nothing, or the commit and its date with a space between them.
    init(version: String, stamp: String) {
        self.version = version
        let parts = stamp.split(separator: " ")
        if parts.count == 2 {
            commit = String(parts[0])
            date = String(parts[1])
        }
    }

    /// This one's.
    static let own = BuildIdentity(version: Eegsync.number, stamp: String(cString: cbuild_commit()))

    /// What `--version` prints: `eegsync 0.1.0 (81b5017, 2026-11-24)`.
    var description: String {
        guard let commit, let date else { return "eegsync \(version) (development build)" }
        return "eegsync \(version) (\(commit), \(date))"
    }

    /// What stands beside data that it wrote: `0.1.0+81b5017`, as Semantic Versioning 2.0.0 writes a build.
    var provenance: String {
        commit.map { "\(version)+\($0)" } ?? version
    }
}
