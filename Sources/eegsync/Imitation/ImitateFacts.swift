import Simulation

/// What an imitation came to.
struct ImitateFacts: Facts {
    /// How often a fault befell the headset.
    struct FaultCount: Encodable, Hashable {
        var fault: String
        var count: Int
    }

    var model: String
    /// The number of the recording that it played.
    var recording: Int64?
    /// The local name that it advertised.
    var name: String
    var serial: String?
    var adapter: String?
    var address: String?
    var seconds: Double
    var connections: Int
    var notifications: Int
    /// Notifications that the central's MTU was too small for.
    var tooLong: Int
    /// Notifications that bluetoothd did not take fast enough.
    var dropped: Int
    var faults: [FaultCount]
    /// The file with what was measured, and its rows.
    var played: String?
    var rows: Int?

    func lines(style: TerminalStyle) -> [String] {
        var lines = [
            "\(name) was there for \(Quantity.duration(seconds: seconds)): "
                + "\(Quantity.count(Int64(connections), "connection")), "
                + "\(Quantity.count(Int64(notifications), "notification")) sent."
        ]
        if tooLong > 0 { lines.append("\(Quantity.count(Int64(tooLong))) were too long for the central's MTU.") }
        if dropped > 0 { lines.append("\(Quantity.count(Int64(dropped))) were dropped: bluetoothd took them too slowly.") }
        let counts = faults.map { "\($0.count) x \($0.fault)" }.joined(separator: ", ")
        if !faults.isEmpty { lines.append("Faults: \(counts).") }
        if let played, let rows { lines.append("\(played): \(Quantity.count(Int64(rows), "row")) of what it measured.") }
        return lines
    }
}
