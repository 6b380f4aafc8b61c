import Headsets
import Storage

/// The streams of a recording, each under its name, with the banks of a wide one beside each other.
struct DialectStreams {
    let dialect: TableDialect
    let headset: String
    let hasAnnotations: Bool
    let joined: [JoinedStream]

    init(_ parts: [StreamPart], dialect: TableDialect, of contents: RecordingContents) throws {
        self.dialect = dialect
        headset = contents.headsetName
        hasAnnotations = !contents.annotations.isEmpty
        joined = try JoinedStream.join(parts)
    }

    /// The stream of a name; nil where none was chosen.
    ///
    /// - Throws: `notRepresentable` where the headset described it anew, so that its rows do not fit one table, and where it
    ///   has no times.
    subscript(name: String) -> JoinedStream? {
        get throws {
            let found = joined.filter { $0.name == name }
            guard found.count < 2 else {
                throw ExportError.notRepresentable(
                    what: "The stream \(name)", reason: "the headset changed its channels while it was recorded",
                    advice: "Choose a part with --from and --to, or leave --dialect out.")
            }
            guard let stream = found.first else { return nil }
            guard !stream.clock.segments.isEmpty else {
                throw ExportError.notRepresentable(
                    what: "The stream \(name)",
                    reason: "its samples have no times yet, and a table of \(dialect.tool) needs them",
                    advice: "Leave --dialect out.")
            }
            return stream
        }
    }

    /// What is thrown of a headset that the tool does not record.
    func refusal(of model: String, only headsets: String) -> ExportError {
        let others = TableDialect.allCases.filter { $0 != dialect }.map(\.rawValue).joined(separator: ", ")
        return .notRepresentable(
            what: "A recording of the model \(model)", reason: "\(dialect.tool) records \(headsets) only",
            advice: "Leave --dialect out for eegsync's own table, or try another one (\(others)).")
    }

    /// What is thrown where none of the streams that have a table was chosen.
    var nothingChosen: ExportError {
        .notRepresentable(
            what: "What was chosen", reason: "none of its streams has a table of \(dialect.tool)",
            advice: "Choose the stream eeg, or leave --dialect out.")
    }
}
