extension Configuration {
    /// Where what is recorded is sent: what `eegsync ship` does where nothing else is said.
    struct Ship: Hashable, Sendable {
        /// The address of the centre.
        var to: String
    }
}
