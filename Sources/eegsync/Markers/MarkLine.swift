import Bluetooth
import Foundation

/// A mark as one line of text, as programs write it: the text itself, or a JSON object that says more.
///
///     face_left
///     {"text": "face_left", "headset": "left", "duration_seconds": 0.5, "seconds_ago": 0.004}
struct MarkLine: Codable, Hashable, Sendable {
    /// The most bytes of a line.
    static let byteMaximum = 4096
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

    /// Reads a line without its end.
    init(_ line: some Collection<UInt8>) throws(MarkLineError) {
        guard line.count <= Self.byteMaximum else { throw MarkLineError("it has more than \(Self.byteMaximum) bytes") }
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
            let known = CodingKeys.allCases.map(\.stringValue).joined(separator: ", ")
            throw MarkLineError("it holds \(unknown); allowed are \(known)")
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        text = try container.decode(String.self, forKey: .text)
        headset = try container.decodeIfPresent(String.self, forKey: .headset)
        durationSeconds = try container.decodeIfPresent(Double.self, forKey: .durationSeconds)
        secondsAgo = try container.decodeIfPresent(Double.self, forKey: .secondsAgo)
        boottime = try container.decodeIfPresent(Int64.self, forKey: .boottime)
    }

    private func check() throws(MarkLineError) {
        if text.allSatisfy(\.isWhitespace) { throw MarkLineError("its text is empty") }
        if let durationSeconds, !(0...AnnotationLimits.durationSecondsMaximum).contains(durationSeconds) {
            throw MarkLineError("a duration must be 0 ... 31536000 seconds")
        }
        if let secondsAgo, !(0...Self.agoMaximum).contains(secondsAgo) {
            throw MarkLineError("seconds_ago must be 0 ... \(Int(Self.agoMaximum))")
        }
        if let boottime, boottime < 0 { throw MarkLineError("the boottime must be 0 or more") }
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

/// Why a line is no mark.
struct MarkLineError: Error, Hashable, Sendable {
    /// In words that complete "the line is refused: ...".
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
