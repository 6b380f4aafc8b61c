import Foundation

/// A JSON file beside an exported one. Its keys are written as those of `--json`: `first_n`.
protocol SidecarDocument: Codable {}

extension SidecarDocument {
    /// The document as it stands in the file.
    var bytes: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        }
    }
}
