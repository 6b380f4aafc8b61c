package import Bluetooth

/// Where the bonds with headsets are kept from one process to the next.
package struct BondStore {
    /// What is kept.
    package let load: () -> [Bond]
    /// Keeps the bond with a device instead of an earlier one, or forgets it. Never waits.
    package let save: (KeyChange<Bond>, PeripheralIdentifier) -> Void

    /// The keys of headsets of Bluetooth Classic, which come and go together with the others.
    package let linkKeys: LinkKeyStore

    /// Whether the keys of a headset that says that it has none any more are forgotten, so that it is paired anew.
    let forgetsLostKeys: Bool

    /// Creates a store from its two halves, and the other one.
    package init(
        load: @escaping () -> [Bond], save: @escaping (KeyChange<Bond>, PeripheralIdentifier) -> Void,
        linkKeys: LinkKeyStore = LinkKeyStore([]) { _, _ in }, forgetsLostKeys: Bool = true
    ) {
        self.load = load
        self.save = save
        self.linkKeys = linkKeys
        self.forgetsLostKeys = forgetsLostKeys
    }
}

/// The bonds that are known, and what becomes of them when the kernel reports new keys. Pure.
struct BondTable: Hashable {
    /// How many are kept: more than anybody has headsets. The oldest goes first.
    static let limit = 256
    /// In the order in which they were made; those of earlier processes come first.
    private(set) var bonds: [Bond]
    /// Devices with which the last link could not be encrypted, maybe.
    private var doubtful: [PeripheralIdentifier] = []
    /// Keys of pairings that have not come to the other keys yet, the latest last.
    private var resolvingKeys: [Bond] = []
    /// Pairings that go on at the same time: more than there are links.
    private static let pairingLimit = 16
    /// Keys of Secure Connections have this type and the next ones; there is one for both roles.
    private static let secureConnections: UInt8 = 2

    init(_ bonds: [Bond]) {
        self.bonds = bonds.filter { Self.isIdentity($0.identity) }
    }

    /// The bond with a device; nil for none.
    subscript(identity: PeripheralIdentifier) -> Bond? {
        bonds.first { $0.identity == identity }
    }

    /// Takes the key by which a device's private addresses are recognised. The kernel hints at not keeping that of a device
    /// which does not use one on this link; it may tomorrow, so whether it is kept depends on the key that follows.
    mutating func noteResolvingKey(_ key: SecretKey, of identity: PeripheralIdentifier) {
        resolvingKeys.removeAll { $0.identity == identity }
        resolvingKeys.append(Bond(identity: identity, identityResolvingKey: key))
        if resolvingKeys.count > Self.pairingLimit { resolvingKeys.removeFirst() }
    }

    /// Takes a key that encrypts; returns the bond that is to be kept from now on.
    mutating func add(_ key: LongTermKey, of identity: PeripheralIdentifier) -> Bond? {
        // One entry with another address would void the whole list when it is loaded.
        guard Self.isIdentity(identity) else { return nil }
        var bond = self[identity] ?? Bond(identity: identity)
        // The two keys of an older device come one after the other; all else is of an earlier pairing.
        bond.longTermKeys.removeAll {
            $0.isForCentral == key.isForCentral || max($0.type, key.type) >= Self.secureConnections
        }
        bond.longTermKeys.append(key)
        if let resolving = resolvingKeys.first(where: { $0.identity == identity }) {
            bond.identityResolvingKey = resolving.identityResolvingKey
        }
        remove(identity)
        bonds.append(bond)
        return bond
    }

    /// Takes out a bond that is one too many; nil for none.
    mutating func takeExcess() -> Bond? {
        bonds.count > Self.limit ? bonds.removeFirst() : nil
    }

    /// Notes that a link with a device has ended while it was being encrypted. Returns true the second time in a row.
    mutating func noteFailure(with identity: PeripheralIdentifier) -> Bool {
        if doubtful.contains(identity) { return true }
        doubtful.append(identity)
        return false
    }

    /// Notes that a link with a device has been encrypted.
    mutating func noteSuccess(with identity: PeripheralIdentifier) {
        doubtful.removeAll { $0 == identity }
    }

    /// Forgets a bond.
    mutating func remove(_ identity: PeripheralIdentifier) {
        bonds.removeAll { $0.identity == identity }
        noteSuccess(with: identity)
    }

    /// Whether an address stays.
    private static func isIdentity(_ identifier: PeripheralIdentifier) -> Bool {
        identifier.addressType != .classic && !identifier.isPrivate
    }
}
