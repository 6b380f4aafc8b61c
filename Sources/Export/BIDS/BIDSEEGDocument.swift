import Headsets
import Storage

/// `_eeg.json` and `_coordsystem.json`.
enum BIDSEEGDocument {
    /// What a sidecar of an EEG file says.
    ///
    /// - Parameters:
    ///   - frequency: of the EEG, in hertz.
    ///   - seconds: from the first sample to the end of the last.
    static func eeg(_ recording: BIDSRecording, _ electrodes: BIDSElectrodes, frequency: Double, seconds: Double) -> BIDSValue {
        let latest = recording.contents.provenance.latest
        var fields = recording.fields
        let notch = latest?.settings?["notch"]?.first.flatMap { Double($0) }
        fields["EEGReference"] = recording.said("EEGReference") ?? latest?.reference.map { .text($0) } ?? "n/a"
        if let ground = recording.said("EEGGround") ?? latest?.ground.map({ .text($0) }) { fields["EEGGround"] = ground }
        fields["SamplingFrequency"] = .number(frequency)
        fields["PowerLineFrequency"] =
            recording.said("PowerLineFrequency") ?? (notch ?? electrodes.mainsFrequency).map { .number($0) } ?? "n/a"
        // The program filters nothing; what is built into a headset, and cannot be set, nobody knows.
        fields["SoftwareFilters"] =
            notch.map { .object(["Notch filter of the headset": .object(["Frequency (Hz)": .number($0)])]) } ?? "n/a"
        fields["HardwareFilters"] = recording.said("HardwareFilters") ?? "n/a"
        fields["RecordingType"] = "continuous"
        fields["RecordingDuration"] = .number(seconds)
        for (field, types) in counted {
            fields[field] = .whole(Int64(electrodes.channels.count { types.contains($0.type) }))
        }
        let eeg = electrodes.channels.filter { $0.type == "EEG" }.map(\.name)
        if let scheme = recording.said("EEGPlacementScheme") {
            fields["EEGPlacementScheme"] = scheme
        } else if !eeg.isEmpty, eeg.allSatisfy({ ElectrodePosition($0) != nil }) {
            fields["EEGPlacementScheme"] = "10-20 and its extensions"
        }
        for field in ["CapManufacturer", "CapManufacturersModelName", "HeadCircumference", "CogAtlasID", "CogPOID"] {
            if let value = recording.said(field) { fields[field] = value }
        }
        return .object(fields)
    }

    private static let counted: [(String, Set<String>)] = [
        ("EEGChannelCount", ["EEG"]), ("ECGChannelCount", ["ECG"]), ("EMGChannelCount", ["EMG"]), ("EOGChannelCount", ["EOG"]),
        ("MISCChannelCount", ["MISC"]), ("TriggerChannelCount", ["TRIG"]),
    ]

    /// The coordinates of ``ElectrodePosition``: those of BIDS's CapTrak, to which a sphere that is cut through nasion and ears
    /// corresponds.
    static var coordinateSystem: BIDSValue {
        let radius = ElectrodePosition.radius
        func point(_ x: Double, _ y: Double, _ z: Double) -> BIDSValue { .list([.number(x), .number(y), .number(z)]) }
        let landmarks = BIDSValue.object([
            "NAS": point(0, radius, 0), "LPA": point(-radius, 0, 0), "RPA": point(radius, 0, 0),
        ])
        let nominal: BIDSValue = "Nominal points of the same sphere, not measured."
        return .object([
            "EEGCoordinateSystem": "CapTrak", "EEGCoordinateUnits": "m",
            "EEGCoordinateSystemDescription": .text(
                "NOMINAL positions, not measured: those of the 10-20 system and its extension to 10 % by the channels' "
                    + "names, on a sphere of \(radius) m whose equator runs through nasion, ears and inion. x points to the "
                    + "right ear, y to the nasion, z to the vertex."),
            "AnatomicalLandmarkCoordinateSystem": "CapTrak", "AnatomicalLandmarkCoordinateUnits": "m",
            "AnatomicalLandmarkCoordinateSystemDescription": nominal, "AnatomicalLandmarkCoordinates": landmarks,
            "FiducialsCoordinateSystem": "CapTrak", "FiducialsCoordinateUnits": "m",
            "FiducialsCoordinateSystemDescription": nominal, "FiducialsCoordinates": landmarks,
            "FiducialsDescription": nominal,
        ])
    }
}
