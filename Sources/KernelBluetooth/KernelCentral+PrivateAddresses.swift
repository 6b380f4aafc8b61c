import Bluetooth

/// Peripherals under a private address (Core Specification, Vol 6, Part B, 1.3.2), which the kernel does not wait for: *Add
/// Device* takes identity addresses alone (`hci_is_identity_address` in net/bluetooth/mgmt.c).
///
/// They are connected to with the socket itself, and only while they are known to advertise: nobody comes back under an
/// address that has changed, and a socket that connects must not wait (see ``KernelCentral``). Once a headset is bonded the
/// kernel resolves its addresses, and it is known by its identity.
extension KernelCentral {
    /// How long after an advertisement its sender may be connected to.
    private static let sightingLimit = Duration.seconds(5)
    /// How long that may take: headsets advertise several times a second.
    static let privateOpeningLimit = Duration.seconds(3)
    /// How many senders are remembered: of those that a scan wanted.
    private static let sightingCount = 16

    /// Remembers who advertised what.
    func noteSighting(of peripheral: PeripheralIdentifier, _ advertisement: Advertisement) {
        sightings.removeAll { $0.peripheral == peripheral }
        if sightings.count >= Self.sightingCount { sightings.removeFirst() }
        sightings.append((peripheral, advertisement, now))
    }

    /// True where a peripheral has advertised just now.
    func isInSight(_ peripheral: PeripheralIdentifier) -> Bool {
        sightings.contains { $0.peripheral == peripheral && now < $0.at + Self.sightingLimit }
    }
}

extension PeripheralIdentifier {
    /// True for a private address, resolvable or not: any random one that is not static.
    var isPrivate: Bool { addressType == .random && address >> 46 != 0b11 }
}
