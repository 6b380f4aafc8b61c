import Headsets
import Storage

/// Which Muse a recording is of, by the range of its samples.
enum MuseKind {
    /// Muse 2016, 2 and S: 12 bits.
    case earlier
    /// Muse S Athena: 14 bits.
    case athena

    init(_ streams: DialectStreams) throws {
        let range = try streams["eeg"]?.channels.first?.rawMaximum
        let isAthena = try range.map { $0 > 4095 } ?? (streams["optics"] != nil)
        self = isAthena ? .athena : .earlier
    }
}

/// The tables of `muselsl record`: one for each stream, `timestamps` and the channels of muselsl's outlet, three decimals.
///
/// Source: muselsl 2.5, `record.py`, `muse.py`, `athena.py`. It writes a marker column only where it found a stream of markers.
enum MuseLSLDialect {
    static func tables(_ streams: DialectStreams, model: String) throws -> [DialectTable] {
        guard model == "muse" else { throw streams.refusal(of: model, only: "Muses") }
        let isAthena = try MuseKind(streams) == .athena
        let electrodes = ["TP9", "AF7", "AF8", "TP10"].map { ($0, $0) } + (isAthena ? [] : [("Right AUX", "AUX")])
        let axes = ["X", "Y", "Z"].map { ($0, $0) }
        let outlets: [(stream: String, word: String, channels: [(label: String, channel: String)])] = [
            ("eeg", "EEG", electrodes), ("accelerometer", "ACC", axes), ("gyroscope", "GYRO", axes),
            ("ppg", "PPG", (1...3).map { ("PPG\($0)", "PPG\($0)") }),
            ("optics", "OPTICS", (1...16).map { ("OPT\($0 - 1)", "OPT\($0)") }),
        ]
        return try outlets.compactMap { outlet in
            guard let stream = try streams[outlet.stream] else { return nil }
            var table = DialectTable(
                suffix: outlet.stream == "eeg" ? "" : outlet.stream, layout: "muselsl record --type \(outlet.word)",
                separator: ",", missing: .text(""), unknown: "0.000", stream: stream)
            table.columns = [TableColumn(name: "timestamps", content: .unixSeconds)]
            for (label, channel) in outlet.channels {
                try table.addChannel(channel, of: outlet.stream, as: label, leastDecimals: 3, shownDecimals: 3)
            }
            if streams.hasAnnotations { table.columns.append(TableColumn(name: "Marker0", content: .marker(decimals: 0))) }
            table.header = [table.columns.map(\.name).joined(separator: ",")]
            return table
        }
    }
}
