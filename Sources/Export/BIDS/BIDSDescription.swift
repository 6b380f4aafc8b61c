import Storage

/// The files of a dataset that are written once, where they are not there yet: people may complete them, and no export changes
/// them.
enum BIDSDescription {
    /// The edition of the specification that the files follow.
    static let version = "1.10.1"

    /// dataset_description.json. What only people know (authors, licence and so on) is taken from properties of the recording.
    static func description(name: String, recording: BIDSRecording) -> BIDSValue {
        var generator: [String: BIDSValue] = [
            "Name": "eegsync", "Description": "Acquisition from a Bluetooth headset, and export of what was stored",
        ]
        if let version = recording.contents.provenance.latest?.eegsync { generator["Version"] = .text(version) }
        var fields: [String: BIDSValue] = [
            "Name": .text(recording.contents.provenance.properties["DatasetName"] ?? name), "BIDSVersion": .text(version),
            "DatasetType": "raw", "GeneratedBy": .list([.object(generator)]),
            // To be completed; MNE-BIDS's report wants the field to be there.
            "Authors": .list([]),
        ]
        for field in ["License", "HEDVersion", "Acknowledgements", "HowToAcknowledge", "DatasetDOI"] {
            if let value = recording.contents.provenance.properties[field] { fields[field] = .text(value) }
        }
        for field in ["Authors", "Funding", "EthicsApprovals", "ReferencesAndLinks", "Keywords"] {
            guard let value = recording.contents.provenance.properties[field] else { continue }
            fields[field] = .list(value.split(separator: ";").map { .text(String($0.drop { $0 == " " })) })
        }
        if let source = recording.contents.provenance.properties["SourceDatasets"] {
            fields["SourceDatasets"] = .list([.object(["URL": .text(source)])])
        }
        return .object(fields)
    }

    static func readme(name: String) -> [UInt8] {
        Array(
            """
            # \(name)

            Recordings from Bluetooth headsets, stored by eegsync as the headsets sent them and exported from its database.
            Nothing was filtered, resampled or re-referenced.

            - Samples that are missing hold the last value in the EEG files; each such stretch is an event `gap` in
              `events.tsv`, with its cause and how its length is known, and an annotation BAD_ACQ_SKIP in the file itself.
              In tables of motion and physiology they are `n/a`.
            - `status` in `channels.tsv` is the verdict of signal checks during the recording: railed, flat, hum, contact.
            - Positions in `electrodes.tsv` are nominal: computed from the names of the 10-20 system, not measured.
            - All times are UTC. Onsets follow the file's samples.

            Say here what the study is about, who took part, and what they did.

            """.utf8)
    }

    /// participants.json.
    static let participants = BIDSValue.object([
        "participant_id": .column("The participant, as the directories are called"),
        "species": .column("The participant's species"),
        "age": .column("Age when the first recording of the participant began; 89 stands for 89 and more", units: "year"),
        "sex": .column("Sex, as a person has said it", levels: ["F": "female", "M": "male", "O": "other"]),
        "handedness": .column(
            "Handedness, as a person has said it",
            levels: ["left": "left-handed", "right": "right-handed", "ambidextrous": "ambidextrous"]),
        "strain": .column("The strain of an animal"),
        "strain_rrid": .column("The research resource identifier of the strain"),
        "code": .column("The subject's code as it stands in the recording, of which participant_id keeps letters and digits"),
    ])

    /// The description of a table of scans.
    static let scans = BIDSValue.object([
        "filename": .column("The file, from the directory of the table"),
        "acq_time": .column("When the first sample of the file was taken, in UTC"),
        "recording": .column("The recording's first stream, by the identifier that it has in all databases and copies"),
    ])
}
