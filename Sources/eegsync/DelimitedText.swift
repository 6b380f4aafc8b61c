/// A table as text: RFC 4180 with any separator. Fields in quotes may hold separators, line ends and doubled quotes.
struct DelimitedText {
    /// The most fields of a row.
    static let fieldCountMaximum = 256

    /// One row, with the line of the file at which it begins, from 1.
    struct Row: Hashable {
        var line: Int
        var fields: [String]
    }

    /// Why a text is no such table.
    struct Problem: Error, Hashable {
        var line: Int
        var reason: String
    }

    private let separator: UInt8
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    /// - Parameter bytes: UTF-8, with or without a byte-order mark.
    init(_ bytes: [UInt8], separator: UInt8) {
        self.bytes = bytes
        self.separator = separator
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The next row that is not empty; nil at the end.
    mutating func next() throws(Problem) -> Row? {
        while position < bytes.count {
            let row = try row()
            if row.fields != [""] { return row }
        }
        return nil
    }

    private mutating func row() throws(Problem) -> Row {
        var row = Row(line: line, fields: [])
        while true {
            row.fields.append(try field())
            guard row.fields.count <= Self.fieldCountMaximum else {
                throw Problem(line: row.line, reason: "more than \(Self.fieldCountMaximum) columns")
            }
            guard position < bytes.count else { return row }
            let end = bytes[position]
            position += 1
            if end == separator { continue }
            if end == UInt8(ascii: "\r"), position < bytes.count, bytes[position] == UInt8(ascii: "\n") { position += 1 }
            line += 1
            return row
        }
    }

    /// A field, up to its separator, the end of the line, or the end of the text.
    private mutating func field() throws(Problem) -> String {
        if position < bytes.count, bytes[position] == UInt8(ascii: "\"") { return try quotedField() }
        let start = position
        while position < bytes.count, !isEnd(bytes[position]) { position += 1 }
        return try text(bytes[start..<position], line: line)
    }

    private mutating func quotedField() throws(Problem) -> String {
        let start = line
        var content: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\n") { line += 1 }
            guard byte == UInt8(ascii: "\"") else {
                content.append(byte)
                continue
            }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                guard position == bytes.count || isEnd(bytes[position]) else {
                    throw Problem(line: line, reason: "text follows the quotes of a field; a quote within one is doubled")
                }
                return try text(content[...], line: start)
            }
            content.append(byte)
            position += 1
        }
        throw Problem(line: start, reason: "the quotes of a field do not end")
    }

    private func isEnd(_ byte: UInt8) -> Bool {
        byte == separator || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    private func text(_ bytes: ArraySlice<UInt8>, line: Int) throws(Problem) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw Problem(line: line, reason: "it is no text in UTF-8")
        }
        return text
    }
}
