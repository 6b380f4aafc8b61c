package import Bluetooth

/// The link keys of headsets of Bluetooth Classic, from one process to the next: one list that both centrals of this route
/// know. ``KernelCentral`` loads it into the adapter together with all other keys; ``SerialPortCentral``, which knows whom it
/// connects to, changes it when a headset is paired.
package final class LinkKeyStore {
    /// How many are kept: as many as bonds. The oldest goes first.
    static let limit = BondTable.limit

    /// In the order in which they were made; those of earlier processes come first.
    package private(set) var keys: [LinkKey]
    /// Whether the key of a headset that says that it has none any more is forgotten, so that it is paired anew.
    let forgetsLostKeys: Bool
    private let didChange: (PeripheralIdentifier, KeyChange<LinkKey>) -> Void

    /// Creates a store with what was kept earlier.
    ///
    /// - Parameters:
    ///   - forgetsLostKeys: whether the key of a headset that has lost its own is forgotten, and the headset paired anew.
    ///   - didChange: gets what becomes of the key of a device; must not wait.
    package init(
        _ keys: [LinkKey], forgetsLostKeys: Bool = true,
        didChange: @escaping (PeripheralIdentifier, KeyChange<LinkKey>) -> Void
    ) {
        self.forgetsLostKeys = forgetsLostKeys
        self.keys = keys.filter(Self.isValid)
        self.didChange = didChange
    }

    /// Whether there is a key of a device.
    func knows(_ peripheral: PeripheralIdentifier) -> Bool {
        keys.contains { $0.peripheral == peripheral }
    }

    /// Keeps a key instead of an earlier one. One that the kernel would not take is left alone.
    package func keep(_ key: LinkKey) {
        guard Self.isValid(key) else { return }
        keys.removeAll { $0.peripheral == key.peripheral }
        keys.append(key)
        didChange(key.peripheral, .paired(key))
        if keys.count > Self.limit { didChange(keys.removeFirst().peripheral, .displaced) }
    }

    /// Forgets the key of a device that has lost its own; nothing happens where there is none.
    package func forget(_ peripheral: PeripheralIdentifier) {
        guard knows(peripheral) else { return }
        keys.removeAll { $0.peripheral == peripheral }
        didChange(peripheral, .lost)
    }

    /// One entry that the kernel finds invalid would void the whole list when it is loaded.
    private static func isValid(_ key: LinkKey) -> Bool {
        key.peripheral.addressType == .classic && key.type <= LinkKey.maximumType
    }
}
