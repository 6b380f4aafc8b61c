import Headsets
import Storage

/// What is known of the channels of an EEG file, and of their electrodes.
struct BIDSElectrodes {
    /// One channel of the file.
    struct Channel {
        var name: String
        var type: String
        var unit: String
        var samplingFrequency: Double
        /// Nil where the signal was not checked.
        var isGood: Bool?
        /// What the checks found, in words; nil where nothing is wrong.
        var findings: String?
    }

    /// In the order of the file.
    var channels: [Channel] = []
    /// The mains frequency where the checks show one: nil where both are weak, or alike.
    var mainsFrequency: Double?

    /// A channel is bad where more than half of what was looked at was not good.
    private static let badShare = 0.5
    /// A mean amplitude that shows the mains, in microvolts, and how much stronger than the other frequency it must be.
    private static let mainsMicrovolts = 1.0
    private static let mainsRatio = 3.0

    init(_ parts: [StreamPart], store: any Store) throws {
        var hum = (fifty: 0.0, sixty: 0.0)
        var names: [String] = []
        for part in parts {
            let verdicts = try store.signalVerdicts(of: part.stream.id, in: part.range)
            for (index, description) in part.stream.description.channels.enumerated() {
                let own = verdicts.filter { $0.channel == index + 1 }
                var channel = Channel(
                    name: Self.unique(description.name, among: names), type: description.type, unit: description.unit,
                    samplingFrequency: part.stream.description.samplingFrequency)
                names.append(channel.name)
                let total = own.reduce(0) { $0 + $1.sampleCount }
                if total > 0 {
                    let bad = own.filter { $0.condition != .good }.sorted { $0.sampleCount > $1.sampleCount }
                    channel.isGood = Double(bad.reduce(0) { $0 + $1.sampleCount }) <= Self.badShare * Double(total)
                    let words = bad.map { "\($0.condition.rawValue) \(Self.percent($0.sampleCount, of: total))" }
                    channel.findings = words.isEmpty ? nil : words.joined(separator: ", ") + " of what was checked"
                }
                channels.append(channel)
                if description.unit == "uV" {
                    for verdict in own {
                        hum.fifty = max(hum.fifty, verdict.line50Hz ?? 0)
                        hum.sixty = max(hum.sixty, verdict.line60Hz ?? 0)
                    }
                }
            }
        }
        if max(hum.fifty, hum.sixty) >= Self.mainsMicrovolts {
            if hum.fifty > Self.mainsRatio * hum.sixty { mainsFrequency = 50 }
            if hum.sixty > Self.mainsRatio * hum.fifty { mainsFrequency = 60 }
        }
    }

    private static func percent(_ count: Int64, of total: Int64) -> String {
        let percent = Int((Double(count) / Double(total) * 100).rounded())
        return percent == 0 ? "< 1 %" : "\(percent) %"
    }

    /// A repeated name gets `-2`, `-3`, ...
    static func unique(_ name: String, among names: [String]) -> String {
        let name = BIDSTable.cell(name)
        var (candidate, number) = (name, 2)
        while names.contains(candidate) {
            candidate = "\(name)-\(number)"
            number += 1
        }
        return candidate
    }

    /// `_channels.tsv`.
    var channelTable: BIDSTable {
        var table = BIDSTable(columns: ["name", "type", "units", "sampling_frequency", "status", "status_description"])
        for channel in channels {
            table.append([
                ("name", channel.name), ("type", channel.type), ("units", channel.unit),
                ("sampling_frequency", BIDSNumber.text(channel.samplingFrequency)),
                ("status", channel.isGood.map { $0 ? "good" : "bad" }), ("status_description", channel.findings),
            ])
        }
        return table
    }

    /// The rows of `_electrodes.tsv`: nominal positions where the name is one of the 10-20 system, and impedances; none where
    /// nothing of either is known. The table holds for all runs of a session: rows that are there already are kept, and get
    /// impedances that they had not.
    func electrodeTable(kilohms: [String: Double], keeping known: BIDSTable?) -> BIDSTable? {
        let eeg = channels.filter { $0.type == "EEG" }.map(\.name)
        let names = eeg + kilohms.keys.sorted().filter { !eeg.contains($0) }
        guard names.contains(where: { ElectrodePosition($0) != nil || kilohms[$0] != nil }) else { return known }
        var table = known ?? BIDSTable(columns: ["name", "x", "y", "z", "type", "material", "impedance"])
        for name in names {
            let kilohms = kilohms[name].map { BIDSNumber.text(($0 * 1000).rounded() / 1000) }
            if let row = table.rows.firstIndex(where: { table.cell($0, "name") == name }) {
                guard let column = table.columns.firstIndex(of: "impedance"), let kilohms else { continue }
                if table.rows[row][column] == BIDSTable.notAvailable { table.rows[row][column] = kilohms }
            } else {
                let position = ElectrodePosition(name)
                table.append([
                    ("name", name), ("x", position.map { BIDSNumber.text(($0.x * 1e5).rounded() / 1e5) }),
                    ("y", position.map { BIDSNumber.text(($0.y * 1e5).rounded() / 1e5) }),
                    ("z", position.map { BIDSNumber.text(($0.z * 1e5).rounded() / 1e5) }), ("impedance", kilohms),
                ])
            }
        }
        return table
    }
}

/// Numbers as cells hold them.
enum BIDSNumber {
    /// The shortest decimal text, whole numbers without a point.
    static func text(_ value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return "\(value)"
    }

    /// Microseconds as seconds: `12.345678`, trailing zeros dropped.
    static func seconds(microseconds: Int64) -> String {
        let (whole, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        var text = (microseconds < 0 ? "-" : "") + String(whole)
        guard rest > 0 else { return text }
        text += "." + CivilTime.digits(Int(rest), 6)
        while text.last == "0" { text.removeLast() }
        return text
    }
}
