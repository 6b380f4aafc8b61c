import Headsets
import Storage

/// What a stream records. Formats whose readers take one file for one thing have a file for each kind.
struct StreamKind: Hashable, Sendable {
    /// What the names of its files end with, behind an underscore: `eeg`, `motion`, or the stream's name.
    let suffix: String

    /// Types of channels that make a stream one of EEG: potentials of the body.
    static let eegTypes: Set<String> = ["EEG", "ECG", "EMG", "EOG", "HEOG", "VEOG", "REF"]
    /// Types of channels that a stream of motion consists of (BIDS, Motion).
    static let motionTypes: Set<String> = ["ACCEL", "ANGACCEL", "GYRO", "JNTANG", "MAGN", "ORNT", "POS", "VEL"]

    private static let eeg = StreamKind(suffix: "eeg")

    private init(suffix: String) { self.suffix = suffix }

    init(of description: StreamDescription) {
        let types = Set(description.channels.map(\.type))
        if !types.isDisjoint(with: Self.eegTypes) {
            self = .eeg
        } else if types.isSubset(of: Self.motionTypes) {
            suffix = "motion"
        } else {
            let name = description.name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
            suffix = name.isEmpty ? "stream" : String(name)
        }
    }

    /// Parts by their kinds: EEG first, with triggers of its sampling frequency; the others in their order.
    static func divide(_ parts: [StreamPart]) -> [(kind: StreamKind, parts: [StreamPart])] {
        func frequency(_ part: StreamPart) -> Double { part.stream.description.samplingFrequency }
        let frequencies = Set(parts.filter { Self(of: $0.stream.description) == .eeg }.map(frequency))
        var divided: [(kind: StreamKind, parts: [StreamPart])] = []
        for part in parts {
            let isTrigger = part.stream.description.channels.allSatisfy { $0.type == "TRIG" }
            let kind = isTrigger && frequencies.contains(frequency(part)) ? .eeg : Self(of: part.stream.description)
            if let index = divided.firstIndex(where: { $0.kind == kind }) {
                divided[index].parts.append(part)
            } else {
                divided.append((kind, [part]))
            }
        }
        return divided.filter { $0.kind == .eeg } + divided.filter { $0.kind != .eeg }
    }
}
