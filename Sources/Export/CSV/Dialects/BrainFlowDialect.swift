/// BrainFlow's own files: columns separated by tabs, no header, six decimals, a file for each of the board's presets.
enum BrainFlowDialect {
    static func tables(_ streams: DialectStreams, model: String) throws -> [DialectTable] {
        guard let board = try BrainFlowBoard.board(model: model, streams) else {
            throw streams.refusal(of: model, only: "Cyton, Ganglion, Muse, Unicorn and Explore of what eegsync does")
        }
        return try board.presets.compactMap { preset in
            guard let (stream, held) = try preset.chosen(streams) else { return nil }
            var table = DialectTable(
                suffix: preset.suffix, layout: "BrainFlow board \(board.identifier) (\(board.name)), preset \(preset.number)",
                separator: "\t", missing: .text("nan"), unknown: "0.000000", stream: stream, held: held)
            for (name, row) in preset.rows {
                switch row {
                case .index: table.columns.append(TableColumn(name: name, content: .index(preset.index, decimals: 6)))
                case .timestamp: table.columns.append(TableColumn(name: name, content: .unixSeconds))
                case .marker: table.columns.append(TableColumn(name: name, content: .marker(decimals: 6)))
                case .unknown: table.addConstant("0.000000", as: name)
                case .always(let number): table.addConstant("\(number).000000", as: name)
                case .channel(let stream, let channel, let times):
                    try table.addChannel(
                        channel, of: stream, as: name, leastDecimals: 6, shownDecimals: 6, unitsPerUnit: times)
                }
            }
            table.notes = ["The columns are the rows of BrainFlow's board \(board.identifier), \(board.name)."]
            return table
        }
    }
}
