import AttributeProtocol
import Bluetooth
import BluetoothManagement

/// Peripherals that nobody waits for any more, but the kernel does, for a while.
///
/// A caller that looks for a headset in several ways gives one up after some seconds and may come back to it at once. *Remove
/// Device* is not sent then: a headset that returns just at that moment is being connected to, and the kernel would execute no
/// command for 4 s (see `deviceConnected`). If the kernel does connect meanwhile, the headset, which does not advertise any
/// longer, is told of as discovered, and as connected to whoever asks for that.
extension KernelCentral {
    /// How long the kernel goes on waiting: longer than callers take to come back to a headset that is away.
    private static let givenUpLimit = Duration.seconds(30)

    /// What the controller says of a signal that it cannot measure (Core Specification, Vol 4, Part E, 7.7.65.2).
    private static let unknownRSSI: Int8 = 127

    /// Gives up a connection that is pending, without a word to the kernel. Returns false where it is not merely pending.
    func giveUp(_ peripheral: PeripheralIdentifier) -> Bool {
        guard isAlone, !peripheral.isPrivate, !connectedDevices.contains(peripheral),
            let place = links.firstIndex(where: { $0.identifier == peripheral && !$0.isProbe }), links[place].isWaiting
        else { return false }
        links.remove(at: place)
        givenUp.append((peripheral, now + Self.givenUpLimit))
        return true
    }

    /// The kernel has connected to a peripheral. Returns false for one that was not given up.
    func connectedThoughGivenUp(_ peripheral: PeripheralIdentifier) -> Bool {
        guard let place = givenUp.firstIndex(where: { $0.peripheral == peripheral }) else { return false }
        givenUp.remove(at: place)
        if let index = adapter.index { adapter.send(.removeDevice(peripheral, index)) }
        // What it advertised when it was discovered, or what it must offer, since it was connected before.
        let advertisement =
            sightings.first { $0.peripheral == peripheral }?.advertisement
            ?? Advertisement(serviceUUIDs: maps.load(peripheral)?.services.map(\.uuid) ?? [])
        if let filter = scan.filter, filter.matches(advertisement) {
            tell(.didDiscover(peripheral, advertisement: advertisement, rssi: Self.unknownRSSI))
        }
        return true
    }

    /// Has the kernel forget those whose time is over.
    func expireGivenUp() {
        for (peripheral, until) in givenUp where until <= now {
            if let index = adapter.index { adapter.send(.removeDevice(peripheral, index)) }
        }
        givenUp.removeAll { $0.until <= now }
    }
}
