import Bluetooth
import Foundation
import Reconnection

/// The form of a preserved state in the database: one JSON document, readable with SQLite's JSON functions.
extension PreservedState {
    private struct Document: Codable {
        var state: String
        var peripheral: String?
        var unproven: String?
        var isConnected: Bool
        var subscribed: [String]
        var scanServices: [String]?
        var bootIdentifier: UInt32?
    }

    /// The JSON document.
    var json: String {
        let document = Document(
            state: state, peripheral: peripheral?.description, unproven: unproven?.description, isConnected: isConnected,
            subscribed: subscribed.map(\.description), scanServices: scanFilter?.serviceUUIDs.map(\.description),
            bootIdentifier: bootIdentifier)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The document holds only strings, booleans and integers: JSON can always express it.
        return (try? encoder.encode(document)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Reads a document; nil where it is none.
    init?(json: String) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(json.utf8)) else { return nil }
        self.init(
            state: document.state, peripheral: document.peripheral.flatMap { PeripheralIdentifier($0) },
            unproven: document.unproven.flatMap { PeripheralIdentifier($0) }, isConnected: document.isConnected,
            subscribed: document.subscribed.compactMap { BluetoothUUID($0) },
            scanFilter: document.scanServices.map { ScanFilter(serviceUUIDs: $0.compactMap { BluetoothUUID($0) }) },
            bootIdentifier: document.bootIdentifier)
    }
}
