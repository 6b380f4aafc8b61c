import Bluetooth
import BluetoothManagement

/// Keys: into the kernel when an adapter appears, out of it when a headset has been paired. The kernel itself pairs, when the
/// security of a link is raised (BT_SECURITY), encrypts, and resolves private addresses. Pure.
///
/// Where none are kept (commands that run for a moment beside the acquisition), the adapter's keys are left as they are.
struct KernelKeys {
    /// How a link ends on which the headset turned out to have no keys any more.
    static let lostKeys = CentralError.connectionFailed(
        reason: "the headset has lost the keys of its pairing; it is paired anew")

    let areKept: Bool
    /// Whether the keys of a headset that says that it has none any more are forgotten, so that it is paired anew.
    private let forgetsLostKeys: Bool
    /// What headsets show that ask for a passkey when they are paired.
    let passkeys: [Passkey]
    private var bonds: BondTable
    /// The adapter that has the keys.
    private var keyedIndex: ControllerIndex?
    /// Private addresses of links whose identity was revealed since.
    private var resolved: [(address: PeripheralIdentifier, identity: PeripheralIdentifier)] = []

    /// - Parameter bonds: what is kept; nil to keep none.
    init(bonds: [Bond]?, passkeys: [Passkey], forgetsLostKeys: Bool = true) {
        areKept = bonds != nil
        self.forgetsLostKeys = forgetsLostKeys
        self.bonds = BondTable(bonds ?? [])
        self.passkeys = passkeys
    }

    /// Takes news of an adapter.
    mutating func note(_ event: ManagementEvent) {
        if event.isOfRenewedAdapter, event.index == keyedIndex { keyedIndex = nil }
    }

    /// Returns all that the kernel is to be given, once for each adapter, and before it is asked to connect to anybody. Not
    /// while bluetoothd runs: its keys would be gone.
    mutating func load(_ adapter: AdapterStatus, isBluetoothdRunning: () -> Bool) -> [KernelConversation.Effect] {
        guard areKept, let index = adapter.index, keyedIndex != index, !isBluetoothdRunning() else { return [] }
        keyedIndex = index
        // Without the first, the kernel pairs for the one link only: it exchanges no keys.
        var commands: [ManagementCommand] = [
            .setBondable(true, index), .setIOCapability(passkeys.isEmpty ? .noInputNoOutput : .keyboardOnly, index),
        ]
        // Without these it pairs in the older way, whose keys whoever listens to the pairing has, too. For Classic, the second
        // needs the first.
        let missing = adapter.supportedSettings.subtracting(adapter.settings)
        if missing.contains(.secureSimplePairing) { commands.append(.setSecureSimplePairing(true, index)) }
        if missing.contains(.secureConnections) { commands.append(.setSecureConnections(true, index)) }
        commands += [.loadLongTermKeys(bonds.bonds, index), .loadIdentityResolvingKeys(bonds.bonds, index)]
        // An adapter without Bluetooth Classic would refuse it.
        return commands.map { .send($0) } + (adapter.supportedSettings.contains(.classic) ? [.loadLinkKeys(index)] : [])
    }

    // MARK: Bonds

    /// True for a peripheral, as callers call it, whose link can be encrypted.
    func hasBond(with peripheral: PeripheralIdentifier) -> Bool { bonds[kernelsName(of: peripheral)] != nil }

    /// A pairing has made a key that is to be kept.
    mutating func add(_ key: LongTermKey, of identity: PeripheralIdentifier) -> [KernelConversation.Effect] {
        guard let bond = bonds.add(key, of: identity) else { return [] }
        let excess = bonds.takeExcess().map { [KernelConversation.Effect.keepBond(.displaced, with: $0.identity)] } ?? []
        return [.keepBond(.paired(bond), with: identity)] + excess
    }

    /// The link to a peripheral, as callers call it, has been encrypted.
    mutating func noteSuccess(with peripheral: PeripheralIdentifier) {
        bonds.noteSuccess(with: kernelsName(of: peripheral))
    }

    /// Forgets the keys of a device whose link has ended because it has others, or none: it was reset, or paired with another
    /// machine. The next link pairs anew. Returns nothing where that is not what ended it.
    mutating func forgetLost(
        by device: PeripheralIdentifier, _ reason: DisconnectionReason, wasBeingSecured: Bool
    ) -> [KernelConversation.Effect] {
        let identity = kernelsName(of: device)
        guard areKept, forgetsLostKeys, bonds[identity] != nil else { return [] }
        switch reason {
        // It said that it has none: PIN or Key Missing (Core Specification, Vol 1, Part F, 2.6).
        case .authenticationFailure: break
        // With another key, what it sends cannot be decrypted, and the adapter gives the link up (2.61, MIC Failure). The
        // kernel has no word for that. A link that broke for another reason while it was being encrypted is not likely to do
        // so twice.
        case .unspecified where wasBeingSecured && bonds.noteFailure(with: identity): break
        default: return []
        }
        bonds.remove(identity)
        return [.keepBond(.lost, with: identity)]
    }

    // MARK: Resolved addresses

    /// A pairing has revealed by which key private addresses are recognised. A link that was made to one goes by the identity's
    /// from now on, in all that the kernel says and is asked. Callers go on with the address that they know.
    mutating func noteResolvingKey(
        _ key: SecretKey, of identity: PeripheralIdentifier, resolved address: PeripheralIdentifier?
    ) {
        bonds.noteResolvingKey(key, of: identity)
        guard let address else { return }
        resolved.removeAll { $0.address == address || $0.identity == identity }
        resolved.append((address, identity))
    }

    /// What callers call a device that the kernel speaks of.
    func callersName(of device: PeripheralIdentifier) -> PeripheralIdentifier {
        resolved.first { $0.identity == device }?.address ?? device
    }

    /// What the kernel calls a peripheral that callers speak of.
    func kernelsName(of peripheral: PeripheralIdentifier) -> PeripheralIdentifier {
        resolved.first { $0.address == peripheral }?.identity ?? peripheral
    }

    /// The link to a device is down: its address is nobody's any more.
    mutating func forgetAddress(of device: PeripheralIdentifier) { resolved.removeAll { $0.identity == device } }

    /// All links are down.
    mutating func forgetAddresses() { resolved = [] }
}
