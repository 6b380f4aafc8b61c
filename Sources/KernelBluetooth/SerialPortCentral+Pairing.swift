import Bluetooth
import BluetoothManagement

/// Pairing, where bluetoothd does not do it: the headset asks for a PIN, or for nothing, and both ends keep a link key. The
/// kernel authenticates with the keys that it knows; ``KernelCentral`` has prepared the adapter for that.
extension SerialPortCentral {
    /// How long a headset may take between two steps of a pairing (LMP Response Timeout; Core Specification, Vol 2, Part C,
    /// 2.5).
    private static let pairingLimit = Duration.seconds(30)
    /// How long all else may take once there is a key.
    private static let finishingLimit = Duration.seconds(5)
    /// The pause before a headset whose key was forgotten is paged anew: the kernel has to take down what there is.
    private static let pairingPause = Duration.milliseconds(100)

    /// How long a headset that has refused to be paired is left alone at first, and at most.
    private static let firstRefusal = Duration.seconds(5)
    private static let longestRefusal = Duration.seconds(900)

    /// Takes what the kernel reports of pairings over Bluetooth Classic.
    func handlePairing(_ event: ManagementEvent) {
        guard let linkKeys else { return }
        switch event {
        case .newLinkKey(let key, let isToBeStored, let index) where isOurs(key.peripheral, index):
            if let link = linkIndex(of: key.peripheral) {
                links[link].pairing.limit = now + Self.finishingLimit
                links[link].pairing.isUndecided = false
            }
            if isToBeStored { linkKeys.keep(key) }
        case .pinCodeRequest(let device, let isLong, let index) where isOurs(device, index):
            // A PIN of 16 digits is asked for only where the kernel was asked to make a link of high security: not by us.
            let mayBePaired = linkKeys.forgetsLostKeys || !linkKeys.knows(device)
            guard !isLong, mayBePaired, let link = linkIndex(ofAsking: device) else {
                return adapter.send(.replyToPINCode(nil, device, index))
            }
            // It would not ask if it still had its key.
            linkKeys.forget(device)
            links[link].pairing.isUndecided = true
            adapter.send(.replyToPINCode(passkeys.pin(for: device), device, index))
        case .userConfirmationRequest(let device, let index) where isOurs(device, index):
            adapter.send(.replyToUserConfirmation(linkIndex(ofAsking: device) != nil, device, index))
        case .userPasskeyRequest(let device, let index) where isOurs(device, index):
            let passkey = linkIndex(ofAsking: device) == nil ? nil : passkeys.value(for: device)
            adapter.send(.replyToUserPasskey(passkey, device, index))
        case .authenticationFailed(let device, _, let index) where isOurs(device, index):
            if let link = linkIndex(of: device) { links[link].pairing.hasFailed = true }
        default: break
        }
    }

    /// Not while bluetoothd runs, which answers then.
    private func isOurs(_ device: PeripheralIdentifier, _ index: ControllerIndex) -> Bool {
        index == adapter.status.index && device.addressType == .classic && !isBluetoothdRunning()
    }

    /// The index of a link that this process is making, or has.
    private func linkIndex(of device: PeripheralIdentifier) -> Int? {
        links.firstIndex { $0.identifier == device && $0.socket != nil }
    }

    /// The same for a headset that asks something, which then has time for it; every other device is refused.
    private func linkIndex(ofAsking device: PeripheralIdentifier) -> Int? {
        guard let index = linkIndex(of: device) else { return nil }
        links[index].pairing.limit = now + Self.pairingLimit
        emit(.didBeginPairing(device))
        return index
    }

    // MARK: Failures

    /// Whether an error while connecting is that of a pairing. Not every headset says so: some refuse the connection, or close
    /// it, where the PIN is wrong.
    func isOfPairing(_ error: SocketError, of link: SerialPortLink) -> Bool {
        if error.isOfAuthentication || link.pairing.hasFailed { return true }
        return switch error.connecting {
        case .away, .final(.adapterUnavailable): false
        case .ending, .final: link.pairing.isUndecided
        }
    }

    /// The headset did not accept the key, or the PIN, or wants what nobody can give it. A key that is wrong is forgotten, and
    /// the headset paired anew; a wrong PIN stays wrong until a person writes another one into the configuration.
    func notAuthenticated(_ index: Int) {
        let peripheral = links[index].identifier
        if !links[index].pairing.hasForgottenKey, forgetKey(of: peripheral) {
            links[index].pairing.hasForgottenKey = true
            return wait(index, Self.pairingPause)
        }
        fail(index, .pairingRefused)
        let earlier = refusedPairings.first { $0.peripheral == peripheral }?.pause
        let pause = earlier.map { min($0 * 2, Self.longestRefusal) } ?? Self.firstRefusal
        refusedPairings.removeAll { $0.peripheral == peripheral }
        refusedPairings.append(RefusedPairing(peripheral: peripheral, pause: pause, until: now + pause))
    }

    /// Headsets that have refused to be paired may be tried again: the person who was waited for may have been at the headset.
    func expireRefusals() {
        for index in refusedPairings.indices {
            guard let until = refusedPairings[index].until, until <= now else { continue }
            refusedPairings[index].until = nil
            emit(.didUnblock(refusedPairings[index].peripheral))
        }
    }

    /// A headset is connected: whatever it has refused before is over, also for others who wait for that.
    func acceptedPairing(with peripheral: PeripheralIdentifier) {
        guard let index = refusedPairings.firstIndex(where: { $0.peripheral == peripheral }) else { return }
        if refusedPairings.remove(at: index).until != nil { emit(.didUnblock(peripheral)) }
    }

    /// A link that was up has ended.
    func ended(_ identifier: PeripheralIdentifier, _ error: SocketError?) {
        guard let error, error.isOfAuthentication, forgetKey(of: identifier) else {
            return end(identifier, SocketError.ended(error))
        }
        end(identifier, KernelKeys.lostKeys)
    }

    /// Forgets the key of a headset that has another, or none, here and in the kernel. Returns false where there was none.
    private func forgetKey(of peripheral: PeripheralIdentifier) -> Bool {
        guard let linkKeys, linkKeys.forgetsLostKeys, linkKeys.knows(peripheral), let index = adapter.status.index else {
            return false
        }
        linkKeys.forget(peripheral)
        adapter.send(.unpairDevice(peripheral, index))
        return true
    }
}

/// A headset that has refused to be paired.
struct RefusedPairing {
    let peripheral: PeripheralIdentifier
    /// How long it is left alone, which doubles with each refusal; headsets, too, wait longer each time before they listen to a
    /// PIN again (Core Specification, Vol 2, Part H, 5.1).
    let pause: Duration
    /// When it is over; nil once that was reported.
    var until: MonotonicTime?
}
