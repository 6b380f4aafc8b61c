import Bluetooth

extension Capture {
    /// Parses lines of `time<TAB>characteristic<TAB>hex`, all of which must be right; see ``CaptureText`` for files.
    ///
    /// Times are seconds (`12.5`), seconds since 1970 (`1700000000.25`) or ISO 8601 (`2026-03-01T09:30:00.25Z`, `+01:00`), one
    /// kind in a file. UUIDs are short or long. Bytes may have spaces between them. Empty lines and lines that begin with `#`
    /// are skipped.
    ///
    /// - Throws: ``CaptureError`` with the number of the line.
    package init(text bytes: [UInt8]) throws(CaptureError) {
        pieces = []
        var reader = CaptureLineReader()
        var first: Int64?
        var previous = Int64.min
        for row in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard let line = try reader.read(row.last == UInt8(ascii: "\r") ? row.dropLast() : row) else { continue }
            guard line.nanoseconds >= previous else { throw .timeGoesBackwards(line: line.number) }
            previous = line.nanoseconds
            let origin = first ?? line.nanoseconds
            first = origin
            pieces.append(
                Piece(time: .nanoseconds(line.nanoseconds - origin), characteristic: line.characteristic, value: line.value))
        }
        guard let first else { throw .empty }
        if reader.isAbsolute { startUnixNanoseconds = first }
    }
}

/// Reads the lines of a capture, one after the other.
struct CaptureLineReader {
    /// A line that is right by itself.
    struct Line {
        /// From 1.
        var number: Int
        /// Since anywhere, or since 1970.
        var nanoseconds: Int64
        var characteristic: BluetoothUUID
        var value: [UInt8]
    }

    private var number = 0
    private var kind: Bool?
    /// The UUIDs so far, as they were written.
    private var known: [(text: [UInt8], uuid: BluetoothUUID)] = []
    /// More than any headset has.
    private static let knownLimit = 64

    /// Whether the times are UTC; false before the first.
    var isAbsolute: Bool { kind ?? false }

    /// Takes the next line.
    ///
    /// - Returns: nil for one without a piece.
    mutating func read(_ line: ArraySlice<UInt8>) throws(CaptureError) -> Line? {
        number += 1
        guard let start = line.first, start != UInt8(ascii: "#") else { return nil }
        let tab = UInt8(ascii: "\t")
        guard let first = line.firstIndex(of: tab), let second = line[(first + 1)...].firstIndex(of: tab),
            !line[(second + 1)...].contains(tab)
        else { throw .wrongFieldCount(line: number) }
        guard let time = CaptureTime(line[..<first]) else { throw .invalidTime(line: number) }
        guard time.isAbsolute == kind ?? time.isAbsolute else { throw .mixedTimes(line: number) }
        guard let uuid = characteristic(line[(first + 1)..<second]) else { throw .invalidCharacteristic(line: number) }
        guard let value = Self.hexadecimal(line[(second + 1)...]) else { throw .invalidBytes(line: number) }
        kind = time.isAbsolute
        return Line(number: number, nanoseconds: time.nanoseconds, characteristic: uuid, value: value)
    }

    private mutating func characteristic(_ text: ArraySlice<UInt8>) -> BluetoothUUID? {
        if let found = known.first(where: { $0.text.elementsEqual(text) }) { return found.uuid }
        guard let uuid = BluetoothUUID(String(decoding: text, as: UTF8.self)) else { return nil }
        if known.count < Self.knownLimit { known.append((Array(text), uuid)) }
        return uuid
    }

    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var value: [UInt8] = []
        value.reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
            case UInt8(ascii: " ") where high == nil: continue
            default: return nil
            }
            if let first = high {
                value.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? value : nil
    }
}

/// The time of a line: seconds from anywhere, or an instant of UTC.
struct CaptureTime {
    /// True for ISO 8601, and for seconds since 1970.
    let isAbsolute: Bool
    /// Nanoseconds since anywhere, or since 1970; below 2^62 in magnitude, so that differences cannot overflow.
    let nanoseconds: Int64

    /// Seconds from anywhere are fewer than these, 2001-09-09; as a time since 1970 they lie before any headset.
    private static let leastUnixSeconds: Int64 = 1_000_000_000
    /// The year 2100.
    private static let mostUnixSeconds: Int64 = 4_102_444_800

    init?(_ text: ArraySlice<UInt8>) {
        var reader = DigitReader(text)
        if text.contains(UInt8(ascii: ":")) {
            isAbsolute = true
            guard let instant = Self.instant(&reader) else { return nil }
            nanoseconds = instant
        } else {
            guard let seconds = reader.number(digits: 1...10), seconds < Self.mostUnixSeconds, let fraction = reader.fraction()
            else { return nil }
            isAbsolute = seconds >= Self.leastUnixSeconds
            if reader.isAtEnd {
                nanoseconds = seconds * 1_000_000_000 + fraction
            } else {
                // As programs write what is close to 0: 5e-05.
                guard reader.take("e") || reader.take("E"), reader.take("-"), let exponent = reader.number(digits: 1...2),
                    reader.isAtEnd
                else { return nil }
                nanoseconds = (0..<exponent).reduce(seconds * 1_000_000_000 + fraction) { value, _ in value / 10 }
            }
        }
    }

    /// `YYYY-MM-DDThh:mm:ss[.f][Z|±hh:mm]`, years 1970 ... 2099.
    private static func instant(_ reader: inout DigitReader) -> Int64? {
        guard let year = reader.number(digits: 4...4), (1970...2099).contains(year), reader.take("-"),
            let month = reader.number(digits: 2...2), (1...12).contains(month), reader.take("-"),
            let day = reader.number(digits: 2...2), (1...31).contains(day), reader.take("T") || reader.take(" "),
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
