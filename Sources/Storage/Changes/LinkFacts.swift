import Foundation

/// What a link was made with, as far as it is known: the program, the machine, the headset as it says it is, and what a person
/// has set. Links that were made with the same share a row.
package struct LinkFacts: Hashable, Sendable, Codable {
    /// The program's version.
    package var eegsync: String?
    /// The kernel's release, such as `6.12.34+rpt-rpi-v8`.
    package var kernel: String?
    /// The version of bluetoothd; nil where it has no part in the link.
    package var bluetoothd: String?
    /// `bluetoothd` or `kernel`: who held the link.
    package var route: String?
    /// The adapter that a person has named; nil for the first that is on.
    package var adapter: String?
    /// The model's identifier, such as `muse-2`.
    package var model: String?
    /// Model Number String (Device Information Service 1.1, 3.2), or what the headset answers otherwise; so are the revisions.
    package var modelNumber: String?
    package var firmwareRevision: String?
    package var hardwareRevision: String?
    package var softwareRevision: String?
    /// The preset that a person chose.
    package var preset: String?
    /// Settings by name; for those of single channels one value each, in their order.
    package var settings: [String: [String]]?
    /// What a person calls the EEG channels.
    package var montage: [String]?
    /// Where the reference electrode is, as a person says it.
    package var reference: String?
    /// Where the ground electrode is, as a person says it.
    package var ground: String?

    package init() {}

    private enum CodingKeys: String, CodingKey {
        case eegsync, kernel, bluetoothd, route, adapter, model, preset, settings, montage, reference, ground
        case modelNumber = "model_number"
        case firmwareRevision = "firmware_revision"
        case hardwareRevision = "hardware_revision"
        case softwareRevision = "software_revision"
    }

    /// A JSON object, its keys in order; what is not known is absent.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The facts of a JSON object; nil where it is none.
    package init?(json: String) {
        guard let facts = try? JSONDecoder().decode(LinkFacts.self, from: Data(json.utf8)) else { return nil }
        self = facts
    }
}
