import Headsets
import Storage

extension ExportFormat {
    /// Brain Products' exchange format: a header, a file of markers, and a file of samples.
    package static let brainvision = ExportFormat(
        "brainvision", ending: "vhdr",
        summary:
            "BrainVision (.vhdr, .vmrk, .eeg) has a file set for each stream; missing samples are held and marked, or left "
            + "out with a new segment.",
        hasCompanions: true, gapTreatments: [.fill, .discontinuous]
    ) { MultiplexedExport($0, BrainVisionHeaders()) }
}

/// The header and the markers of the BrainVision Core Data Format 1.0 (Brain Products, 2019).
struct BrainVisionHeaders: MultiplexedHeaders {
    static let dataEnding = "eeg"
    static let markerEnding = "vmrk"
    static let furtherEndings = [markerEnding]

    /// Counts as they are, in 16 bits where they fit; the header has the resolution of each channel. A unit's offset, which the
    /// format does not know, goes into the counts.
    func format(of stream: JoinedStream) -> MultiplexedFormat {
        let isInteger = stream.channels.allSatisfy { channel in
            channel.offset == 0 && channel.rawMinimum >= Int16.min && channel.rawMaximum <= Int16.max
        }
        return MultiplexedFormat(
            stream.channels, isInteger: isInteger, gain: { _ in 1 }, shift: { $0.scale == 0 ? 0 : $0.offset / $0.scale })
    }

    func documents(_ facts: MultiplexedFacts) -> [(ending: String?, bytes: [UInt8])] {
        [
            (Self.markerEnding, Array(BrainVisionMarkers(facts).text.utf8)),
            (nil, Array(header(facts).utf8)),
        ]
    }

    private func header(_ facts: MultiplexedFacts) -> String {
        var lines = [
            "Brain Vision Data Exchange Header File Version 1.0", "; Recorded by eegsync.", "", "[Common Infos]",
            "Codepage=UTF-8", "DataFile=\(facts.names[Self.dataEnding] ?? "")",
            "MarkerFile=\(facts.names[Self.markerEnding] ?? "")", "DataFormat=BINARY",
            "; A value of each channel after the other, then those of the next sample.", "DataOrientation=MULTIPLEXED",
            "NumberOfChannels=\(facts.stream.channels.count)", "; In microseconds.",
            "SamplingInterval=\(Self.number(1e6 / facts.stream.samplingFrequency))", "", "[Binary Infos]",
            "BinaryFormat=\(facts.format.isInteger ? "INT_16" : "IEEE_FLOAT_32")", "", "[Channel Infos]",
            "; Name, reference, resolution (a value is the number in the file times this), unit. \\1 stands for a comma.",
        ]
        let reference = facts.contents.provenance.latest?.reference ?? ""
        for (index, channel) in facts.stream.channels.enumerated() {
            let fields = [
                Self.text(channel.name), channel.type == "EEG" ? Self.text(reference) : "", Self.number(channel.scale),
                Self.text(channel.unit == "uV" ? "µV" : channel.unit),
            ]
            lines.append("Ch\(index + 1)=" + fields.joined(separator: ","))
        }
        lines += ["", "[Comment]"] + comment(facts).map(Self.line)
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    private func comment(_ facts: MultiplexedFacts) -> [String] {
        let contents = facts.contents
        let facts = [
            ("Recording", String(contents.id.rawValue)), ("Headset", contents.headsetName), ("Model", contents.model),
            ("Serial number", contents.serialNumber), ("Label", contents.label), ("Subject", contents.subject),
            ("Task", contents.task), ("Stream", facts.stream.name),
            ("Ground", contents.provenance.latest?.ground),
        ]
        return facts.compactMap { name, value in value.map { "\(name): \($0)" } }
    }

    /// A number as the format's programs read it: a period, no more digits than give it back.
    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    /// A text in one line.
    static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
    }

    /// A text in one field of a line.
    static func text(_ text: String) -> String {
        line(text).split(separator: ",", omittingEmptySubsequences: false).joined(separator: "\\1")
    }
}
