import Headsets
import Storage

extension ExportFormat {
    /// EEGLAB's datasets.
    package static let set = ExportFormat(
        "set",
        summary: "EEGLAB (.set, .fdt) has a dataset for each stream; missing samples are left out, with a boundary event.",
        hasCompanions: true, gapTreatments: [.discontinuous, .fill]
    ) { MultiplexedExport($0, EEGLABHeaders()) }
}

/// The dataset that EEGLAB loads: the structure `EEG`, whose data are in a file of their own.
struct EEGLABHeaders: MultiplexedHeaders {
    static let dataEnding = "fdt"
    static let furtherEndings: [String] = []

    /// EEGLAB has physical values alone, in microvolts where they are voltages, in 32 bits.
    func format(of stream: JoinedStream) -> MultiplexedFormat {
        MultiplexedFormat(
            stream.channels, isInteger: false, gain: { $0.scale * Self.factor(of: $0.unit) },
            shift: { $0.offset * Self.factor(of: $0.unit) })
    }

    /// Microvolts of a unit of voltage; 1 for others.
    static func factor(of unit: String) -> Double { ["V": 1e6, "mV": 1e3, "nV": 1e-3][unit] ?? 1 }

    /// What readers know as types; MNE takes any other for EEG.
    private static let types: Set<String> = ["EEG", "EOG", "ECG", "EMG", "RESP"]

    func documents(_ facts: MultiplexedFacts) -> [(ending: String?, bytes: [UInt8])] {
        [(nil, MATValue.file("EEG", dataset(facts), text: "Recorded by eegsync"))]
    }

    /// The fields that EEGLAB's own datasets have (eeg_emptyset), in their order.
    private func dataset(_ facts: MultiplexedFacts) -> MATValue {
        let contents = facts.contents
        let count = Double(facts.layout.rowCount)
        let rate = facts.stream.samplingFrequency
        let dataName = MATValue.text(facts.names[Self.dataEnding] ?? "")
        let details = contents.provenance.fields
        return .structure([
            ("setname", .text(setName(facts))), ("filename", .text(facts.name)), ("filepath", .text("")),
            ("subject", .text(contents.subject ?? "")), ("group", .text("")), ("condition", .text(contents.task ?? "")),
            ("session", .text(details["session"] ?? "")), ("run", .text(details["run"] ?? "")),
            ("comments", .text(comments(facts))),
            ("nbchan", .number(Double(facts.stream.channels.count))), ("trials", .number(1)), ("pnts", .number(count)),
            ("srate", .number(rate)), ("xmin", .number(0)), ("xmax", .number(max(0, count - 1) / rate)), ("times", .empty),
            ("data", dataName), ("icaact", .empty), ("icawinv", .empty), ("icasphere", .empty), ("icaweights", .empty),
            ("icachansind", .empty), ("chanlocs", channels(facts.stream)), ("urchanlocs", .empty),
            ("chaninfo", .structure([("nosedir", .text("+X"))])), ("ref", .text("common")),
            ("event", EEGLABEvents(facts).value), ("urevent", .empty), ("eventdescription", .empty), ("epoch", .empty),
            ("epochdescription", .empty), ("reject", .empty), ("stats", .empty), ("specdata", .empty), ("specicaact", .empty),
            ("splinefile", .text("")), ("icasplinefile", .text("")), ("dipfit", .empty), ("history", .text("")),
            ("saved", .text("yes")), ("etc", .structure([("eegsync", source(facts))])), ("datfile", dataName),
        ])
    }

    private func setName(_ facts: MultiplexedFacts) -> String {
        [facts.contents.subject, facts.contents.task, facts.contents.label, facts.stream.name].compactMap(\.self)
            .joined(separator: " ")
    }

    private func comments(_ facts: MultiplexedFacts) -> String {
        let contents = facts.contents
        let serial = contents.serialNumber.map { ", serial number \($0)" } ?? ""
        let start = facts.layout.pieces.first.flatMap { facts.unixNanoseconds(ofSample: $0.firstN) }
        return
            "Recording \(contents.id.rawValue) of the headset \(contents.headsetName) (\(contents.model)\(serial)), "
            + "recorded by eegsync" + (start.map { ", from \(CivilTime.iso8601(unixNanoseconds: $0))" } ?? "") + "."
    }

    private func source(_ facts: MultiplexedFacts) -> MATValue {
        let pieces = facts.layout.pieces
        let start = pieces.first.flatMap { facts.unixNanoseconds(ofSample: $0.firstN) }
        return .structure([
            ("recording", .number(Double(facts.contents.id.rawValue))), ("headset", .text(facts.contents.headsetName)),
            ("model", .text(facts.contents.model)), ("serial_number", .text(facts.contents.serialNumber ?? "")),
            ("stream", .text(facts.stream.name)),
            ("start", .text(start.map(CivilTime.iso8601(unixNanoseconds:)) ?? "")),
            // Of each unbroken piece, so that any sample's time can be found.
            ("piece_latency", .numbers(pieces.map { Double($0.row + 1) })),
            ("piece_n", .numbers(pieces.map { Double($0.firstN) })),
            (
                "piece_unix_seconds",
                .numbers(pieces.map { facts.unixNanoseconds(ofSample: $0.firstN).map { Double($0) / 1e9 } ?? .nan })
            ),
        ])
    }

    /// Names and types; EEGLAB finds positions by the names.
    private func channels(_ stream: JoinedStream) -> MATValue {
        .structures(
            fields: ["labels", "type", "unit", "ref", "urchan"],
            stream.channels.enumerated().map { index, channel in
                [
                    .text(channel.name), .text(Self.types.contains(channel.type) ? channel.type : "MISC"),
                    .text(Self.factor(of: channel.unit) == 1 ? channel.unit : "uV"), .text(""), .number(Double(index + 1)),
                ]
            })
    }
}
