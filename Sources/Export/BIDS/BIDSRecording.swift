import Headsets
import Storage

/// What all files of a recording in a dataset say alike.
struct BIDSRecording {
    let contents: RecordingContents
    let entities: BIDSEntities
    let facts: ElectrodeFacts

    private var latest: LinkFacts? { contents.provenance.latest }

    /// What distinguishes a recording in a dataset that many machines add to.
    var identity: String { facts.streamUUID ?? "\(contents.headsetName) \(contents.id.rawValue)" }

    /// A field of the specification that a person has said: a property of the recording whose key is the field's name.
    func said(_ field: String) -> BIDSValue? {
        contents.provenance.properties[field].map { BIDSValue(said: $0) }
    }

    /// The fields of the task, the institution and the device (BIDS, Hardware information and following), as far as they are
    /// known.
    var fields: [String: BIDSValue] {
        var fields: [String: BIDSValue] = ["TaskName": .text(entities.taskName)]
        let profile = HeadsetCatalog.builtIn.profiles.first { $0.model == contents.model }
        if let manufacturer = profile?.manufacturer { fields["Manufacturer"] = .text(manufacturer) }
        fields["ManufacturersModelName"] = .text(latest?.modelNumber ?? profile?.displayName ?? contents.model)
        if let serial = contents.serialNumber { fields["DeviceSerialNumber"] = .text(serial) }
        let versions = [
            latest?.firmwareRevision.map { "firmware \($0)" }, latest?.softwareRevision.map { "software \($0)" },
            latest?.hardwareRevision.map { "hardware \($0)" }, latest?.eegsync.map { "eegsync \($0)" },
        ].compactMap(\.self)
        if !versions.isEmpty { fields["SoftwareVersions"] = .text(versions.joined(separator: ", ")) }
        for field in Self.sayable {
            if let value = said(field) { fields[field] = value }
        }
        return fields
    }

    /// Text and links that only a person can say, of EEG and motion alike.
    private static let sayable = [
        "Manufacturer", "TaskDescription", "Instructions", "InstitutionName", "InstitutionAddress",
        "InstitutionalDepartmentName", "SubjectArtefactDescription",
    ]

    /// The row of participants.tsv. The name and the birthdate stay out: a dataset is made to be given away.
    var participant: [(column: String, text: String?)] {
        let provenance = contents.provenance
        return [
            ("participant_id", "sub-\(entities.subject)"), ("species", provenance.properties["species"]),
            ("age", age.map { String($0) }), ("sex", sex),
            ("handedness", provenance[.subjectHandedness]), ("code", contents.subject),
        ] + ["strain", "strain_rrid"].filter { provenance.properties[$0] != nil }.map { ($0, provenance.properties[$0]) }
    }

    /// The letter that programs expect most.
    private var sex: String? {
        switch contents.provenance[.subjectSex] {
        case "female": "F"
        case "male": "M"
        case "other": "O"
        default: nil
        }
    }

    /// Whole years at the recording's start, at most 89, which is what the specification asks for.
    private var age: Int? {
        let born = contents.provenance[.subjectBirthdate]?.split(separator: "-").compactMap { Int($0) } ?? []
        guard born.count == 3, let start = contents.startUnixNanoseconds else { return nil }
        let day = CivilTime(unixSeconds: start.floorDivided(by: 1_000_000_000))
        let years = day.year - born[0] - ((day.month, day.day) < (born[1], born[2]) ? 1 : 0)
        return years < 0 ? nil : min(years, 89)
    }
}
