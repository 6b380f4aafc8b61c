import Foundation

/// How facts look to whoever reads them: colours where somebody is there to see them, the room, and the clock of times.
struct TerminalStyle: Hashable, Sendable {
    /// What a piece of text is, not how it looks.
    enum Style: String, Hashable, Sendable {
        case heading, good, caution, bad, faint

        /// The SGR parameter (ECMA-48, 8.3.117).
        fileprivate var parameter: String {
            switch self {
            case .heading: "1"
            case .good: "32"
            case .caution: "33"
            case .bad: "31"
            case .faint: "2"
            }
        }
    }

    /// True where styles become escape sequences.
    let isEnabled: Bool
    /// How wide a line may be; nil for any width, as in files and pipes.
    var columns: Int?
    /// By which times are written.
    var clock = WallClock.utc

    /// A style for text that goes into files and pipes, with times in UTC.
    static let plain = TerminalStyle(isEnabled: false)

    /// The style for a stream of this process: colours only on a terminal that understands them, and never where `NO_COLOR` is
    /// set to anything (https://no-color.org).
    static func detected(
        for descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> TerminalStyle {
        var style = detected(isTerminal: isatty(descriptor) == 1, environment: environment)
        style.columns = TerminalSize.columns(of: descriptor)
        style.clock = .local
        return style
    }

    /// The rule behind ``detected(for:environment:)``.
    static func detected(isTerminal: Bool, environment: [String: String]) -> TerminalStyle {
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return TerminalStyle(isEnabled: isTerminal && !isRefused && environment["TERM"] != "dumb")
    }

    /// The text in a style, or as it is.
    func apply(_ style: Style, to text: String) -> String {
        isEnabled ? "\u{1B}[\(style.parameter)m\(text)\u{1B}[0m" : text
    }
}
