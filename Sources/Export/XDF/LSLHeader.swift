package import Headsets
package import Storage

/// The headers of a recording's streams as outlets of Lab Streaming Layer bear them: as an XDF file of the recording says it,
/// but for what is known only afterwards.
package struct LSLHeader: Sendable {
    /// Begins every `source_id` of this program.
    package static let sourcePrefix = "eegsync/"

    private let description: XDFDescription

    /// Creates headers.
    ///
    /// - Parameter contents: gaps and annotations are not looked at.
    package init(contents: RecordingContents) { description = XDFDescription(contents: contents) }

    /// What finds a stream of the headset again, over restarts of everything.
    ///
    /// - Parameter name: of the stream, such as `eeg`.
    package func sourceID(_ name: String) -> String {
        "\(Self.sourcePrefix)\(description.contents.serialNumber ?? description.contents.headsetName)/\(name)"
    }

    /// The header of a stream of samples, and true where its values take eight bytes.
    ///
    /// - Parameter isLate: of samples that come from the headset's memory, in no regular order of time.
    package func stream(_ stream: StreamDescription, isLate: Bool) -> (xml: String, isDouble: Bool) {
        let format = XDFSampleFormat(channels: stream.channels)
        let name = stream.bankName + (isLate ? "-late" : "")
        let header = info(
            name: name, type: stream.channels.first?.type ?? "MISC", channelCount: stream.channels.count, format: format.name,
            rate: isLate ? 0 : stream.samplingFrequency, description: description.live(stream))
        return (String(decoding: header.document, as: UTF8.self), format.isDouble)
    }

    /// The header of the stream of marks.
    package func markers() -> String {
        let header = info(
            name: "markers", type: "Markers", channelCount: 1, format: "string", rate: 0, description: [description.acquisition]
        )
        return String(decoding: header.document, as: UTF8.self)
    }

    /// In liblsl's order; what it fills in itself when it makes an outlet stands there because it reads no header without it.
    private func info(
        name: String, type: String, channelCount: Int, format: String, rate: Double, description elements: [XMLElement]
    ) -> XMLElement {
        let filledIn = [
            ("version", "1.10"), ("created_at", "0"), ("uid", "none"), ("session_id", "default"), ("hostname", "none"),
            ("v4address", ""), ("v4data_port", "0"), ("v4service_port", "0"), ("v6address", ""), ("v6data_port", "0"),
            ("v6service_port", "0"),
        ]
        return XMLElement(
            "info",
            [
                XMLElement("name", "\(description.contents.headsetName)-\(name)"), XMLElement("type", type),
                XMLElement("channel_count", String(channelCount)), XMLElement("channel_format", format),
                XMLElement("source_id", sourceID(name)), XMLElement("nominal_srate", String(rate)),
            ] + filledIn.map { XMLElement($0.0, $0.1) } + [XMLElement("desc", elements)])
    }
}
