/// A value of MATLAB in a MAT-file of Level 5 (MathWorks, MAT-File Format), not compressed.
enum MATValue: Hashable, Sendable {
    /// A row of numbers; none is an empty array.
    case numbers([Double])
    case text(String)
    /// An array of structures, one a row of values, with the same fields; names have at most 31 characters of ASCII.
    case structures(fields: [String], [[MATValue]])

    static func number(_ number: Double) -> MATValue { .numbers([number]) }
    static let empty = MATValue.numbers([])

    /// One structure.
    static func structure(_ fields: [(String, MATValue)]) -> MATValue {
        .structures(fields: fields.map(\.0), [fields.map(\.1)])
    }

    /// The kinds of elements (table 1-1).
    private enum Kind: UInt32 {
        case int8 = 1
        case uint16 = 4
        case int32 = 5
        case uint32 = 6
        case double = 9
        case matrix = 14
        case utf8 = 16
    }

    /// The bytes of each field's name.
    private static let nameByteCount = 32

    /// A file with one variable.
    ///
    /// - Parameter text: 116 characters of ASCII at the most, for people.
    static func file(_ variable: String, _ value: MATValue, text: String) -> [UInt8] {
        var bytes = Array(("MATLAB 5.0 MAT-file, " + text).utf8.prefix(116))
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: 116 - bytes.count)
        // No further data of a subsystem; version 1.0, little endian.
        bytes += [UInt8](repeating: 0, count: 8) + [0x00, 0x01, UInt8(ascii: "I"), UInt8(ascii: "M")]
        return bytes + value.matrix(named: variable)
    }

    private func matrix(named name: String) -> [UInt8] {
        var content: [UInt8] = []
        func begin(_ arrayClass: UInt32, rows: Int, columns: Int) {
            content += Self.element(.uint32, Self.bytes(arrayClass) + Self.bytes(UInt32(0)))
            content += Self.element(.int32, Self.bytes(UInt32(rows)) + Self.bytes(UInt32(columns)))
            content += Self.element(.int8, Array(name.utf8))
        }
        switch self {
        case .numbers(let numbers):
            begin(6, rows: numbers.isEmpty ? 0 : 1, columns: numbers.count)
            content += Self.element(.double, numbers.flatMap { Self.bytes($0.bitPattern) })
        case .text(let text):
            // Programs do not agree on how to count what lies beyond 16 bits.
            let scalars = text.unicodeScalars.map { $0.value > 0xFFFF ? "\u{FFFD}" : $0 }
            begin(4, rows: scalars.isEmpty ? 0 : 1, columns: scalars.count)
            // SciPy takes 16 bits for bytes of another code, Octave knows no UTF-16: both know UTF-8.
            if scalars.allSatisfy(\.isASCII) {
                content += Self.element(.uint16, scalars.flatMap { [UInt8($0.value), 0] })
            } else {
                content += Self.element(.utf8, Array(String(String.UnicodeScalarView(scalars)).utf8))
            }
        case .structures(let fields, let rows):
            begin(2, rows: rows.isEmpty ? 0 : 1, columns: rows.count)
            content += Self.element(.int32, Self.bytes(UInt32(Self.nameByteCount)))
            let names = fields.flatMap { field -> [UInt8] in
                let name = Array(field.utf8.prefix(Self.nameByteCount - 1))
                return name + [UInt8](repeating: 0, count: Self.nameByteCount - name.count)
            }
            content += Self.element(.int8, names)
            for row in rows {
                for value in row { content += value.matrix(named: "") }
            }
        }
        return Self.bytes(Kind.matrix.rawValue) + Self.bytes(UInt32(content.count)) + content
    }

    /// An element with its tag, filled up to a multiple of eight bytes; up to four bytes stand in the tag itself.
    private static func element(_ kind: Kind, _ content: [UInt8]) -> [UInt8] {
        if (1...4).contains(content.count) {
            return bytes(kind.rawValue | UInt32(content.count) << 16) + content
                + [UInt8](repeating: 0, count: 4 - content.count)
        }
        let padding = (8 - content.count % 8) % 8
        return bytes(kind.rawValue) + bytes(UInt32(content.count)) + content + [UInt8](repeating: 0, count: padding)
    }

    private static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
