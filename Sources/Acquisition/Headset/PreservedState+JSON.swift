import Bluetooth
import Foundation
import Reconnection

/// The form of a preserved state in the database: one JSON document, readable with SQLite's JSON functions.
extension PreservedState {
    private struct Document: Codable {
        var peripheral: String?
        var unproven: String?
    }

    /// The JSON document.
    var json: String {
        let document = Document(peripheral: peripheral?.description, unproven: unproven?.description)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The document holds only strings: JSON can always express it.
        return (try? encoder.encode(document)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Reads a document, of which an earlier version may have written more; nil where it is none.
    init?(json: String) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(json.utf8)) else { return nil }
        self.init(
            peripheral: document.peripheral.flatMap { PeripheralIdentifier($0) },
            unproven: document.unproven.flatMap { PeripheralIdentifier($0) })
    }
}
