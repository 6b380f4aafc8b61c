extension Configuration {
    /// How the page is served; what `eegsync serve` does.
    struct Serve: Hashable, Sendable {
        /// The port of this machine's loopback, 1 ... 65,535.
        var port: UInt16 = 8580
        /// Whether the page has buttons to record, to stop and to mark.
        var allowsControl = false
        /// Names under which a reverse proxy of this machine passes the page on.
        var hosts: [String] = []

        static let addressHint =
            "allowed is this machine's loopback, as the page has no password: leave it out, and let a reverse proxy with TLS "
            + "and "
            + "passwords pass the page on (page Serve)"
    }
}
