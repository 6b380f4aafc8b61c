import Bluetooth
import Glibc
import Headsets

/// What a scan found.
struct ScanFacts: Facts {
    /// A headset in range.
    struct Headset: Encodable, Hashable {
        var model: String
        var modelName: String
        /// The local name that it advertises.
        var name: String?
        var address: String
        var addressType: String
        /// Smoothed signal strength; nil where it could not be measured, and for a connected headset.
        var rssiDbm: Int?
        var mode: Mode
        /// The name under which it is recorded; nil for a new one.
        var knownAs: String?
        /// How many advertisements were seen.
        var advertisements: Int
    }

    /// How a headset shows itself.
    enum Mode: String, Encodable {
        /// It advertises and may be connected to.
        case normal
        /// It advertises for pairing.
        case pairing
        /// It is connected to this machine, and so does not advertise.
        case connected
    }

    /// Another device in range.
    struct Other: Encodable, Hashable {
        var name: String?
        var address: String
        var addressType: String
        var rssiDbm: Int?
        var services: [String]
        var advertisements: Int
    }

    var seconds: Double
    var headsets: [Headset]
    /// Nil where nobody asked for them.
    var others: [Other]?

    /// A headset that was recorded before or is configured.
    struct Known: Hashable {
        var identifier: PeripheralIdentifier
        var name: String
        var model: String
    }

    /// - Parameters:
    ///   - connected: what is connected to this machine now; only known headsets of it are listed.
    ///   - listsOthers: whether devices that are no headsets are wanted.
    ///   - profiles: the models that can be named.
    ///   - ranksBySignal: the strongest first; false keeps the order in which they appeared, so that a live table stands still.
    init(
        _ sightings: ScanSightings, known: [Known], connected: [PeripheralIdentifier], elapsed: Duration, listsOthers: Bool,
        ranksBySignal: Bool, profiles: [any HeadsetProfile] = HeadsetCatalog.builtIn.profiles
    ) {
        seconds = (elapsed.inSeconds * 10).rounded() / 10
        let seen = ranksBySignal ? sightings.sightings.sorted { $0.signal ?? -128 > $1.signal ?? -128 } : sightings.sightings
        headsets = seen.compactMap { sighting in
            guard let profile = sighting.profile else { return nil }
            return Headset(
                model: profile.model, modelName: profile.displayName, name: sighting.localName,
                address: sighting.identifier.addressDescription, addressType: sighting.identifier.addressType.rawValue,
                rssiDbm: sighting.rssi, mode: sighting.isPairing ? .pairing : .normal,
                knownAs: known.first { $0.identifier == sighting.identifier }?.name, advertisements: sighting.count)
        }
        headsets += known.compactMap { headset in
            guard connected.contains(headset.identifier), !seen.contains(where: { $0.identifier == headset.identifier })
            else { return nil }
            let profile = profiles.first { $0.model == headset.model }
            return Headset(
                model: headset.model, modelName: profile?.displayName ?? headset.model,
                address: headset.identifier.addressDescription, addressType: headset.identifier.addressType.rawValue,
                mode: .connected, knownAs: headset.name, advertisements: 0)
        }
        guard listsOthers else { return }
        others = seen.filter { $0.profile == nil }.map { sighting in
            Other(
                name: sighting.localName, address: sighting.identifier.addressDescription,
                addressType: sighting.identifier.addressType.rawValue, rssiDbm: sighting.rssi,
                services: sighting.services.map(\.description), advertisements: sighting.count)
        }
    }
}

extension ScanSightings.Sighting {
    /// The signal strength in whole dBm; nil where no advertisement had one.
    fileprivate var rssi: Int? { signal.map { Int($0.rounded()) } }
}

extension ScanFacts {
    func lines(style: TerminalStyle) -> [String] {
        let none = [
            "No headset is in range.",
            style.apply(.faint, to: "A headset advertises only while it is switched on and connected to nothing."),
        ]
        return lines(without: none, style: style)
    }

    /// - Parameter columns: how wide a line should be; nil for any width.
    func lines(
        without none: [String], style: TerminalStyle, columns: Int? = nil
    ) -> [String] {
        var lines = headsets.isEmpty ? none : headsetTable.rendered(style: style, columns: columns)
        if let others, !others.isEmpty {
            lines.append("")
            lines += Self.otherTable(others).rendered(style: style, columns: columns)
        }
        return lines
    }

    /// The lines while the scan still runs.
    func liveLines(total: Duration, style: TerminalStyle) -> [String] {
        let progress = "Scanning, \(Quantity.count(Int64(seconds))) of \(Quantity.count(Int64(total.inSeconds))) s"
        return [style.apply(.faint, to: progress + " (Ctrl-C ends it)")] + lines(without: ["No headset yet."], style: style)
    }

    /// What a narrow terminal cuts off stands last.
    private var headsetTable: TextTable {
        var table = TextTable([
            .init(heading: "SIGNAL"), .init(heading: "HEADSET", wraps: true), .init(heading: "NAME", wraps: true),
            .init(heading: "KNOWN AS", wraps: true),
            .init(heading: "MODE"), .init(heading: "ADDRESS"),
        ])
        for headset in headsets {
            table.append([
                Self.signal(headset.rssiDbm), .init(headset.modelName), .init(headset.name ?? ""),
                headset.knownAs.map { .init($0, .good) } ?? .init("new", .faint),
                .init(headset.mode.rawValue, headset.mode == .normal ? nil : .caution),
                .init("\(headset.address)/\(headset.addressType)"),
            ])
        }
        return table
    }

    private static func otherTable(_ others: [Other]) -> TextTable {
        var table = TextTable([
            .init(heading: "SIGNAL"), .init(heading: "OTHER DEVICE", wraps: true), .init(heading: "ADDRESS"),
            .init(heading: "SERVICES", wraps: true),
        ])
        for other in others {
            table.append([
                Self.signal(other.rssiDbm), .init(other.name ?? "(no name)", other.name == nil ? .faint : nil),
                .init("\(other.address)/\(other.addressType)"), .init(other.services.joined(separator: " "), .faint),
            ])
        }
        return table
    }

    /// Four steps of bars, from what is hardly heard to what lies on the table, and the number.
    static func signal(_ rssi: Int?) -> TextTable.Cell {
        guard let rssi else { return .init("") }
        let (bars, look): (String, TerminalStyle.Style) =
            switch rssi {
            case (-60)...: ("▂▄▆█", .good)
            case (-72)...: ("▂▄▆ ", .good)
            case (-84)...: ("▂▄  ", .caution)
            default: ("▂   ", .bad)
            }
        return .init("\(bars) \(String(repeating: " ", count: max(0, 4 - "\(rssi)".count)))\(rssi) dBm", look)
    }
}
