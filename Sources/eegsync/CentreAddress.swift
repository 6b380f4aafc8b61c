import Foundation

/// Where the centre is.
enum CentreAddress {
    /// The address that a command states, or else the environment, or else the configuration.
    static func stated(
        _ option: String?, environment: [String: String] = ProcessInfo.processInfo.environment, configured: String? = nil
    ) throws(Failure) -> String {
        if let option, !option.isEmpty { return option }
        if let named = environment["EEGSYNC_CENTRE"], !named.isEmpty { return named }
        if let configured { return configured }
        throw Failure(
            problem: "nobody says where the centre is.", consequence: "nothing was done.",
            remedy: "state it: postgresql://ROLE@HOST/DATABASE, or set EEGSYNC_CENTRE; for `eegsync ship` also "
                + "'ship: {to: ...}' in the configuration.", code: .usage)
    }
}
