import Headsets

/// How one channel's values are written into a table, and read back.
///
/// A physical value has as many decimals as distinguish it from `scale` × raw + `offset` to a millionth of a raw count,
/// trailing zeros dropped: the text gives the raw count back exactly.
struct CSVNumber: Hashable, Sendable {
    let scale: Double
    let offset: Double
    /// 10^decimals.
    let power: Int64
    let decimals: Int
    /// So many decimals stand there even where they are zeros.
    let shownDecimals: Int
    /// ``scale`` and ``offset`` in units of the last decimal, and the counts of such a unit.
    private let unitScale: Double
    private let unitOffset: Double
    private let countsPerUnit: Double

    /// Whole numbers: the raw counts themselves.
    static let raw = CSVNumber(scale: 1, offset: 0, decimals: 0)

    private init(scale: Double, offset: Double, decimals: Int, shownDecimals: Int = 0) {
        self.scale = scale
        self.offset = offset
        self.decimals = decimals
        self.shownDecimals = shownDecimals
        power = Self.powers[decimals]
        unitScale = scale * Double(power)
        unitOffset = offset * Double(power)
        countsPerUnit = 1 / unitScale
    }

    /// The way for a channel's physical values.
    ///
    /// - Throws: ``ExportError/notRepresentable(what:reason:advice:)`` where 18 digits cannot distinguish the channel's counts.
    init(channel: ChannelDescription) throws {
        let ends = [channel.rawMinimum, channel.rawMaximum].map { abs(channel.scale * Double($0) + channel.offset) }
        let largest = max(ends[0], ends[1], abs(channel.offset))
        let isWhole = channel.scale == channel.scale.rounded() && channel.offset == channel.offset.rounded()
        var decimals = 0
        var unit = 1.0
        while !isWhole && unit > abs(channel.scale) * 1e-6 && decimals < 18 && largest / unit * 10 < 1e18 {
            decimals += 1
            unit /= 10
        }
        // A count must be many units of the last decimal, and the numbers of doubles finer than a count.
        guard isWhole || unit < abs(channel.scale) * 0.01, largest < abs(channel.scale) * 1e14, largest < 1e17 else {
            throw Self.indistinguishable(channel)
        }
        self.init(scale: channel.scale, offset: channel.offset, decimals: decimals)
    }

    /// The way of another tool for a channel: `scale` × raw + `offset` with as many decimals as the tool writes, or more where
    /// they are needed to give the raw count back exactly.
    ///
    /// - Throws: ``ExportError/notRepresentable(what:reason:advice:)`` where 18 digits cannot distinguish the channel's counts.
    init(channel: ChannelDescription, scale: Double, offset: Double, leastDecimals: Int, shownDecimals: Int) throws {
        let ends = [channel.rawMinimum, channel.rawMaximum].map { abs(scale * Double($0) + offset) }
        let largest = max(ends[0], ends[1], abs(offset))
        var decimals = leastDecimals
        var unit = (0..<leastDecimals).reduce(1.0) { unit, _ in unit / 10 }
        while unit > abs(scale) * 0.02, decimals < 18, largest / unit * 10 < 1e18 {
            decimals += 1
            unit /= 10
        }
        guard unit <= abs(scale) * 0.02, largest < abs(scale) * 1e14, largest / unit < 1e18 else {
            throw Self.indistinguishable(channel)
        }
        self.init(scale: scale, offset: offset, decimals: decimals, shownDecimals: min(shownDecimals, decimals))
    }

    private static func indistinguishable(_ channel: ChannelDescription) -> ExportError {
        .notRepresentable(
            what: "Channel \(channel.name) in \(channel.unit)",
            reason: "18 digits cannot distinguish its values (scale \(channel.scale), offset \(channel.offset))",
            advice: "Export raw counts with --values raw.")
    }

    /// Whether the text is the raw count itself.
    private var isRaw: Bool { power == 1 && scale == 1 && offset == 0 }

    /// Appends the text of a raw value.
    func append(_ raw: Int32, to text: CSVBuffer) { write(raw, to: &text.next) }

    /// Writes the text of a raw value; see ``DecimalDigits`` for the memory that it needs.
    @inline(__always)
    func write(_ raw: Int32, to next: inout UnsafeMutablePointer<UInt8>) {
        guard !isRaw else { return DecimalDigits.write(Int64(raw), to: &next) }
        // Halves are rounded away from 0. Beyond 2^52 there are none, and one unit is a millionth of a count or less.
        let units = unitScale * Double(raw) + unitOffset
        let value = Int64(units + (units < 0 ? -0.5 : 0.5))
        if decimals == 0 {
            DecimalDigits.write(value, to: &next)
        } else {
            DecimalDigits.write(value, decimals: decimals, shownDecimals: shownDecimals, to: &next)
        }
    }

    /// The raw value that a text stands for: a whole number over a power of ten; `Int64.min` where it has more decimals than
    /// were written, or is far beyond any count.
    func raw(mantissa: Int64, decimals shown: Int) -> Int64 {
        shown > decimals ? .min : raw(units: mantissa &* Self.powers[decimals - shown])
    }

    /// The raw value of a number in units of the last decimal; `Int64.min` where it is far beyond any count.
    @inline(__always)
    func raw(units: Int64) -> Int64 {
        if isRaw { return units }
        let count = (Double(units) - unitOffset) * countsPerUnit
        guard abs(count) < 1e15 else { return .min }
        return Int64(count < 0 ? count - 0.5 : count + 0.5)
    }

    /// 1, 10, 100 ... 10^18.
    static let powers: [Int64] = (0...18).map { (0..<$0).reduce(1) { product, _ in product * 10 } }
}
