package import Bluetooth

/// The RFCOMM server channel that the serial port of a model is known to have, and the headsets that it is for.
///
/// It is opened where the Service Discovery Protocol does not name the channel: what a headset says of itself counts first.
package struct SerialPortChannel: Hashable, Sendable {
    /// 1 ... 30 (RFCOMM 1.2, 5.4).
    package var number: UInt8
    /// The peripherals; empty for any that eegsync connects to.
    package var identifiers: [PeripheralIdentifier]

    /// Creates a channel.
    package init(number: UInt8, identifiers: [PeripheralIdentifier]) {
        self.number = number
        self.identifiers = identifiers
    }
}

extension [SerialPortChannel] {
    /// The number that is named for a peripheral, else the one for any where all of those agree; nil for none.
    func number(for identifier: PeripheralIdentifier) -> UInt8? {
        if let named = first(where: { $0.identifiers.contains(identifier) }) { return named.number }
        let general = filter(\.identifiers.isEmpty)
        return general.allSatisfy { $0.number == general.first?.number } ? general.first?.number : nil
    }
}
