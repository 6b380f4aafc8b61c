import AttributeProtocol
import Bluetooth
import BluetoothManagement

/// Keys: into the kernel when an adapter appears, out of it when a headset has been paired. The kernel itself pairs, when the
/// security of a link is raised (BT_SECURITY), encrypts, and resolves private addresses.
///
/// Where no store is given (commands that run for a moment beside the acquisition), the adapter's keys are left as they are.
extension KernelCentral {
    /// How a link ends on which the headset turned out to have no keys any more.
    static let lostKeys = CentralError.connectionFailed(
        reason: "the headset has lost the keys of its pairing; it is paired anew")

    /// Tells the kernel all that is kept, before it is asked to connect to anybody.
    func loadKeys(on index: ControllerIndex, _ information: ControllerInformation) {
        guard bondStore != nil else { return }
        // Without this, the kernel pairs for the one link only: it exchanges no keys.
        adapter.send(.setBondable(true, index))
        adapter.send(.setIOCapability(passkeys.isEmpty ? .noInputNoOutput : .keyboardOnly, index))
        // Without these it pairs in the older way, whose keys whoever listens to the pairing has, too. For Classic, the second
        // needs the first.
        let missing = information.supportedSettings.subtracting(information.currentSettings)
        if missing.contains(.secureSimplePairing) { adapter.send(.setSecureSimplePairing(true, index)) }
        if missing.contains(.secureConnections) { adapter.send(.setSecureConnections(true, index)) }
        adapter.send(.loadLongTermKeys(bonds.bonds, index))
        adapter.send(.loadIdentityResolvingKeys(bonds.bonds, index))
    }

    /// Takes what the kernel tells of pairings.
    func handlePairing(_ event: ManagementEvent) {
        guard let bondStore else { return }
        switch event {
        case .newIdentityResolvingKey(let identity, let key, _, _, let index) where index == adapter.index:
            bonds.noteResolvingKey(key, of: identity)
        case .newLongTermKey(let identity, let key, let isToBeStored, let index) where index == adapter.index:
            if isToBeStored, let bond = bonds.add(key, of: identity) { bondStore.save(bond, identity) }
        case .userConfirmationRequest(let identifier, let index) where index == adapter.index:
            // "Just works" confirms nothing. Only links of this process may be paired, and only while it asks for that.
            adapter.send(.replyToUserConfirmation(awaitsSecurity(identifier), identifier, index))
        case .userPasskeyRequest(let identifier, let index) where index == adapter.index:
            let passkey = awaitsSecurity(identifier) ? passkeys.value(for: identifier) : nil
            adapter.send(.replyToUserPasskey(passkey, identifier, index))
        case .authenticationFailed(let identifier, _, let index) where index == adapter.index:
            securityFailed(identifier)
        default: break
        }
    }

    private func awaitsSecurity(_ identifier: PeripheralIdentifier) -> Bool {
        links.contains { $0.identifier == identifier && $0.isConnected && $0.conversation.awaitsSecurity }
    }

    /// The request that wanted security fails now; else it would when the time is over.
    private func securityFailed(_ identifier: PeripheralIdentifier) {
        guard let place = links.firstIndex(where: { $0.identifier == identifier && $0.isConnected }) else { return }
        links[place].security = nil
        links[place].conversation.didChangeSecurity(to: nil, at: now)
        carryOut(place)
    }

    /// Forgets the keys of a headset that has others, or none: because it was reset, or paired with another machine. The next
    /// link pairs anew. To be called when a link has ended; returns whether that is what ended it.
    func forgetLostKeys(of identity: PeripheralIdentifier, _ reason: DisconnectionReason) -> Bool {
        guard let bondStore, bonds[identity] != nil else { return false }
        switch reason {
        // It said that it has none: PIN or Key Missing (Core Specification, Vol 1, Part F, 2.6).
        case .authenticationFailure: break
        // With another key, what it sends cannot be decrypted, and the adapter gives the link up (2.61, MIC Failure). The
        // kernel has no word for that. A link that broke for another reason while it was being encrypted is not likely to do
        // so twice.
        case .unspecified where awaitsSecurity(identity) && bonds.noteFailure(with: identity): break
        default: return false
        }
        bonds.remove(identity)
        bondStore.save(nil, identity)
        if let index = adapter.index { adapter.send(.unpairDevice(identity, index)) }
        return true
    }
}
