/// One time-stamped annotation, in EDF+'s words.
struct EDFAnnotation: Hashable, Sendable {
    /// Microseconds after the header's start time; may be negative.
    var onsetMicroseconds: Int64
    /// Nil where the annotation has no duration.
    var durationMicroseconds: Int64?
    var text: String

    /// Where it ends; where it begins, if it has no duration.
    var endMicroseconds: Int64 { onsetMicroseconds + (durationMicroseconds ?? 0) }

    /// The text that readers know a stretch without data by (MNE: annotations beginning with `BAD` are left out of analyses,
    /// and filters do not reach across `BAD_ACQ_SKIP`).
    static let skipText = "BAD_ACQ_SKIP"

    /// The separator by which MNE distinguishes the text from the label of the one signal that is meant.
    static let channelSeparator = "@@"

    /// The most bytes of text in one annotation. A data record must hold any one annotation, so every record of a file pays for
    /// the longest; and EDFlib reads 512 characters.
    static let textLimit = 400

    /// The annotation as a time-stamped annotations list of its own (EDF+ specification, 2.2.2).
    var bytes: [UInt8] {
        var bytes = Self.onset(onsetMicroseconds)
        if let durationMicroseconds {
            bytes.append(0x15)
            bytes += Self.seconds(durationMicroseconds)
        }
        bytes.append(0x14)
        bytes += text.utf8
        bytes += [0x14, 0x00]
        return bytes
    }

    /// The list that says when a data record begins (EDF+ specification, 2.2.4).
    static func timeKeeping(_ onsetMicroseconds: Int64) -> [UInt8] {
        onset(onsetMicroseconds) + [0x14, 0x14, 0x00]
    }

    /// The annotations of one text: control characters replaced, since some end a list and a line feed makes MNE miss it; a
    /// text beyond ``textLimit`` continues in further annotations of the same onset, numbered `(1/3)`.
    static func annotations(onset: Int64, duration: Int64?, text: String) -> [EDFAnnotation] {
        let clean = String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
        guard clean.utf8.count > textLimit else {
            return [EDFAnnotation(onsetMicroseconds: onset, durationMicroseconds: duration, text: clean.isEmpty ? " " : clean)]
        }
        var pieces: [String] = [""]
        for scalar in clean.unicodeScalars {
            // The number before each piece takes up to 16 bytes.
            if pieces[pieces.count - 1].utf8.count + String(scalar).utf8.count > textLimit - 16 { pieces.append("") }
            pieces[pieces.count - 1].unicodeScalars.append(scalar)
        }
        return pieces.enumerated().map { index, piece in
            EDFAnnotation(
                onsetMicroseconds: onset, durationMicroseconds: duration, text: "(\(index + 1)/\(pieces.count)) \(piece)")
        }
    }

    private static func onset(_ microseconds: Int64) -> [UInt8] {
        (microseconds < 0 ? [UInt8(ascii: "-")] : [UInt8(ascii: "+")]) + seconds(abs(microseconds))
    }

    /// Whole seconds, and a fraction of up to six digits where there is one.
    private static func seconds(_ microseconds: Int64) -> [UInt8] {
        var text = String(microseconds / 1_000_000)
        var fraction = microseconds % 1_000_000
        if fraction > 0 {
            var decimalCount = 6
            while fraction % 10 == 0 {
                fraction /= 10
                decimalCount -= 1
            }
            text += "." + CivilTime.digits(Int(fraction), decimalCount)
        }
        return Array(text.utf8)
    }
}

extension EDFAnnotation {
    /// The annotations in one record's signal, the first of them time keeping with an empty text; nil where the bytes are no
    /// lists.
    static func parse(_ bytes: [UInt8]) -> [EDFAnnotation]? {
        var result: [EDFAnnotation] = []
        for list in bytes.split(separator: 0) {
            let parts = list.split(separator: 0x14, omittingEmptySubsequences: false)
            guard parts.count >= 3, parts.last?.isEmpty == true else { return nil }
            let times = parts[0].split(separator: 0x15, omittingEmptySubsequences: false)
            guard times.count <= 2, let onset = microseconds(times[0]) else { return nil }
            var duration: Int64?
            if times.count == 2 {
                guard let value = microseconds(times[1]) else { return nil }
                duration = value
            }
            for text in parts.dropFirst().dropLast() {
                result.append(
                    EDFAnnotation(
                        onsetMicroseconds: onset, durationMicroseconds: duration, text: String(decoding: text, as: UTF8.self)))
            }
        }
        return result
    }

    /// Decimal seconds with an optional sign.
    private static func microseconds(_ text: ArraySlice<UInt8>) -> Int64? {
        var digits = text
        var isNegative = false
        if let sign = digits.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            isNegative = sign == UInt8(ascii: "-")
            digits.removeFirst()
        }
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, let whole = Int64(String(decoding: first, as: UTF8.self)) else {
            return nil
        }
        var fraction = parts.count == 2 ? String(decoding: parts[1], as: UTF8.self) : ""
        guard fraction.count <= 6 else { return nil }
        fraction += String(repeating: "0", count: 6 - fraction.count)
        guard let micros = Int64(fraction) else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return nil }
        return isNegative ? -(product + micros) : product + micros
    }
}
