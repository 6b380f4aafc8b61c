/// What a stream is called wherever its rows are: in copies of its database, and in databases of many machines.
package struct StreamIdentity: Hashable, Sendable {
    /// A UUID as text (RFC 9562).
    package let uuid: String

    /// An identity that was stored.
    package init(uuid: String) {
        self.uuid = uuid
    }

    /// The identity of a new stream: a UUID of version 8 (RFC 9562, 5.8), made of a digest of what no two streams share.
    ///
    /// - Parameters:
    ///   - hostBoot: the kernel's random identifier of the boot in which the recording was asked for.
    ///   - requested: when that was, in nanoseconds of that boot.
    ///   - recording: the recording's key in the database that was written first.
    ///   - stream: the stream's key there.
    package init(hostBoot: String, requested: Int64, recording: Int64, stream: Int64) {
        self.init(digest: Digest(of: "eegsync stream\n\(hostBoot)\n\(requested)\n\(recording)\n\(stream)\n"))
    }

    /// The identity of a new stream of a recording that has a UUID. Replays and simulations have boots that are no machine's,
    /// and the same ones everywhere: with them for an origin, streams of two machines would have one name.
    ///
    /// - Parameters:
    ///   - recording: the recording's UUID.
    ///   - stream: the stream's key in the database that was written first.
    package init(recording: String, stream: Int64) {
        self.init(digest: Digest(of: "eegsync stream\n\(recording)\n\(stream)\n"))
    }

    private init(digest: Digest) {
        uuid = digest.uuid
    }

    /// What the first block of a chain has for a block before: SHA-256 of the UUID and the chain's name, each with a line's
    /// end.
    package func genesis(of chain: Chain) -> Digest {
        Digest(of: "\(uuid)\n\(chain.rawValue)\n")
    }
}

/// A stream's blocks form two chains, so that what comes late changes no block that was closed.
package enum Chain: String, Hashable, Sendable, CaseIterable {
    /// Rows whose n is beyond every row before: a block holds all rows from its first to its last n, but for those of the late
    /// chain.
    case live
    /// Rows, or values of one channel, that came behind later ones: a block holds consecutive ones.
    case late
}
