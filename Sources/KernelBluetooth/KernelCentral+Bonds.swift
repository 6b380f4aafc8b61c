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

    /// Tells the kernel all that is kept, once for each adapter, and before it is asked to connect to anybody. Not while
    /// bluetoothd runs: its keys would be gone.
    func loadKeys(on index: ControllerIndex) {
        guard let bondStore, keyedIndex != index, !isBluetoothdRunning() else { return }
        keyedIndex = index
        // Without this, the kernel pairs for the one link only: it exchanges no keys.
        adapter.send(.setBondable(true, index))
        adapter.send(.setIOCapability(passkeys.isEmpty ? .noInputNoOutput : .keyboardOnly, index))
        // Without these it pairs in the older way, whose keys whoever listens to the pairing has, too. For Classic, the second
        // needs the first.
        let missing = adapter.supportedSettings.subtracting(adapter.settings)
        if missing.contains(.secureSimplePairing) { adapter.send(.setSecureSimplePairing(true, index)) }
        if missing.contains(.secureConnections) { adapter.send(.setSecureConnections(true, index)) }
        adapter.send(.loadLongTermKeys(bonds.bonds, index))
        adapter.send(.loadIdentityResolvingKeys(bonds.bonds, index))
        // An adapter without Bluetooth Classic would refuse it.
        if adapter.supportedSettings.contains(.classic) { adapter.send(.loadLinkKeys(bondStore.linkKeys.keys, index)) }
    }

    /// Takes what the kernel tells of pairings over Bluetooth Low Energy; ``SerialPortCentral`` answers for the others.
    func handlePairing(_ event: ManagementEvent) {
        guard let bondStore else { return }
        switch event {
        case .newIdentityResolvingKey(let identity, let key, let address, _, let index) where index == adapter.index:
            bonds.noteResolvingKey(key, of: identity)
            if let address { wasResolved(address, to: identity) }
        case .newLongTermKey(let identity, let key, let isToBeStored, let index) where index == adapter.index:
            guard isToBeStored, let bond = bonds.add(key, of: identity) else { return }
            bondStore.save(bond, identity)
            if let excess = bonds.takeExcess() { bondStore.save(nil, excess.identity) }
        case .userConfirmationRequest(let device, let index) where isOurs(device, index):
            // "Just works" confirms nothing. Only links of this process may be paired, and only while it asks for that.
            adapter.send(.replyToUserConfirmation(awaitsSecurity(callersName(of: device)), device, index))
        case .userPasskeyRequest(let device, let index) where isOurs(device, index):
            let peripheral = callersName(of: device)
            adapter.send(
                .replyToUserPasskey(awaitsSecurity(peripheral) ? passkeys.value(for: peripheral) : nil, device, index))
        case .authenticationFailed(let device, _, let index) where isOurs(device, index):
            securityFailed(callersName(of: device))
        default: break
        }
    }

    private func isOurs(_ device: PeripheralIdentifier, _ index: ControllerIndex) -> Bool {
        index == adapter.index && device.addressType != .classic
    }

    // MARK: Resolved addresses

    /// A link was made to a private address, and goes by the identity's from now on: in all that the kernel says, and is told.
    /// Callers go on with the address that they know.
    private func wasResolved(_ address: PeripheralIdentifier, to identity: PeripheralIdentifier) {
        resolved.removeAll { $0.address == address || $0.identity == identity }
        resolved.append((address, identity))
        // Nobody will ever look for what was discovered under the address that is about to change.
        guard let map = maps.load(address) else { return }
        maps.save(identity, map)
        maps.save(address, nil)
    }

    /// What callers call a device that the kernel speaks of.
    func callersName(of device: PeripheralIdentifier) -> PeripheralIdentifier {
        resolved.first { $0.identity == device }?.address ?? device
    }

    /// What the kernel calls a peripheral that callers speak of.
    func kernelsName(of peripheral: PeripheralIdentifier) -> PeripheralIdentifier {
        resolved.first { $0.address == peripheral }?.identity ?? peripheral
    }

    // MARK: Security

    /// How long a link may take to become more secure (Core Specification, Vol 3, Part H, 3.4).
    private static let securityLimit = Duration.seconds(30)

    private func awaitsSecurity(_ identifier: PeripheralIdentifier) -> Bool {
        links.contains { $0.identifier == identifier && $0.isConnected && $0.security != nil }
    }

    /// Encrypts a link that is up where there are keys for it, before anything is asked on it: a request that is refused first
    /// costs a round trip (Vol 3, Part C, 10.3.1 lets a headset refuse all of them).
    func encryptBonded(_ place: Int, _ socket: Int32) {
        guard bonds[kernelsName(of: links[place].identifier)] != nil else { return }
        raiseSecurity(place, to: .medium, socket)
    }

    /// Has the kernel make a link more secure. Until it is, the kernel takes no packet; that it does again is how it tells.
    func raiseSecurity(_ place: Int, to level: SecurityLevel, _ socket: Int32) {
        if sockets.raiseSecurity(socket, level) {
            links[place].security = (level, now + Self.securityPause, now + Self.securityLimit)
            readiness.watch(socket, for: .readingAndWriting)
            return
        }
        // It is refused also where the link is as secure already.
        let present = sockets.security(socket)
        links[place].conversation.didChangeSecurity(to: present.flatMap { $0 >= level ? $0 : nil }, at: now)
        carryOut(place)
    }

    /// The socket has something to read, or takes packets.
    func securityMayHaveChanged(_ place: Int, _ socket: Int32) {
        lookAtSecurity(place, socket)
        // One that takes packets and is not more secure would be told of over and over.
        if links[place].outbox.isEmpty { readiness.watch(socket, for: .reading) }
    }

    /// Looks whether a link has become as secure as it was wanted.
    func lookAtSecurity(_ place: Int, _ socket: Int32) {
        guard let wanted = links[place].security else { return }
        if let level = sockets.security(socket), level >= wanted.level {
            links[place].security = nil
            bonds.noteSuccess(with: kernelsName(of: links[place].identifier))
            links[place].conversation.didChangeSecurity(to: level, at: now)
        } else {
            links[place].security = now < wanted.until ? (wanted.level, now + Self.securityPause, wanted.until) : nil
        }
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
    func forgetLostKeys(of peripheral: PeripheralIdentifier, _ reason: DisconnectionReason) -> Bool {
        let identity = kernelsName(of: peripheral)
        guard let bondStore, bonds[identity] != nil else { return false }
        switch reason {
        // It said that it has none: PIN or Key Missing (Core Specification, Vol 1, Part F, 2.6).
        case .authenticationFailure: break
        // With another key, what it sends cannot be decrypted, and the adapter gives the link up (2.61, MIC Failure). The
        // kernel has no word for that. A link that broke for another reason while it was being encrypted is not likely to do
        // so twice.
        case .unspecified where awaitsSecurity(peripheral) && bonds.noteFailure(with: identity): break
        default: return false
        }
        bonds.remove(identity)
        bondStore.save(nil, identity)
        if let index = adapter.index { adapter.send(.unpairDevice(identity, index)) }
        return true
    }
}
