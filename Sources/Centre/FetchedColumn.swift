import Storage

/// A column of a small table: what is asked of the centre, and how its value becomes one of a machine's database, where host
/// boots, streams and annotations have other numbers.
enum FetchedColumn {
    case integer(String, of: String? = nil)
    case real(String)
    case text(String, of: String? = nil)
    /// Bytes, which the centre says in hexadecimal.
    case bytes(String)
    case hostBoot(String)
    case stream(String)
    /// An annotation, by its UUID.
    case annotation(String)
    /// A column of a row that is kept as it is: JSON of which a value is read as a text.
    case kept(String, Kept)
    /// What is the same in all rows.
    case constant(String, FetchedValue)

    /// The column of the machine's database.
    var name: String {
        switch self {
        case .integer(let name, _), .real(let name), .text(let name, _), .bytes(let name), .hostBoot(let name),
            .stream(let name), .annotation(let name), .kept(let name, _), .constant(let name, _):
            name
        }
    }

    /// What a value of a kept row is.
    enum Kept: Hashable {
        case integer
        case real
        case text
        /// Hexadecimal digits.
        case bytes
        /// UUIDs.
        case hostBoot
        case stream
        case link
    }

    /// What is asked of the centre.
    var sql: String {
        switch self {
        case .integer(let name, let own), .text(let name, let own): "t.\(own ?? name)"
        case .real(let name), .hostBoot(let name), .stream(let name), .annotation(let name): "t.\(name)"
        case .bytes(let name): "encode(t.\(name), 'hex')"
        case .kept(let name, let kind):
            // A name of this program; `offset` is quoted in SQL, and not in JSON.
            switch kind {
            case .hostBoot: "t.row ->> 'host_boot'"
            case .stream: "t.row ->> 'stream'"
            case .link: "t.row ->> 'link'"
            case .integer, .real, .text, .bytes: "t.row ->> '\(name.filter { $0 != "\"" })'"
            }
        case .constant: "NULL"
        }
    }

    /// A value.
    func value(_ text: String?, _ numbers: FetchedNumbers) throws(CentreError) -> FetchedValue {
        if case .constant(_, let value) = self { return value }
        guard let text else { return .null }
        let value: FetchedValue? =
            switch self {
            case .integer: Int64(text).map { .integer($0) }
            case .real: Double(text).map { .real($0) }
            case .text: .text(text)
            case .bytes: Self.decoded(text).map { .bytes($0) }
            case .hostBoot: numbers.hostBoots[text].map { .integer($0) }
            case .stream: numbers.streams[text].map { .integer($0) }
            case .annotation: numbers.annotations[text].map { .integer($0) }
            case .kept(_, let kind): Self.value(text, kind, numbers)
            case .constant: nil
            }
        guard let value else { throw .contradiction(detail: "\(name) is '\(text)', which is none, or is of nothing") }
        return value
    }

    private static func value(_ text: String, _ kind: Kept, _ numbers: FetchedNumbers) -> FetchedValue? {
        switch kind {
        case .integer: Int64(text).map { .integer($0) }
        case .real: Double(text).map { .real($0) }
        case .text: .text(text)
        case .bytes: decoded(text).map { .bytes($0) }
        case .hostBoot: numbers.hostBootUUIDs[text].map { .integer($0) }
        case .stream: numbers.streamUUIDs[text].map { .integer($0) }
        case .link: numbers.links[text].map { .integer($0) }
        }
    }

    /// Bytes of hexadecimal digits.
    private static func decoded(_ text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// The numbers that a fetched database has for what the centre calls otherwise; from 1, in the order in which the machine made
/// them, so that they mostly are the machine's own.
struct FetchedNumbers {
    var hostBoots: [String: Int64] = [:]
    var streams: [String: Int64] = [:]
    var annotations: [String: Int64] = [:]
    /// By UUID.
    var hostBootUUIDs: [String: Int64] = [:]
    var streamUUIDs: [String: Int64] = [:]
    var links: [String: Int64] = [:]

    /// Numbers keys in their order.
    static func inOrder(_ rows: [[String?]]) -> [String: Int64] {
        var numbers: [String: Int64] = [:]
        for row in rows {
            if let key = row.first ?? nil, numbers[key] == nil { numbers[key] = Int64(numbers.count + 1) }
        }
        return numbers
    }
}
