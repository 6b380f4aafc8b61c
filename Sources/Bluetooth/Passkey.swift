/// Six digits that a headset shows, or that stand on its sticker, and the headsets that they are for.
public struct Passkey: Hashable, Sendable {
    /// 0 ... 999,999.
    public var value: UInt32
    /// The peripherals; empty for any that eegsync connects to.
    public var identifiers: [PeripheralIdentifier]

    /// Creates a passkey.
    public init(value: UInt32, identifiers: [PeripheralIdentifier]) {
        self.value = value
        self.identifiers = identifiers
    }
}

extension [Passkey] {
    /// The one that is named for a peripheral, else the only one that is for any; nil for none.
    public func value(for identifier: PeripheralIdentifier) -> UInt32? {
        if let named = first(where: { $0.identifiers.contains(identifier) }) { return named.value }
        let general = filter(\.identifiers.isEmpty)
        return general.count == 1 ? general.first?.value : nil
    }

    /// The PIN that a peripheral of Bluetooth Classic is paired with: the digits of its passkey, four at least, or else the
    /// usual one.
    public func pin(for identifier: PeripheralIdentifier) -> String {
        guard let number = value(for: identifier) else { return usualPIN }
        let digits = String(number)
        return String(repeating: "0", count: Swift.max(0, usualPIN.count - digits.count)) + digits
    }

    /// The PIN of headsets that nobody has named another for: what those without a display have (NeuroSky's among them).
    private var usualPIN: String { "0000" }
}
