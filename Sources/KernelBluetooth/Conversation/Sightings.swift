import Bluetooth

/// Who was discovered lately, with which advertisement and when: the latest senders that a scan wanted. Pure.
///
/// Peripherals under a private address (Core Specification, Vol 6, Part B, 1.3.2) depend on it, since the kernel does not wait
/// for them: *Add Device* takes identity addresses alone (`hci_is_identity_address` in net/bluetooth/mgmt.c). They are
/// connected to with the socket itself, and only while they are known to advertise: nobody comes back under an address that has
/// changed, and a socket that connects must not wait (see ``KernelCentral``). Once a headset is bonded the kernel resolves its
/// addresses, and it is known by its identity.
struct Sightings {
    /// How long after an advertisement its sender may be connected to.
    private static let limit = Duration.seconds(5)
    /// How many senders are remembered.
    private static let count = 16

    private var latest: [(peripheral: PeripheralIdentifier, advertisement: Advertisement, at: MonotonicTime)] = []

    mutating func note(_ peripheral: PeripheralIdentifier, _ advertisement: Advertisement, at now: MonotonicTime) {
        latest.removeAll { $0.peripheral == peripheral }
        if latest.count >= Self.count { latest.removeFirst() }
        latest.append((peripheral, advertisement, now))
    }

    func advertisement(of peripheral: PeripheralIdentifier) -> Advertisement? {
        latest.first { $0.peripheral == peripheral }?.advertisement
    }

    /// True where a peripheral has advertised just now.
    func isInSight(_ peripheral: PeripheralIdentifier, at now: MonotonicTime) -> Bool {
        latest.contains { $0.peripheral == peripheral && now < $0.at + Self.limit }
    }
}

extension PeripheralIdentifier {
    /// True for a private address, resolvable or not: any random one that is not static.
    var isPrivate: Bool { addressType == .random && address >> 46 != 0b11 }
}
