/// What a Cyton's further bytes say of the world: levels of digital pins, or whatever a firmware's owner sends. A change is an
/// event.
struct CytonInputs: Hashable, Sendable {
    /// So many changes may follow each other at once: a loose wire changes with each frame.
    static let changesAtOnce = 64
    /// One further change in so many frames: 10 a second.
    static let framesPerChange = 25

    /// The pins, the one of bit 0 first: in the first byte, the second, ... the fourth, and the sixth (OpenBCI_32bit_Library).
    private static let pins = ["D11", "D12", "D13", "D17", "D18"]
    private static let bytesOfPins = [0, 1, 2, 3, 5]

    private var levels: Int64?
    private var userBytes: UInt64 = 0
    private var allowance = Self.changesAtOnce
    private var frames = 0

    /// Counts a frame.
    mutating func countFrame() {
        frames += 1
        guard frames == Self.framesPerChange else { return }
        frames = 0
        allowance = min(allowance + 1, Self.changesAtOnce)
    }

    /// Takes the levels of a frame. Returns what has changed; nil where nothing has, and where that happens too often: the
    /// levels are samples, too.
    ///
    /// - Parameters:
    ///   - bytes: the 6 further bytes, the first one highest.
    ///   - count: how many of them hold levels.
    mutating func takeLevels(_ bytes: UInt64, count: Int) -> (description: String, code: Int64)? {
        var now: Int64 = 0
        for bit in Self.pins.indices where Self.bytesOfPins[bit] < count {
            if Self.byte(Self.bytesOfPins[bit], of: bytes) != 0 { now |= 1 << Int64(bit) }
        }
        defer { levels = now }
        guard let levels, levels != now, spend() else { return nil }
        let high = Self.pins.indices.filter { now & 1 << Int64($0) != 0 }.map { Self.pins[$0] }
        return (high.isEmpty ? "All pins low" : "High: \(high.joined(separator: ", "))", now)
    }

    /// Takes bytes that a firmware's owner defines. Returns what has changed; nil where nothing has.
    ///
    /// - Throws: ``TooOften`` where nobody would store it.
    mutating func takeUserBytes(_ bytes: UInt64) throws(TooOften) -> (description: String, code: Int64)? {
        guard bytes != userBytes else { return nil }
        userBytes = bytes
        guard spend() else { throw TooOften() }
        let digits = (0..<6).map { index in
            let byte = Self.byte(index, of: bytes)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return ("User bytes \(digits.joined(separator: " "))", Int64(bytes))
    }

    private static func byte(_ index: Int, of bytes: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: bytes >> UInt64(8 * (5 - index)))
    }

    /// More changes than are stored.
    struct TooOften: Error {}

    private mutating func spend() -> Bool {
        guard allowance > 0 else { return false }
        allowance -= 1
        return true
    }
}
