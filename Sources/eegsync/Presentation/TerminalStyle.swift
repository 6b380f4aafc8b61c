import Foundation

/// Colours, where somebody is there to see them.
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

    /// A style for text that goes into files and pipes.
    static let plain = TerminalStyle(isEnabled: false)

    /// The style for a stream of this process: colours only on a terminal that understands them, and never where `NO_COLOR` is
    /// set to anything (https://no-color.org).
    static func detected(
        for descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> TerminalStyle {
        detected(isTerminal: isatty(descriptor) == 1, environment: environment)
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
