import YAMLReading

/// Why there is no configuration.
enum ConfigurationError: Error, Hashable, Sendable {
    /// The file cannot be read.
    case unreadable(file: String, reason: String)
    /// The file is not YAML, or says things that it may not say.
    case wrong(file: String, YAMLDocumentError)
    /// No database is named anywhere.
    case noDatabase(file: String)
}
