import Foundation
import Storage

/// Where the daemon keeps what is in no transaction yet.
enum SpoolLocation {
    /// In the runtime directory that systemd gives the service (`RuntimeDirectory=`), which lies in memory, or beside the
    /// database.
    ///
    /// - Parameter environment: of the process.
    static func path(
        of database: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        let database = DatabaseFiles.resolve(database)
        guard let directory = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first else { return database + "-spool" }
        // One for each database, whose path may be longer than a name.
        let hash = database.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\(directory)/spool-\(String(hash, radix: 16))"
    }
}
