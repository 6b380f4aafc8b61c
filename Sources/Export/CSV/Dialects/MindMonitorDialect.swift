import Headsets

/// The table of the app Mind Monitor: all sensors in one row for each sample of EEG, annotations as rows of their own.
///
/// The columns are those of the app's own files. `RAW_` and `AUX_RIGHT` are counts of the converter in steps of 1650/4095 uV
/// from 0, as the values of such files show; so 0 uV is near 825. What the app computes itself (powers of bands, heart rate)
/// and what eegsync does not keep with the samples (battery, fit of the band) is an empty cell.
enum MindMonitorDialect {
    /// Microvolts of a count: of 12 bits as measured in files of the app, of 14 bits as BrainFlow and OpenMuse have it.
    private static let microvoltsPerCount = [MuseKind.earlier: 1650.0 / 4095, .athena: 1450.0 / 16_383]
    private static let electrodes = ["TP9", "AF7", "AF8", "TP10"]

    static func tables(_ streams: DialectStreams, model: String) throws -> [DialectTable] {
        guard model == "muse" else { throw streams.refusal(of: model, only: "Muses") }
        guard let eeg = try streams["eeg"] else { throw streams.nothingChosen }
        let kind = try MuseKind(streams)
        let scale = microvoltsPerCount[kind] ?? 1
        let held = try ["accelerometer", "gyroscope", "ppg"].compactMap { try streams[$0] }
        var table = DialectTable(
            suffix: "", layout: "Mind Monitor, recording interval constant",
            openingEvents: ["/muse/event/connected \(streams.headset)"],
            separator: ",", missing: .text(""), unknown: "", events: .rows(prefix: "/Marker/"), stream: eeg, held: held)
        table.columns = [TableColumn(name: "TimeStamp", content: .dateTime)]
        for band in ["Delta", "Theta", "Alpha", "Beta", "Gamma"] {
            for electrode in electrodes { table.addConstant("", as: "\(band)_\(electrode)") }
        }
        for (label, channel) in electrodes.map({ ("RAW_" + $0, $0) }) + [("AUX_RIGHT", kind == .athena ? "AUX1" : "AUX")] {
            guard let source = table.source(of: channel, in: "eeg") else {
                table.addConstant("", as: label)
                continue
            }
            let number = try CSVNumber(
                channel: source.description, scale: scale, offset: 0, leastDecimals: 5, shownDecimals: 1)
            table.columns.append(TableColumn(name: label, content: source.content(number)))
        }
        for (label, stream) in [("Accelerometer", "accelerometer"), ("Gyro", "gyroscope")] {
            for axis in ["X", "Y", "Z"] {
                try table.addChannel(axis, of: stream, as: "\(label)_\(axis)", leastDecimals: 8, shownDecimals: 1)
            }
        }
        if try streams["ppg"] != nil {
            for (label, channel) in [("PPG_Ambient", "PPG1"), ("PPG_IR", "PPG2"), ("PPG_Red", "PPG3")] {
                try table.addChannel(channel, of: "ppg", as: label, leastDecimals: 0, shownDecimals: 1)
            }
            table.addConstant("", as: "Heart_Rate")
        }
        for name in ["HeadBandOn"] + electrodes.map({ "HSI_" + $0 }) + ["Battery"] { table.addConstant("", as: name) }
        table.columns.append(TableColumn(name: "Elements", content: .event))
        table.header = [table.columns.map(\.name).joined(separator: ",")]
        return [table]
    }
}
