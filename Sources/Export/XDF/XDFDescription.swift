import Headsets
import Storage

/// What an XDF file says of itself and of each stream, in the words of LSL's meta-data and, where these have none, of BIDS.
struct XDFDescription {
    let contents: RecordingContents

    /// What the time stamps are, for people and programs.
    static let clock = "UTC: seconds since 1970-01-01T00:00:00Z without leap seconds; clock offsets are 0"

    /// Who makes the headset, as its profile says; that of a descriptor names nobody.
    private var manufacturer: String? {
        HeadsetCatalog.builtIn.profiles.first { $0.model == contents.model }?.manufacturer
    }

    /// The header of the file. LabRecorder writes its date so.
    var file: XMLElement {
        let start = contents.streams.compactMap { $0.firstN.flatMap($0.unixNanoseconds) }.min() ?? 0
        return XMLElement(
            "info",
            [
                XMLElement("version", "1.0"),
                XMLElement("datetime", CivilTime.iso8601(unixNanoseconds: start).dropLast() + "+0000"),
                XMLElement("clock", Self.clock),
                XMLElement(
                    "recording",
                    [XMLElement("id", String(contents.id.rawValue)), XMLElement("headset", contents.headsetName)]
                        + contents.provenance.fields.sorted { $0.key < $1.key }
                        .filter { !$0.key.hasPrefix("subject_") && !$0.value.isEmpty }.map { XMLElement($0.key, $0.value) }),
            ])
    }

    /// The header of a stream of samples.
    ///
    /// - Parameters:
    ///   - part: the number of the unbroken stretch, from 1; nil where the stream holds all of them.
    ///   - stamp: that of the first sample.
    func header(of stream: JoinedStream, format: XDFSampleFormat, part: Int?, stamp: Double) -> XMLElement {
        let name = "\(contents.headsetName)-\(stream.name)"
        return XMLElement(
            "info",
            [
                XMLElement("name", part.map { "\(name)-\($0)" } ?? name),
                XMLElement("type", stream.channels[0].type),
                XMLElement("channel_count", String(stream.channels.count)),
                XMLElement("channel_format", format.name),
                XMLElement("source_id", contents.serialNumber ?? contents.headsetName),
                XMLElement("nominal_srate", String(stream.samplingFrequency)),
                XMLElement("created_at", String(stamp)),
                XMLElement("desc", description(of: stream)),
            ])
    }

    /// The header of the stream of marks.
    func markers(stamp: Double) -> XMLElement {
        XMLElement(
            "info",
            [
                XMLElement("name", "\(contents.headsetName)-markers"), XMLElement("type", "Markers"),
                XMLElement("channel_count", "1"), XMLElement("channel_format", "string"),
                XMLElement("source_id", contents.serialNumber ?? contents.headsetName),
                XMLElement("nominal_srate", "0"), XMLElement("created_at", String(stamp)),
                XMLElement(
                    "desc", [acquisition, XMLElement("annotations", contents.annotations.map(annotation))]),
            ])
    }

    private func description(of stream: JoinedStream) -> [XMLElement] {
        let facts = contents.provenance.latest
        var elements = XMLElement.optional("manufacturer", manufacturer)
        elements += [
            XMLElement("channels", stream.channels.map(channel)), acquisition,
            XMLElement("reference", XMLElement.optional("label", facts?.reference)),
            XMLElement("ground", XMLElement.optional("label", facts?.ground)),
            XMLElement("subject", XMLElement.optional("id", contents.subject)),
            // The word of the meta-data for it; pyxdf from 1.17.5 on leaves the time stamps of such a stream as they are.
            XMLElement("synchronization", [XMLElement("can_drop_samples", "true")]),
            XMLElement("clock", Self.clock),
        ]
        let uncertainty = stream.exported(rowCount: 0).timeUncertaintySeconds
        elements += XMLElement.optional("time_uncertainty", uncertainty.map { "\($0)" })
        elements.append(XMLElement("loss_detection", stream.clock.lossDetection))
        elements.append(XMLElement("gaps", stream.banks.flatMap(gaps)))
        return elements
    }

    /// What is known of a stream while it is recorded: what an export says of it, but for gaps and uncertainty.
    func live(_ stream: StreamDescription) -> [XMLElement] {
        let facts = contents.provenance.latest
        return XMLElement.optional("manufacturer", manufacturer) + [
            XMLElement("channels", stream.channels.map(channel)), acquisition,
            XMLElement("reference", XMLElement.optional("label", facts?.reference)),
            XMLElement("ground", XMLElement.optional("label", facts?.ground)),
            XMLElement("subject", XMLElement.optional("id", contents.subject)),
            XMLElement("synchronization", [XMLElement("can_drop_samples", "true")]),
        ]
    }

    var acquisition: XMLElement {
        let facts = contents.provenance.latest
        return XMLElement(
            "acquisition",
            XMLElement.optional("manufacturer", manufacturer)
                + [XMLElement("model", facts?.modelNumber ?? contents.model)]
                + XMLElement.optional("serial_number", contents.serialNumber)
                + XMLElement.optional("firmware", facts?.firmwareRevision)
                + XMLElement.optional("hardware", facts?.hardwareRevision)
                + XMLElement.optional("eegsync", facts?.eegsync))
    }

    /// `unit` is what LSL's meta-data prefers. A raw count is (value - offset) / scale, rounded.
    private func channel(_ channel: ChannelDescription) -> XMLElement {
        var elements = [
            XMLElement("label", channel.name), XMLElement("type", channel.type),
            XMLElement("unit", channel.unit == "uV" ? "microvolts" : channel.unit),
        ]
        if channel.type == "EEG", let notch = contents.provenance.latest?.settings?["notch"]?.first, Double(notch) != nil {
            elements.append(XMLElement("filtering", [XMLElement("notch", [XMLElement("center", notch)])]))
        }
        elements.append(
            XMLElement(
                "raw",
                [
                    XMLElement("scale", String(channel.scale)), XMLElement("offset", String(channel.offset)),
                    XMLElement("minimum", String(channel.rawMinimum)), XMLElement("maximum", String(channel.rawMaximum)),
                ]))
        return XMLElement("channel", elements)
    }

    private func gaps(of part: StreamPart) -> [XMLElement] {
        let stream = part.stream
        return stream.gaps.filter { $0.count > $0.recovered || $0.count == 0 }.map { gap in
            let channels = stream.description.channels
            let name = channels.indices.contains(gap.channel - 1) ? channels[gap.channel - 1].name : nil
            // That of the first missing sample.
            let time = stream.unixNanoseconds(ofSample: gap.firstN).map { String(XDFFile.stamp($0)) }
            return XMLElement(
                "gap",
                [XMLElement("first_n", String(gap.firstN))] + XMLElement.optional("time", time)
                    + XMLElement.optional("channel", name) + XMLElement.optional("missing", gap.missing.map { String($0) })
                    + [XMLElement("cause", gap.cause.rawValue), XMLElement("certainty", gap.certainty)]
                    + XMLElement.optional("uncertainty", gap.uncertainty.map { String($0) }))
        }
    }

    private func annotation(_ annotation: AnnotationContents) -> XMLElement {
        let document = AnnotationDocument(annotation, of: contents)
        return XMLElement(
            "annotation",
            [XMLElement("description", document.description), XMLElement("onset", document.onset)]
                + XMLElement.optional("duration", document.durationSeconds.map { "\($0)" })
                + [XMLElement("source", document.source)] + XMLElement.optional("stream", document.stream)
                + XMLElement.optional("n", document.n.map { String($0) })
                + XMLElement.optional("device_ticks", document.deviceTicks.map { String($0) })
                + XMLElement.optional("code", document.code.map { String($0) }))
    }
}
