extension Configuration {
    /// Where what is recorded is sent: what `eegsync ship` does where nothing else is said.
    struct Ship: Hashable, Sendable {
        /// The address of the centre.
        var to: String
        /// How fast; nil for as fast as the line is.
        var maxRate: ByteRate?
        /// When samples may be sent; nil for always.
        var hours: ShippingHours?
        /// Whether samples are to be at the centre within seconds, for which the daemon commits each second.
        var isLive = false
    }
}
