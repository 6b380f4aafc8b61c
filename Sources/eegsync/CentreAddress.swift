import Foundation

/// Where the centre is.
enum CentreAddress {
    /// The address that a command states, or else the environment.
    static func stated(
        _ option: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(Failure) -> String {
        if let option, !option.isEmpty { return option }
        if let named = environment["EEGSYNC_CENTRE"], !named.isEmpty { return named }
        throw Failure(
            problem: "nobody says where the centre is.", consequence: "nothing was done.",
            remedy: "state it: postgresql://ROLE@HOST/DATABASE, or set EEGSYNC_CENTRE.", code: .usage)
    }
}
