import Headsets
import Storage

/// A table of BrainFlow: which row of its array, a column of the file, holds what. OpenBCI's GUI writes the same columns.
///
/// Sources: BrainFlow 5.23, `brainflow_boards.cpp` and the board's own file; the names are those of OpenBCI_GUI 6,
/// `Board.getChannelNames`.
struct BrainFlowBoard {
    /// What one of the rows holds.
    enum Row {
        case index
        /// A channel of a stream; in other units than the recording's where `times` is not 1.
        case channel(String, String, times: Double = 1)
        /// What eegsync does not record: 0, as in BrainFlow before a board has said anything.
        case unknown
        /// A number that the board always sends.
        case always(Int)
        case timestamp
        case marker
    }

    /// The board's identifier.
    var identifier: Int
    var name: String
    /// What the GUI calls the board's class; nil for boards that it does not know.
    var guiClass: String?
    /// Files: which preset of BrainFlow, the streams (that of the rows first), the index, and the rows with the GUI's names.
    var presets: [Preset]

    struct Preset {
        /// 0 default, 1 auxiliary, 2 ancillary.
        var number: Int
        var suffix: String
        var streams: [String]
        var index: SampleIndex
        var rows: [(name: String, row: Row)]
    }

    /// The board of a headset; nil where BrainFlow has none.
    static func board(model: String, _ streams: DialectStreams) throws -> BrainFlowBoard? {
        switch model {
        case "cyton": try cyton(streams)
        case "ganglion": try ganglion(streams)
        case "muse": try muse(streams)
        case "unicorn": unicorn
        case "explore": try explore(streams)
        default: nil
        }
    }

    private static func channels(
        _ names: [String], of stream: String, as label: String = "Other", times: Double = 1
    ) -> [(name: String, row: Row)] {
        names.enumerated().map {
            (label == "Other" ? label : "\(label) \($0.offset)", .channel(stream, $0.element, times: times))
        }
    }

    private static func unknown(_ names: [String]) -> [(name: String, row: Row)] { names.map { ($0, .unknown) } }

    private static let ending: [(name: String, row: Row)] = [("Timestamp", .timestamp), ("Marker Channel", .marker)]
    private static let beginning: [(name: String, row: Row)] = [("Sample Index", .index)]

    /// Frames of a Daisy's second half have even numbers, which BrainFlow keeps.
    private static func cyton(_ streams: DialectStreams) throws -> BrainFlowBoard {
        let eeg = try streams["eeg"]
        let hasDaisy = eeg?.samplingFrequency == 125
        let count = hasDaisy ? 16 : 8
        let readsPins = try streams["auxiliary"] != nil
        // The last byte of a frame says what its further bytes are: 0xC0 acceleration, 0xC1 readings of pins.
        let trailer: Row = try streams["accelerometer"] != nil ? .always(0xC0) : readsPins ? .always(0xC1) : .unknown
        let pins = [0, 1, 2, 3].map { "Digital Channel \($0) (\(["D11", "D12", "D13", "D17"][$0]))" }
        let rows =
            beginning + channels((1...count).map { "Ch\($0)" }, of: "eeg", as: "EXG Channel")
            + channels(["X", "Y", "Z"], of: "accelerometer", as: "Accel Channel") + [("Not Used", trailer)]
            + unknown(pins + ["Not Used", "Digital Channel 4 (D18)"])
            + channels(["Aux1", "Aux2", "Aux3"], of: "auxiliary", as: "Analog Channel") + ending
        let index =
            hasDaisy ? SampleIndex(cycle: 128, numbers: Array(stride(from: 0, to: 256, by: 2))) : SampleIndex(cycle: 256)
        return BrainFlowBoard(
            identifier: hasDaisy ? 2 : 0, name: hasDaisy ? "CytonDaisy" : "Cyton",
            guiClass: hasDaisy ? "BoardCytonSerialDaisy" : "BoardCytonSerial",
            presets: [
                Preset(number: 0, suffix: "", streams: ["eeg", "accelerometer", "auxiliary"], index: index, rows: rows)
            ])
    }

    /// Two samples have one number. The last sample of a cycle of 201 is never sent by firmware 3: it shows where a cycle ends.
    private static func ganglion(_ streams: DialectStreams) throws -> BrainFlowBoard {
        let cycle: Int64 = 201
        let unsent = try streams["eeg"]?.clock.gaps.first { $0.cause == .notSent }
        let first: Int64 = try streams["accelerometer"] == nil ? 100 : 0
        let numbers = (0..<cycle).map { unsent == nil ? ($0 == 0 ? 0 : ($0 + 1) / 2 + first) : $0 / 2 + first }
        let index = SampleIndex(cycle: cycle, phase: unsent.map { $0.firstN - 200 } ?? 0, numbers: numbers)
        // BrainFlow reads the axes from packets 2, 1 and 0 of ten, eegsync from 1, 2 and 3: the board turns them.
        let acceleration: [(name: String, row: Row)] = [
            ("Accel Channel 0", .channel("accelerometer", "Y")), ("Accel Channel 1", .channel("accelerometer", "X")),
            ("Accel Channel 2", .channel("accelerometer", "Z", times: -1)),
        ]
        let rows =
            beginning + channels((1...4).map { "Ch\($0)" }, of: "eeg", as: "EXG Channel") + acceleration
            + unknown(Array(repeating: "Other", count: 5)) + ending
        return BrainFlowBoard(
            identifier: 46, name: "Ganglion", guiClass: "BoardGanglionNative",
            presets: [Preset(number: 0, suffix: "", streams: ["eeg", "accelerometer"], index: index, rows: rows)])
    }

    /// The 2016 model has no optical channels and, in BrainFlow, no row for the auxiliary input.
    private static func muse(_ streams: DialectStreams) throws -> BrainFlowBoard {
        let eeg = try streams["eeg"]
        let isAthena = try MuseKind(streams) == .athena
        let hasPPG = try streams["ppg"] != nil
        let auxiliary =
            isAthena ? channels((1...4).map { "AUX\($0)" }, of: "eeg") : hasPPG ? channels(["AUX"], of: "eeg") : []
        let packet = SampleIndex(
            samplesPerNumber: Int64(eeg?.clock.description.samplesPerCount ?? 1), cycle: isAthena ? 256 : 65_536,
            numbers: isAthena ? (0..<256).map { $0 << 8 } : [])
        let motion = SampleIndex(samplesPerNumber: 3, cycle: packet.cycle, numbers: packet.numbers)
        var presets = [
            Preset(
                number: 0, suffix: "", streams: ["eeg"], index: packet,
                rows: beginning + channels(["TP9", "AF7", "AF8", "TP10"], of: "eeg") + auxiliary + ending),
            Preset(
                number: 1, suffix: "auxiliary", streams: ["gyroscope", "accelerometer"], index: motion,
                rows: beginning + channels(["X", "Y", "Z"], of: "accelerometer") + channels(["X", "Y", "Z"], of: "gyroscope")
                    + ending),
        ]
        if isAthena {
            let width = try streams["optics"]?.channels.count ?? 16
            presets.append(
                Preset(
                    number: 2, suffix: "ancillary", streams: ["optics"],
                    index: SampleIndex(
                        samplesPerNumber: width == 16 ? 1 : width == 8 ? 2 : 3, cycle: 256, numbers: packet.numbers),
                    rows: beginning + channels((1...16).map { "OPT\($0)" }, of: "optics") + unknown(["Battery"]) + ending))
        } else if hasPPG {
            presets.append(
                Preset(
                    number: 2, suffix: "ancillary", streams: ["ppg"], index: SampleIndex(samplesPerNumber: 6, cycle: 65_536),
                    rows: beginning + channels((1...3).map { "PPG\($0)" }, of: "ppg") + ending))
        }
        return BrainFlowBoard(
            identifier: isAthena ? 67 : hasPPG ? 38 : 41, name: isAthena ? "MuseAthena" : hasPPG ? "Muse2" : "Muse2016",
            presets: presets)
    }

    private static var unicorn: BrainFlowBoard {
        let electrodes = ["Fz", "C3", "Cz", "C4", "Pz", "PO7", "Oz", "PO8"]
        let rows =
            channels(electrodes, of: "eeg") + channels(["X", "Y", "Z"], of: "accelerometer")
            + channels(["X", "Y", "Z"], of: "gyroscope") + unknown(["Battery"]) + beginning + unknown(["Validation"]) + ending
        return BrainFlowBoard(
            identifier: 8, name: "Unicorn",
            presets: [
                Preset(
                    number: 0, suffix: "", streams: ["eeg", "accelerometer", "gyroscope"], index: SampleIndex(cycle: 1 << 32),
                    rows: rows)
            ])
    }

    private static func explore(_ streams: DialectStreams) throws -> BrainFlowBoard? {
        guard let eeg = try streams["eeg"] else { throw streams.nothingChosen }
        let boards = [4: (44, "Explore4Channels"), 8: (45, "Explore8Channels"), 32: (55, "ExplorePlus32Channels")]
        let names = eeg.channels.map(\.name)
        let count = names.contains("Ch9") ? 32 : names.contains("Ch5") ? 8 : 4
        guard let (identifier, name) = boards[count] else { return nil }
        let rows = beginning + channels((1...count).map { "Ch\($0)" }, of: "eeg") + unknown(["Status"]) + ending
        let index = SampleIndex(samplesPerNumber: Int64(eeg.clock.description.samplesPerCount), cycle: 256)
        return BrainFlowBoard(
            identifier: identifier, name: name,
            presets: [Preset(number: 0, suffix: "", streams: ["eeg"], index: index, rows: rows)])
    }
}

extension BrainFlowBoard.Preset {
    /// The stream of the rows and the held ones, as far as they were chosen; nil where none was.
    func chosen(_ streams: DialectStreams) throws -> (stream: JoinedStream, held: [JoinedStream])? {
        let found = try self.streams.compactMap { try streams[$0] }
        return found.first.map { ($0, Array(found.dropFirst())) }
    }
}
