import Bluetooth
import Storage

/// The header record of an EDF+ or BDF+ file: 256 bytes, and 256 for each signal.
struct EDFHeader: Hashable, Sendable {
    var variant: EDFVariant
    var isContinuous: Bool
    /// At most 80 characters.
    var patient: String
    /// At most 80 characters.
    var recording: String
    /// `dd.mm.yy`.
    var startDate: String
    /// `hh.mm.ss`.
    var startTime: String
    var recordCount: Int64
    var recordDurationMicroseconds: Int64
    /// The last one is the signal of annotations.
    var signals: [EDFSignal]

    /// The size of the header, in bytes.
    var byteCount: Int { 256 * (signals.count + 1) }

    /// The size of a data record, in bytes.
    var recordByteCount: Int {
        signals.reduce(0) { $0 + $1.samplesPerRecord } * variant.bytesPerSample
    }

    /// Where the number of data records stands in the file.
    static let recordCountOffset = 236

    /// The header as it stands in a file.
    var bytes: [UInt8] {
        var bytes = variant.version
        bytes += EDFField.bytes(patient, width: 80)
        bytes += EDFField.bytes(recording, width: 80)
        bytes += EDFField.bytes(startDate, width: 8)
        bytes += EDFField.bytes(startTime, width: 8)
        bytes += EDFField.bytes(String(byteCount), width: 8)
        bytes += EDFField.bytes(variant.reserved(isContinuous: isContinuous), width: 44)
        bytes += EDFField.bytes(String(recordCount), width: 8)
        bytes += EDFField.bytes(EDFField.fixed(Double(recordDurationMicroseconds) / 1e6, decimals: 6), width: 8)
        bytes += EDFField.bytes(String(signals.count), width: 4)
        for signal in signals { bytes += EDFField.bytes(signal.label, width: 16) }
        for signal in signals { bytes += EDFField.bytes(signal.transducer, width: 80) }
        for signal in signals { bytes += EDFField.bytes(signal.dimension, width: 8) }
        for signal in signals { bytes += EDFField.bytes(signal.physicalMinimum, width: 8) }
        for signal in signals { bytes += EDFField.bytes(signal.physicalMaximum, width: 8) }
        for signal in signals { bytes += EDFField.bytes(String(signal.digitalMinimum), width: 8) }
        for signal in signals { bytes += EDFField.bytes(String(signal.digitalMaximum), width: 8) }
        for signal in signals { bytes += EDFField.bytes(signal.prefiltering, width: 80) }
        for signal in signals { bytes += EDFField.bytes(String(signal.samplesPerRecord), width: 8) }
        for _ in signals { bytes += EDFField.bytes("", width: 32) }
        return bytes
    }
}

extension EDFHeader {
    /// The years that two digits stand for (EDF specification: 1985 ... 2084).
    static let years = 1985...2084

    /// The start of a file as the header says it. A time outside of 1985 ... 2084, such as that of a computer whose clock was
    /// never set, becomes the first instant of 1985 and the recording's start date unknown (`X`).
    static func start(unixSeconds: Int64) -> (date: String, time: String, startdate: String) {
        let civil = CivilTime(unixSeconds: unixSeconds)
        guard years.contains(civil.year) else { return ("01.01.85", "00.00.00", "X") }
        let (day, month) = (CivilTime.digits(civil.day), CivilTime.digits(civil.month))
        return (
            "\(day).\(month).\(CivilTime.digits(civil.year % 100))",
            "\(CivilTime.digits(civil.hour)).\(CivilTime.digits(civil.minute)).\(CivilTime.digits(civil.second))",
            "\(day)-\(CivilTime.monthNames[civil.month - 1])-\(civil.year)"
        )
    }

    /// Code, sex, birthdate and name of the subject, then the handedness where it is known and there is room (EDF+
    /// specification, 2.1.3.3).
    static func patient(_ contents: RecordingContents) -> String {
        let provenance = contents.provenance
        let sex =
            switch provenance[.subjectSex] {
            case "female": "F"
            case "male": "M"
            default: "X"
            }
        let birthdate = provenance[.subjectBirthdate].flatMap(day) ?? "X"
        let rest = " \(sex) \(birthdate) "
        let code = EDFField.subfield(contents.subject, width: 79 - rest.utf8.count)
        let name = EDFField.subfield(provenance[.subjectName], width: max(1, 80 - code.utf8.count - rest.utf8.count))
        let text = code + rest + name
        let hand = provenance[.subjectHandedness].map { " hand=\($0)" } ?? ""
        return text.utf8.count + hand.utf8.count <= 80 ? text + hand : text
    }

    /// A date such as 1990-12-31 as `31-DEC-1990`; nil for what is none.
    private static func day(_ date: String) -> String? {
        let parts = date.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3, CivilTime.monthNames.indices.contains(parts[1] - 1) else { return nil }
        return "\(CivilTime.digits(parts[2]))-\(CivilTime.monthNames[parts[1] - 1])-\(CivilTime.digits(parts[0], 4))"
    }

    /// Start date, hospital's code, responsible person, equipment (EDF+ specification, 2.1.3.4), then label and task, then,
    /// as far as they are known and there is room, within what the times are right, the session, the run, the firmware and the
    /// version of eegsync.
    static func recording(_ contents: RecordingContents, startdate: String, uncertaintySeconds: Double? = nil) -> String {
        let person = contents.provenance[.operator].map { EDFField.subfield($0, width: 20) } ?? "eegsync"
        var text = "Startdate \(startdate) X \(person) \(EDFField.subfield(contents.model, width: 40))"
        if contents.label != nil || contents.task != nil {
            text += " \(EDFField.subfield(contents.label)) \(EDFField.subfield(contents.task))"
        }
        let facts = contents.provenance.latest
        let further = [
            uncertaintySeconds.map { Self.uncertainty($0) },
            contents.provenance[.session].map { "session=\(EDFField.subfield($0))" },
            contents.provenance[.run].map { "run=\(EDFField.subfield($0))" },
            facts?.firmwareRevision.map { "firmware=\(EDFField.subfield($0))" },
            facts?.eegsync.map { "eegsync=\(EDFField.subfield($0))" },
        ].compactMap(\.self)
        for subfield in further where text.utf8.count + subfield.utf8.count < 80 { text += " " + subfield }
        return String(text.prefix(80)).trimmingTrailingSpaces
    }

    /// A subfield such as `times+-3.2ms`: rounded up to a tenth of a millisecond.
    static func uncertainty(_ seconds: Double) -> String {
        let tenths = Int64(clamping: (seconds * 1e4).rounded(.up))
        return "times+-\(tenths / 10).\(tenths % 10)ms"
    }
}

extension StringProtocol {
    /// The text without the spaces at its end.
    var trimmingTrailingSpaces: String {
        var end = endIndex
        while end > startIndex, self[index(before: end)] == " " { end = index(before: end) }
        return String(self[..<end])
    }
}
