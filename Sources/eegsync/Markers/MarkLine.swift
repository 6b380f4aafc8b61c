import Bluetooth
import Foundation

/// A mark as one line of text, as programs write it: the text itself, or a JSON object that says more.
///
///     face_left
///     {"text": "face_left", "headset": "left", "duration_seconds": 0.5, "seconds_ago": 0.004}
struct MarkLine: Codable, Hashable, Sendable {
    /// The most bytes of a line of a stimulus program, and of a text however it comes.
    static let byteMaximum = 4096
    /// The most bytes of a line that a program of eegsync hands to another: JSON may take six bytes for one of the text.
    static let handedByteMaximum = 65_536
    /// The longest time ago that a program may state, in seconds: it knows when it has shown something, not what was yesterday.
    static let agoMaximum = 3600.0

    var text: String
    /// Only recordings of this headset; nil for all that run.
    var headset: String?
    /// Nil for an instant.
    var durationSeconds: Double?
    /// How long before its line arrived it happened.
    var secondsAgo: Double?
    /// When it happened, in nanoseconds since the boot of the machine; nil for when its line arrived.
    var boottime: Int64?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case text, headset, boottime
        case durationSeconds = "duration_seconds"
        case secondsAgo = "seconds_ago"
    }

    init(text: String, headset: String? = nil, durationSeconds: Double? = nil, boottime: Int64? = nil) {
        (self.text, self.headset, self.durationSeconds, self.boottime) = (text, headset, durationSeconds, boottime)
    }

    /// Reads a line without its end. Zero bytes at its end, as behind strings of C, are none of it.
    ///
    /// - Parameter byteMaximum: of the line; its text never has more than ``byteMaximum``.
    init(_ line: some Collection<UInt8>, byteMaximum: Int = MarkLine.byteMaximum) throws(MarkLineError) {
        let ending = line.reversed().prefix { $0 == 0 || $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        let line = line.dropLast(ending.count)
        guard line.count <= byteMaximum else { throw MarkLineError("it has more than \(byteMaximum) bytes") }
        // As a mark it would end there, in silence.
        guard !line.contains(0) else { throw Self.zeroByte }
        guard let written = String(validating: line, as: UTF8.self) else { throw MarkLineError("it is no text in UTF-8") }
        if written.first(where: { !$0.isWhitespace }) == "{" {
            do {
                self = try JSONDecoder().decode(MarkLine.self, from: Data(line))
            } catch let error as MarkLineError {
                throw error
            } catch {
                throw MarkLineError("it is no JSON object with a text")
            }
        } else {
            self.init(text: written.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        try check()
    }

    init(from decoder: any Decoder) throws {
        // A name that nobody knows is a slip, and would be lost in silence.
        let names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let unknown = names.first(where: { CodingKeys(stringValue: $0) == nil }) {
            // The boottime is for programs of this machine alone.
            let known = CodingKeys.allCases.filter { $0 != .boottime }.map(\.stringValue).joined(separator: ", ")
            throw MarkLineError("it holds \(unknown); allowed are \(known)")
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        text = try container.decode(String.self, forKey: .text)
        headset = try container.decodeIfPresent(String.self, forKey: .headset)
        durationSeconds = try container.decodeIfPresent(Double.self, forKey: .durationSeconds)
        secondsAgo = try container.decodeIfPresent(Double.self, forKey: .secondsAgo)
        boottime = try container.decodeIfPresent(Int64.self, forKey: .boottime)
    }

    private static let zeroByte = MarkLineError("it holds a zero byte; a line is UTF-8, not UTF-16")

    private mutating func check() throws(MarkLineError) {
        // JSON may say it as \u0000.
        text = Self.withoutZeroEnd(text)
        headset = headset.map(Self.withoutZeroEnd)
        if (text + (headset ?? "")).utf8.contains(0) { throw Self.zeroByte }
        if text.allSatisfy(\.isWhitespace) { throw MarkLineError("its text is empty") }
        guard text.utf8.count <= Self.byteMaximum else {
            throw MarkLineError("its text has more than \(Self.byteMaximum) bytes")
        }
        if let durationSeconds, !(0...AnnotationLimits.durationSecondsMaximum).contains(durationSeconds) {
            throw MarkLineError("a duration must be 0 ... 31536000 seconds")
        }
        if let secondsAgo, !(0...Self.agoMaximum).contains(secondsAgo) {
            throw MarkLineError("seconds_ago must be 0 ... \(Int(Self.agoMaximum))")
        }
        if let boottime, boottime < 0 { throw MarkLineError("the boottime must be 0 or more") }
    }

    private static func withoutZeroEnd(_ text: String) -> String {
        let ending = text.utf8.reversed().prefix { $0 == 0 }
        return ending.isEmpty ? text : String(decoding: text.utf8.dropLast(ending.count), as: UTF8.self)
    }

    /// The same with the instant that it is of.
    ///
    /// - Parameter arrival: when the line arrived.
    func placed(_ arrival: MonotonicTime) -> MarkLine {
        var placed = self
        placed.boottime = (boottime ?? arrival.nanoseconds) - Int64((secondsAgo ?? 0) * 1e9)
        placed.secondsAgo = nil
        return placed
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension MarkLine {
    /// So much of a text is quoted in a log.
    private static let quotedMaximum = 80

    /// The text as a log quotes it.
    var quoted: String {
        let scalars = text.unicodeScalars
        let isWhole = scalars.count <= Self.quotedMaximum
        return "\"\(String(String.UnicodeScalarView(scalars.prefix(Self.quotedMaximum))))\(isWhole ? "" : "...")\""
    }
}

/// Why a line is no mark.
struct MarkLineError: Error, Hashable, Sendable {
    /// In words that complete "the line is refused: ...".
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
