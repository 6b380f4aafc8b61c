/// A tool whose tables an export can write, so that scripts which read the tool's own recordings read these.
///
/// The raw values are those of `eegsync export --dialect`.
package enum TableDialect: String, Hashable, Sendable, CaseIterable {
    /// The text file of OpenBCI's GUI, with its header of `%` lines.
    case openbci
    /// The table of `muselsl record`.
    case muselsl
    /// The table of the app Mind Monitor.
    case mindmonitor
    /// What BrainFlow's file streamer and `DataFilter.write_file` write, and `DataFilter.read_file` reads.
    case brainflow

    /// The tool's name for people.
    package var tool: String {
        switch self {
        case .openbci: "the OpenBCI GUI"
        case .muselsl: "muselsl"
        case .mindmonitor: "Mind Monitor"
        case .brainflow: "BrainFlow"
        }
    }

    /// The tables of a recording.
    ///
    /// - Throws: `notRepresentable` where the tool does not record such a headset.
    func tables(_ streams: DialectStreams, model: String) throws -> [DialectTable] {
        switch self {
        case .openbci: try OpenBCIDialect.tables(streams, model: model)
        case .muselsl: try MuseLSLDialect.tables(streams, model: model)
        case .mindmonitor: try MindMonitorDialect.tables(streams, model: model)
        case .brainflow: try BrainFlowDialect.tables(streams, model: model)
        }
    }
}
