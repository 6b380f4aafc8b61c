import Storage

/// A table of events, such as an `events.tsv` of BIDS, as annotations.
struct EventTable {
    /// The most bytes of a file.
    static let byteCountMaximum = 64 << 20
    /// The most events of a file.
    static let eventCountMaximum = 100_000

    /// Columns that say when: one of them is needed, and the first of these that is there counts.
    private static let onsetColumns = ["onset", "time", "sample", "n"]
    private static let textColumns = ["description", "trial_type", "label"]
    private static let codeColumns = ["code", "value"]

    /// One event.
    struct Event: Hashable {
        /// The line of the file, from 1.
        var line: Int
        var annotation: StatedAnnotation
    }

    /// What is wrong with a line of the file.
    struct Problem: Hashable, Encodable {
        /// From 1.
        var line: Int
        var reason: String
    }

    private(set) var events: [Event] = []
    private(set) var problems: [Problem] = []
    /// Columns that say nothing which is stored.
    private(set) var ignoredColumns: [String] = []

    private var onset: (column: Int, name: String) = (0, "")
    private var text: Int?
    private var code: Int?
    private var duration: Int?

    /// - Parameters:
    ///   - separator: a comma or a tab.
    ///   - stream: what `sample` and `n` count; nil where the recording has none.
    init(_ bytes: [UInt8], separator: UInt8, stream: StreamID?) {
        var table = DelimitedText(bytes, separator: separator)
        do throws(DelimitedText.Problem) {
            guard let header = try table.next() else {
                problems = [Problem(line: 1, reason: "the file is empty")]
                return
            }
            guard readHeader(header) else { return }
            while let row = try table.next() {
                guard events.count + problems.count < Self.eventCountMaximum else {
                    problems.append(Problem(line: row.line, reason: "more than \(Self.eventCountMaximum) events"))
                    return
                }
                do throws(EventError) {
                    guard row.fields.count == header.fields.count else {
                        throw EventError("\(row.fields.count) columns where the first line has \(header.fields.count)")
                    }
                    events.append(Event(line: row.line, annotation: try annotation(row.fields, stream: stream)))
                } catch { problems.append(Problem(line: row.line, reason: error.reason)) }
            }
            if events.isEmpty && problems.isEmpty {
                problems = [Problem(line: header.line, reason: "no events follow the names of the columns")]
            }
        } catch {
            problems.append(Problem(line: error.line, reason: error.reason))
        }
    }

    private struct EventError: Error {
        var reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// - Returns: false where the events cannot be read.
    private mutating func readHeader(_ row: DelimitedText.Row) -> Bool {
        let names = row.fields.map { $0.trimmed.lowercased() }
        func first(_ columns: [String]) -> Int? { columns.lazy.compactMap { names.firstIndex(of: $0) }.first }
        let listed = names.prefix(12).joined(separator: ", ")
        if let twice = names.first(where: { name in !name.isEmpty && names.count { $0 == name } > 1 }) {
            problems = [Problem(line: row.line, reason: "two columns are called \(twice)")]
        } else if names.contains("onset") && names.contains("time") {
            problems = [Problem(line: row.line, reason: "both onset and time say when; leave one out")]
        } else if let column = first(Self.onsetColumns) {
            onset = (column, names[column])
            (text, code, duration) = (first(Self.textColumns), first(Self.codeColumns), first(["duration"]))
            let used = [column, text, code, duration]
            ignoredColumns = names.indices.filter { !used.contains($0) }.map { row.fields[$0] }
            if text == nil && code == nil {
                problems = [
                    Problem(
                        line: row.line, reason: "no column says what happened (description, trial_type, label, code or value)")
                ]
            }
        } else {
            problems = [
                Problem(
                    line: row.line, reason: "no column says when (onset, time, sample or n); the columns are \(listed)")
            ]
        }
        return problems.isEmpty
    }

    private func annotation(_ fields: [String], stream: StreamID?) throws(EventError) -> StatedAnnotation {
        func value(_ column: Int?) -> String? {
            guard let column else { return nil }
            let text = fields[column].trimmed
            return text.isEmpty || text.lowercased() == "n/a" ? nil : text
        }
        guard let when = value(onset.column) else { throw EventError("it has no \(onset.name)") }
        let onset = try Self.onset(when, column: onset.name, stream: stream)
        var lasting: Double?
        if let text = value(duration) {
            guard let seconds = Double(decimal: text), (0...AnnotationLimits.durationSecondsMaximum).contains(seconds) else {
                throw EventError("the duration '\(text.excerpt)' is not 0 ... 31536000 seconds")
            }
            lasting = seconds
        }
        var number: Int64?
        if let text = value(code) {
            guard let parsed = Self.integer(text) else {
                throw EventError("the code '\(text.excerpt)' is no whole number; text belongs into a column description")
            }
            number = parsed
        }
        guard let description = value(text) ?? number.map({ "code \($0)" }) else { throw EventError("it says nothing") }
        guard description.utf8.count <= AnnotationLimits.textByteMaximum else {
            throw EventError("its text is longer than \(AnnotationLimits.textByteMaximum) bytes")
        }
        return StatedAnnotation(onset: onset, durationSeconds: lasting, description: description, code: number)
    }

    private static func onset(_ text: String, column: String, stream: StreamID?) throws(EventError) -> StatedOnset {
        switch column {
        case "onset":
            guard let seconds = Double(decimal: text), seconds.isFinite else {
                throw EventError("the onset '\(text.excerpt)' is no number of seconds")
            }
            return .recordingStart(seconds: seconds)
        case "time":
            guard let nanoseconds = PastTime.instant(text) else {
                throw EventError("the time '\(text.excerpt)' is not one such as 2026-03-01T22:00:05.250Z")
            }
            return .unix(nanoseconds: nanoseconds)
        default:
            guard let n = integer(text) else { throw EventError("the \(column) '\(text.excerpt)' is no whole number") }
            guard let stream else { throw EventError("the recording has no samples yet") }
            return .sample(AnnotatedSample(stream: stream, n: n))
        }
    }

    /// A whole number, also one such as `3.0`, as some programs write it.
    private static func integer(_ text: String) -> Int64? {
        Int64(text) ?? Double(decimal: text).flatMap { Int64(exactly: $0) }
    }
}

extension Double {
    /// A decimal number, with an exponent where it has one; nil for what is none, such as the hexadecimal one that Swift takes
    /// `0x10` for.
    init?(decimal text: String) {
        let isDecimal = text.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || "+-.eE".utf8.contains($0) }
        guard isDecimal, let value = Double(text) else { return nil }
        self = value
    }
}

extension String {
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
            return ""
        }
        return String(self[first...last])
    }

    /// As much of it as belongs into a message.
    fileprivate var excerpt: String { count > 40 ? prefix(40) + "..." : self }
}
