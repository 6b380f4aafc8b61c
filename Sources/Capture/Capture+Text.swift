import Bluetooth

extension Capture {
    /// Parses lines of `time<TAB>characteristic<TAB>hex`.
    ///
    /// Times are seconds (`12.5`) or ISO 8601 (`2026-03-01T09:30:00.25Z`, `+01:00`), one kind in a file. UUIDs are short or
    /// long. Bytes may have spaces between them. Empty lines and lines that begin with `#` are skipped.
    ///
    /// - Throws: ``CaptureError`` with the number of the line.
    public init(text bytes: [UInt8]) throws(CaptureError) {
        pieces = []
        var first: CaptureTime?
        var previous: Int64 = 0
        var number = 0
        for row in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let line = row.last == UInt8(ascii: "\r") ? row.dropLast() : row
            guard let start = line.first, start != UInt8(ascii: "#") else { continue }
            let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            guard fields.count == 3 else { throw .wrongFieldCount(line: number) }
            guard let time = CaptureTime(fields[0]) else { throw .invalidTime(line: number) }
            let origin = first ?? time
            first = origin
            guard time.isAbsolute == origin.isAbsolute else { throw .mixedTimes(line: number) }
            let offset = time.nanoseconds - origin.nanoseconds
            guard offset >= previous else { throw .timeGoesBackwards(line: number) }
            previous = offset
            guard let uuid = BluetoothUUID(String(decoding: fields[1], as: UTF8.self)) else {
                throw .invalidCharacteristic(line: number)
            }
            guard let value = Self.hexadecimal(fields[2]) else { throw .invalidBytes(line: number) }
            pieces.append(Piece(time: .nanoseconds(offset), characteristic: uuid, value: value))
        }
        if pieces.isEmpty { throw .empty }
        if let first, first.isAbsolute { startUnixNanoseconds = first.nanoseconds }
    }

    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var value: [UInt8] = []
        var high: UInt8?
        for character in text {
            if character == UInt8(ascii: " "), high == nil { continue }
            guard let digit = Character(UnicodeScalar(character)).hexDigitValue, character < 0x80 else { return nil }
            if let first = high {
                value.append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        return high == nil ? value : nil
    }
}

/// The time of a line: seconds from anywhere, or an instant of UTC.
struct CaptureTime {
    /// True for ISO 8601.
    let isAbsolute: Bool
    /// Nanoseconds since anywhere, or since 1970; below 2^62 in magnitude, so that differences cannot overflow.
    let nanoseconds: Int64

    init?(_ text: ArraySlice<UInt8>) {
        var reader = DigitReader(text)
        if text.contains(UInt8(ascii: "T")) {
            isAbsolute = true
            guard let instant = Self.instant(&reader) else { return nil }
            nanoseconds = instant
        } else {
            isAbsolute = false
            guard let seconds = reader.number(digits: 1...9), let fraction = reader.fraction(), reader.isAtEnd else {
                return nil
            }
            nanoseconds = seconds * 1_000_000_000 + fraction
        }
    }

    /// `YYYY-MM-DDThh:mm:ss[.f][Z|±hh:mm]`, years 1970 ... 2099.
    private static func instant(_ reader: inout DigitReader) -> Int64? {
        guard let year = reader.number(digits: 4...4), (1970...2099).contains(year), reader.take("-"),
            let month = reader.number(digits: 2...2), (1...12).contains(month), reader.take("-"),
            let day = reader.number(digits: 2...2), (1...31).contains(day), reader.take("T"),
            let hour = reader.number(digits: 2...2), hour < 24, reader.take(":"),
            let minute = reader.number(digits: 2...2), minute < 60, reader.take(":"),
            let second = reader.number(digits: 2...2), second <= 60, let fraction = reader.fraction()
        else { return nil }
        var offsetMinutes: Int64 = 0
        if reader.take("Z") {
        } else if let sign: Int64 = reader.take("+") ? 1 : reader.take("-") ? -1 : nil {
            guard let hours = reader.number(digits: 2...2), hours < 24, reader.take(":"),
                let minutes = reader.number(digits: 2...2), minutes < 60
            else { return nil }
            offsetMinutes = sign * (hours * 60 + minutes)
        }
        guard reader.isAtEnd else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + (minute - offsetMinutes) * 60 + second
        return seconds * 1_000_000_000 + fraction
    }

    /// Days since 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day is the last.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
    }
}

/// Takes numbers from the front of ASCII text.
private struct DigitReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) {
        rest = text
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// A number with so many digits; at most 18, so that it fits.
    mutating func number(digits: ClosedRange<Int>) -> Int64? {
        let taken = rest.prefix(digits.upperBound).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard taken.count >= digits.lowerBound else { return nil }
        rest = rest.dropFirst(taken.count)
        return taken.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// A decimal point and its digits as nanoseconds, or 0 where there is none; digits beyond the ninth are dropped.
    mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        let before = rest.count
        guard var value = number(digits: 1...9) else { return nil }
        for _ in (before - rest.count)..<9 { value *= 10 }
        while number(digits: 1...9) != nil {}
        return value
    }
}
