import Storage

/// Where the newest rows of a stream come from: the database, until there is something faster. Whatever it is, it is asked by
/// each viewer for what that one lacks, so that a slow viewer holds nothing up and nothing is kept for it.
protocol LiveSource: Sendable {
    /// The newest rows of a stream behind an n, oldest first.
    ///
    /// - Parameters:
    ///   - n: the last one that is known; nil for the beginning of what is kept.
    /// - Throws: `StorageError`.
    func rows(of stream: SignalStream, after n: Int64?) async throws -> SampleChunk
}
