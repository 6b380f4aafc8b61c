import ArgumentParser
import Foundation
import Storage

/// `eegsync downgrade`: the way back to the database of an older version.
struct Downgrade: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Go back to the database as it was before a newer version changed it.",
        discussion: """
            A newer version that changes the schema copies the database first. After the older version was installed again, it \
            refuses the changed database (exit code 65), and this command puts the copy in its stead. Nothing is deleted: what \
            was recorded since stands in the file that is named, which the newer version reads and exports. The daemon must \
            not run. Do it as the user who owns the database, or as root.

            EXAMPLE
              sudo systemctl stop eegsync
              sudo -u eegsync eegsync downgrade
              sudo systemctl start eegsync
            """)

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withYear, .withMonth, .withDay, .withTime, .withTimeZone]
        let suffix = "-newer-" + formatter.string(from: Date())
        try DowngradeFacts(SchemaReturn(of: try options.databasePath(), suffix: suffix)).print(asJSON: output.json)
    }
}

/// What became of the two databases.
struct DowngradeFacts: Facts {
    /// The database, as it was before.
    var database: String
    /// Where that stands which was recorded since.
    var keptAside: String

    init(_ done: SchemaReturn) {
        database = done.database
        keptAside = done.newer
    }

    func lines(style: TerminalStyle) -> [String] {
        [
            style.apply(.good, to: "\(database) is again what it was before the newer version."),
            "What the newer version recorded stands in \(keptAside); that version reads it:",
            "  eegsync recordings --database \(keptAside)",
            "Go on: sudo systemctl start eegsync",
        ]
    }
}
