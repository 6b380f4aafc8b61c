import Foundation
import Storage

/// Where the daemon offers the tap, and where its readers look for it.
enum TapLocation {
    /// Another path than the usual ones, for readers.
    static let variable = "EEGSYNC_TAP"
    /// Where the unit's daemon has it.
    private static let unitPath = "/run/eegsync/tap"

    /// Where a daemon listens: in the runtime directory that systemd gives the service (`RuntimeDirectory=`), or beside the
    /// database.
    static func path(
        of database: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        guard let directory = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first else { return socket(of: database) }
        return "\(directory)/tap"
    }

    /// Where a reader connects: beside the database where something is there, else at the unit's.
    ///
    /// - Parameter database: nil where none is named.
    static func readerPath(
        of database: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        if let named = environment[variable], !named.isEmpty { return named }
        if let database, access(socket(of: database), F_OK) == 0 { return socket(of: database) }
        return unitPath
    }

    /// Beside the database.
    private static func socket(of database: String) -> String { DatabaseFiles.resolve(database) + "-tap" }
}
