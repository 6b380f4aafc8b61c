/// Why a database cannot be merged into another one. Nothing was changed, but for recordings that were merged before.
package enum MergeError: Error, Hashable, Sendable {
    /// Both names are of one file.
    case sameDatabase(path: String)
    /// An older version of eegsync has written it, and no copy of it was made that could be brought up to date
    /// (``OlderDatabase``): it cannot be read without a trace.
    case olderSchema(path: String)
    /// A table of the file is not as this program makes it; what stands in it may mean anything.
    case foreignSchema(path: String, detail: String)
    /// SQLite finds the file damaged.
    case damaged(path: String, detail: String)
    /// The file contradicts the evidence that was stored with its rows.
    case auditFails(path: String, findings: [String])
    /// A recording that both have goes on here.
    case goesOn(recording: Int64)
    /// What a recording of the file says does not go with what stands here, or with itself.
    case contradiction(path: String, recording: String, detail: String)
}
