import YAMLReading

/// An option that no command has.
enum UnknownOption {
    /// A message of the argument parser, without a suggestion that has little in common with what was written: it suggests
    /// whatever differs by three letters, as `--force` for `--from`.
    static func withoutFarSuggestion(_ message: String) -> String {
        guard let found = message.firstMatch(of: /(Unknown option '-*([^']*)'\.) Did you mean '-*([^']*)'\?/),
            !Spelling.isClose(String(found.2), String(found.3))
        else { return message }
        return message.replacing(found.0, with: found.1)
    }
}
