import Headsets
import Storage

/// One signal of the header.
struct EDFSignal: Hashable, Sendable {
    /// At most 16 characters.
    var label: String
    /// At most 80 characters.
    var transducer = ""
    /// The physical dimension; at most 8 characters.
    var dimension = ""
    /// At most 8 characters each, as in the file, so that what readers compute is what is tested.
    var physicalMinimum: String
    var physicalMaximum: String
    var digitalMinimum: Int32
    var digitalMaximum: Int32
    /// At most 80 characters.
    var prefiltering = ""
    var samplesPerRecord: Int

    /// The physical value of one digital step, as a reader computes it from the header.
    var gain: Double {
        ((Double(physicalMaximum) ?? 0) - (Double(physicalMinimum) ?? 0)) / (Double(digitalMaximum) - Double(digitalMinimum))
    }
}

extension EDFSignal {
    /// The signal of a channel.
    ///
    /// - Throws: ``ExportError/notRepresentable(what:reason:advice:)`` where eight characters cannot hold the physical range.
    init(channel: ChannelDescription, mapping: EDFDigitalMapping, samplesPerRecord: Int) throws {
        let range = PhysicalRange(channel: channel, mapping: mapping)
        guard let minimum = EDFField.number(range.minimum), let maximum = EDFField.number(range.maximum), minimum != maximum
        else {
            throw ExportError.notRepresentable(
                what: "Channel \(channel.name)",
                reason: "its physical range \(range.minimum) ... \(range.maximum) \(range.unit) does not fit the eight "
                    + "characters of the header",
                advice: "Export as CSV.")
        }
        self.init(
            label: Self.label(channel), dimension: range.unit, physicalMinimum: minimum, physicalMaximum: maximum,
            digitalMinimum: mapping.minimum, digitalMaximum: mapping.maximum, samplesPerRecord: samplesPerRecord)
    }

    /// How far the gain that a reader computes is from the true one, relative. Eight characters keep six or seven digits.
    func scaleError(channel: ChannelDescription, mapping: EDFDigitalMapping) -> Double {
        let range = PhysicalRange(channel: channel, mapping: mapping)
        return abs(gain / (channel.scale * Double(mapping.step) * range.factor) - 1)
    }

    /// The signal of annotations. Its numbers are those that the specification prescribes (EDF+ 2.2.1).
    init(annotationsOf variant: EDFVariant, samplesPerRecord: Int) {
        self.init(
            label: variant.annotationLabel, physicalMinimum: "-1", physicalMaximum: "1",
            digitalMinimum: variant.digitalLimits.lowerBound, digitalMaximum: variant.digitalLimits.upperBound,
            samplesPerRecord: samplesPerRecord)
    }

    /// Says what is known of an EEG channel's electrodes and filters (EDF specification: `HP:0.1Hz LP:75Hz N:50Hz`).
    mutating func describe(_ facts: LinkFacts?) {
        let electrodes = [facts?.reference.map { "reference \($0)" }, facts?.ground.map { "ground \($0)" }].compactMap(\.self)
        if !electrodes.isEmpty {
            transducer = String(EDFField.ascii((["electrode"] + electrodes).joined(separator: ", ")).prefix(80))
        }
        if let notch = facts?.settings?["notch"]?.first, let hertz = Double(notch) {
            prefiltering = "N:\(EDFField.fixed(hertz, decimals: 1))Hz"
        }
    }

    /// The types that readers know by the first word of a label: EDF+'s standard texts, as far as MNE-Python takes them for
    /// types of channels (`infer_types`); BIDS has words of its own for two of them.
    private static let labelledTypes = [
        "EEG": "EEG", "ECG": "ECG", "EOG": "EOG", "HEOG": "EOG", "VEOG": "EOG", "EMG": "EMG", "RESP": "RESP", "TEMP": "TEMP",
        "MISC": "MISC",
    ]

    /// Type, space, name (EDF+ specification, 2.1.3.2: standard texts), such as `EEG TP9`. What no standard text is made for is
    /// `MISC`, with its own type behind that, where there is room: `MISC ACCEL X`.
    static func label(_ channel: ChannelDescription) -> String {
        if let type = labelledTypes[channel.type] { return String(EDFField.ascii("\(type) \(channel.name)").prefix(16)) }
        let named = channel.name.uppercased().hasPrefix(channel.type) ? channel.name : "\(channel.type) \(channel.name)"
        let label = EDFField.ascii("MISC \(named)")
        return String((label.count <= 16 ? label : EDFField.ascii("MISC \(channel.name)")).prefix(16))
    }

    /// Labels made unique within a file: readers use them as keys. A repeated label's end gives way to `-2`, `-3`, ...
    static func unique(_ labels: [String]) -> [String] {
        var result: [String] = []
        for label in labels {
            var candidate = label
            var number = 2
            while result.contains(candidate) {
                let suffix = "-\(number)"
                candidate = label.prefix(16 - suffix.count) + suffix
                number += 1
            }
            result.append(candidate)
        }
        return result
    }
}

/// The physical values at a mapping's ends, in a unit whose numbers keep their digits within eight characters.
private struct PhysicalRange {
    var minimum: Double
    var maximum: Double
    var unit: String
    /// Values in `unit` for one in the channel's unit.
    var factor: Double

    /// Volts, and prefixes by thousands: the dimensions that EDF readers know.
    private static let volts = ["V", "mV", "uV", "nV"]

    init(channel: ChannelDescription, mapping: EDFDigitalMapping) {
        minimum = channel.scale * mapping.raw(mapping.minimum) + channel.offset
        maximum = channel.scale * mapping.raw(mapping.maximum) + channel.offset
        unit = String(EDFField.ascii(channel.unit).prefix(8))
        factor = 1
        // A range of ±0.000187 V would keep three digits; ±187.5 uV keeps all.
        guard var index = Self.volts.firstIndex(of: unit) else { return }
        while index + 1 < Self.volts.count && max(abs(minimum), abs(maximum)) * factor < 1 {
            index += 1
            factor *= 1000
        }
        unit = Self.volts[index]
        minimum *= factor
        maximum *= factor
    }
}
