import Foundation

/// What a command asks of the control service: to be run with the right to write the database. One JSON document, with which
/// standard input, output and error come, and the file that the command names, if any.
struct ControlRequest: Codable, Hashable {
    /// Where the service listens: systemd, for the unit eegsync-control.socket.
    static let defaultSocket = "/run/eegsync-control"
    /// The most bytes of a request; more than any command line that a person writes.
    static let sizeMaximum = 65_536
    /// The most arguments.
    private static let argumentCountMaximum = 256
    /// What a command knows of the terminal and the habits of its user. The service runs it without anything else.
    private static let variables = ["TERM", "COLUMNS", "LINES", "NO_COLOR", "TZ", "LANG", "LC_ALL"]

    /// The command line, without the options that say which database.
    var arguments: [String]
    var environment: [String: String]
    /// The database that is meant.
    var database: String
    /// Whether a file comes with it.
    var hasFile: Bool

    init(arguments: [String], environment: [String: String], database: String, hasFile: Bool) {
        self.arguments = Self.withoutDatabase(arguments)
        self.environment = environment.filter { Self.variables.contains($0.key) && Self.isHarmless($0.value) }
        self.database = database
        self.hasFile = hasFile
    }

    /// What is wrong with a request that somebody else has written; nil for nothing.
    var problem: String? {
        if arguments.count > Self.argumentCountMaximum { return "it has \(arguments.count) arguments" }
        if arguments.contains(where: { $0.utf8.contains(0) }) { return "an argument holds a zero byte" }
        if let name = environment.keys.sorted().first(where: { !Self.variables.contains($0) }) { return "it sets \(name)" }
        if let name = environment.sorted(by: { $0.key < $1.key }).first(where: { !Self.isHarmless($0.value) })?.key {
            return "the value of \(name) is none that is passed on"
        }
        return nil
    }

    /// No path, which a library might open.
    private static func isHarmless(_ value: String) -> Bool {
        value.utf8.count <= 64 && !value.hasPrefix("/") && !value.hasPrefix(":") && !value.contains("..")
            && value.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }

    /// The service has its own configuration.
    private static func withoutDatabase(_ arguments: [String]) -> [String] {
        var kept: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return kept + [argument] + rest }
            if ["--config", "--database"].contains(argument) {
                _ = rest.popFirst()
            } else if !argument.hasPrefix("--config=") && !argument.hasPrefix("--database=") {
                kept.append(argument)
            }
        }
        return kept
    }
}
