/// Why there is no configuration.
enum ConfigurationError: Error, Hashable, Sendable {
    /// The file cannot be read.
    case unreadable(file: String, reason: String)
    /// The file is not YAML.
    case malformed(file: String, line: Int?, reason: String)
    /// The file says things that it may not say: all of them, in the order of the file.
    case invalid(file: String, problems: [Problem])
    /// No database is named anywhere.
    case noDatabase(file: String)

    /// One thing that is wrong in the file.
    struct Problem: Hashable, Sendable {
        /// The line of the file, from 1; nil where something is missing from the top level.
        var line: Int?
        /// The place in words of keys, such as `headsets[1].model`.
        var path: String
        /// What is wrong.
        var why: String
        /// What may stand there.
        var allowed: String
    }
}

extension ConfigurationError.Problem: CustomStringConvertible {
    /// `line 4: headsets[0].model: 'muse9' is no model of this version (allowed: buffered-eeg, ganglion, muse ...)`.
    var description: String {
        let place = line.map { "line \($0): " } ?? ""
        return "\(place)\(path): \(why) (allowed: \(allowed))"
    }
}
