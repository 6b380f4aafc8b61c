/// The text file of OpenBCI's GUI (`DataWriterODF`): a header that names the board, then BrainFlow's columns, numbers as Java
/// prints them, and the time once more for people.
enum OpenBCIDialect {
    private static let models = ["cyton", "ganglion"]

    static func tables(_ streams: DialectStreams, model: String) throws -> [DialectTable] {
        guard models.contains(model), let board = try BrainFlowBoard.board(model: model, streams), let name = board.guiClass
        else { throw streams.refusal(of: model, only: "OpenBCI's Cyton, without or with a Daisy, and Ganglion") }
        // The GUI takes its rows from EEG: a file of anything else would be none of its own.
        guard let preset = board.presets.first, let (stream, held) = try preset.chosen(streams), stream.name == "eeg" else {
            throw streams.nothingChosen
        }
        var table = DialectTable(
            suffix: "", layout: "OpenBCI_GUI$\(name)", separator: ", ", missing: .valueBefore, unknown: "0.0", stream: stream,
            held: held)
        for (name, row) in preset.rows {
            switch row {
            case .index: table.columns.append(TableColumn(name: name, content: .index(preset.index, decimals: 1)))
            case .timestamp: table.columns.append(TableColumn(name: name, content: .unixSeconds))
            case .marker: table.columns.append(TableColumn(name: name, content: .marker(decimals: 1)))
            case .unknown: table.addConstant("0.0", as: name)
            case .always(let number): table.addConstant("\(number).0", as: name)
            case .channel(let stream, let channel, let times):
                try table.addChannel(channel, of: stream, as: name, leastDecimals: 6, shownDecimals: 1, unitsPerUnit: times)
            }
        }
        table.columns.append(TableColumn(name: "Timestamp (Formatted)", content: .dateTime))
        let channelCount = table.columns.count { $0.name.hasPrefix("EXG") }
        table.header = [
            "%OpenBCI Raw EXG Data", "%Number of channels = \(channelCount)",
            "%Sample Rate = \(Int(stream.samplingFrequency)) Hz", "%Board = OpenBCI_GUI$\(name)",
            table.columns.map(\.name).joined(separator: ", "),
        ]
        return [table]
    }
}
