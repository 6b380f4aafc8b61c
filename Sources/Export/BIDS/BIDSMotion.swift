import Headsets
import Storage

/// A stream of motion sensors (BIDS, Motion): each is a tracking system of its own, with its own rate, gaps and first sample.
struct BIDSMotion {
    let part: StreamPart
    let recording: BIDSRecording

    private var channels: [ChannelDescription] { part.stream.description.channels }

    /// `_channels.tsv`.
    var channelTable: BIDSTable {
        var table = BIDSTable(columns: [
            "name", "component", "type", "tracked_point", "units", "placement", "reference_frame", "sampling_frequency",
        ])
        var names: [String] = []
        for channel in channels {
            let name = BIDSElectrodes.unique("\(channel.type)_\(channel.name)", among: names)
            names.append(name)
            let axis = channel.name.lowercased().last.map(String.init) ?? ""
            table.append([
                ("name", name), ("component", ["x", "y", "z"].contains(axis) ? axis : nil), ("type", channel.type),
                ("tracked_point", "headset"), ("units", channel.unit), ("placement", "head"), ("reference_frame", "headset"),
                ("sampling_frequency", BIDSNumber.text(part.stream.description.samplingFrequency)),
            ])
        }
        return table
    }

    /// `_channels.json`.
    static let channelDocument = BIDSValue.object([
        "reference_frame": .column(
            "In which frame values are to be read",
            further: [
                "Levels": .object([
                    "headset": .object([
                        "Description": .text(
                            "The axes of the headset's sensor, as the headset names them; they move with the head"),
                        "RotationRule": "n/a", "RotationOrder": "n/a", "SpatialAxes": "n/a",
                    ])
                ])
            ])
    ])

    /// `_motion.json`.
    var document: BIDSValue {
        var fields = recording.fields
        fields["SamplingFrequency"] = .number(part.stream.description.samplingFrequency)
        if let effective = part.effectiveFrequency { fields["SamplingFrequencyEffective"] = .number(effective) }
        fields["TrackingSystemName"] = .text(part.name)
        fields["TrackedPointsCount"] = .whole(1)
        fields["MissingValues"] = .text(BIDSTable.notAvailable)
        fields["MotionChannelCount"] = .whole(Int64(channels.count))
        for type in StreamKind.motionTypes.sorted() + ["LATENCY", "MISC"] {
            fields[type + "ChannelCount"] = .whole(Int64(channels.count { $0.type == type }))
        }
        return .object(fields)
    }
}

/// Any further stream that comes with EEG, such as optical sensors: a physiological recording (BIDS, Physiological recordings).
struct BIDSPhysiology {
    let part: StreamPart
    let recording: BIDSRecording
    /// Seconds from the first sample of the EEG to the stream's; 0 without EEG.
    let startSeconds: Double

    /// `_physio.json`.
    var document: BIDSValue {
        var fields = recording.fields
        fields["SamplingFrequency"] = .number(part.stream.description.samplingFrequency)
        fields["StartTime"] = .number(startSeconds)
        fields["PhysioType"] = "generic"
        var names: [String] = []
        for channel in part.stream.description.channels {
            let name = BIDSElectrodes.unique(channel.name, among: names)
            names.append(name)
            fields[name] = .column(
                "Channel \(channel.name) of the stream \(part.name), of the type \(channel.type)",
                units: channel.unit == BIDSTable.notAvailable ? "arbitrary" : channel.unit)
        }
        fields["Columns"] = .list(names.map { .text($0) })
        return .object(fields)
    }
}

extension StreamPart {
    /// Samples in a second by the recorded times of the first and the last one; nil where they have none.
    var effectiveFrequency: Double? {
        guard range.count > 1, let first = stream.unixNanoseconds(ofSample: range.lowerBound),
            let last = stream.unixNanoseconds(ofSample: range.upperBound), last > first
        else { return nil }
        return Double(range.count - 1) * 1e9 / Double(last - first)
    }
}
