/// Durability and limits of an open database.
package struct StoreOptions: Hashable, Sendable {
    /// Bytes of a page of a new database; one that is there keeps its own. A transaction rewrites some 24 pages of which little
    /// changes (the ends of streams and their neighbours, small tables), whatever their size: with SQLite's 4,096 bytes a Muse
    /// wrote 96 MB an hour into the log, for rows of 42.
    static let pageSize = 1024
    /// How large the write-ahead log becomes before it is written into the database and begun anew, in bytes: the longer that
    /// takes, the fewer pages are written there more than once. SQLite's own bound is 4 MB.
    static let checkpointBytes = 8_388_608
    /// How large the write-ahead log may become, in bytes, before somebody should ask what keeps it from beginning anew. It
    /// begins anew at ``checkpointBytes`` unless a transaction is open; later it shrinks to this size again.
    package static let writeAheadLogBound: Int64 = 67_108_864

    /// True: a commit survives power loss (`synchronous=FULL`). False: power loss may cost the last commits, never the
    /// database; a killed process costs nothing in either case.
    package var isFullySynchronous: Bool
    /// How long a call waits for other processes before it throws `busy`.
    package var busyTimeoutSeconds: Double
    /// The most pages (1,024 bytes) that the file may have, for tests of a full disk; nil for SQLite's own limit.
    package var maximumPageCount: Int?
    /// False: no digests are written, so that a benchmark can say what they cost. An audit of such a database fails.
    package var keepsEvidence: Bool

    /// The file of the ``BatchSpool``; nil for none.
    package var spoolPath: String?

    /// What a change of the schema leaves free on the disk, in bytes, for what is recorded next.
    package static let freeBytesAfterSnapshot: Int64 = 200_000_000
    /// The largest database that is copied before its schema is changed, in bytes: nothing is recorded meanwhile, and a card
    /// that writes 40 MB/s takes 100 s for it.
    package static let snapshotBound: Int64 = 4_000_000_000

    /// Creates options. Five seconds are far above any commit of one second of samples, and short enough for a person.
    package init(
        isFullySynchronous: Bool = false, busyTimeoutSeconds: Double = 5, maximumPageCount: Int? = nil,
        keepsEvidence: Bool = true, spoolPath: String? = nil
    ) {
        self.spoolPath = spoolPath
        self.isFullySynchronous = isFullySynchronous
        self.busyTimeoutSeconds = busyTimeoutSeconds
        self.maximumPageCount = maximumPageCount
        self.keepsEvidence = keepsEvidence
    }
}
