/// Why a central could not do what it was asked.
public enum CentralError: Error, Hashable, Sendable {
    /// The peripheral did not answer a connection request in the time that the system allows.
    case connectionTimedOut
    /// The link broke off while it was being established.
    case connectionFailed(reason: String)
    /// The peripheral is not connected, or not any longer.
    case notConnected
    /// The supervision timeout passed, or the peripheral went away.
    case linkLost
    /// The peripheral closed the link (error 0x13, remote user terminated connection).
    case peripheralDisconnected
    /// A person or another program closed the link.
    case disconnectedByOperator
    /// A person blocked the peripheral.
    case peripheralBlocked
    /// The adapter is off, blocked or gone.
    case adapterUnavailable(AdapterState)
    /// The system knows no peripheral under the identifier.
    case unknownPeripheral
    /// Another program owns the peripheral's ATT channel.
    case channelBusy
    /// bluetoothd gives notifications of a characteristic to one process, and says that another one has them. Versions up to
    /// 5.85 say so for ever of a process that was killed after its link had ended within an AcquireNotify.
    case notificationsAcquired
    /// bluetoothd runs beside a central of the kernel's sockets and has taken the peripheral's ATT channel. The person who lets
    /// both run must end one.
    case heldByBluetoothd
    /// The peripheral does not let itself be paired: most often its PIN is another one. It is tried again after a long pause,
    /// which ``CentralEvent/didUnblock(_:)`` ends.
    case pairingRefused
    /// The peripheral was paired and has lost its keys, and a person forbade to pair it anew by itself: something else may
    /// answer under its address.
    case repairingForbidden
    /// The system still works on an earlier request for the peripheral.
    case inProgress
    /// The characteristic is not in the peripheral's database.
    case noSuchCharacteristic(BluetoothUUID)
    /// The peripheral answered with an ATT error.
    case att(ATTError)
    /// This process lacks the permission.
    case notPermitted(what: String)

    /// What the error asks for.
    public var disposition: Disposition {
        switch self {
        case .connectionTimedOut, .unknownPeripheral: .nextLayer
        case .connectionFailed, .notConnected, .linkLost, .peripheralDisconnected, .disconnectedByOperator, .channelBusy,
            .notificationsAcquired, .inProgress, .noSuchCharacteristic:
            .retry
        case .peripheralBlocked, .heldByBluetoothd, .pairingRefused, .repairingForbidden, .adapterUnavailable, .notPermitted:
            .waitForOperator
        case .att(let error): error.disposition
        }
    }
}

extension CentralError: CustomStringConvertible {
    /// What happened, in words for a person.
    public var description: String {
        switch self {
        case .connectionTimedOut: "the headset did not answer the connection request"
        case .connectionFailed(let reason): "the connection failed: \(reason)"
        case .notConnected: "the headset is not connected"
        case .linkLost: "the link was lost"
        case .peripheralDisconnected: "the headset closed the link"
        case .disconnectedByOperator: "a person or another program disconnected the headset"
        case .peripheralBlocked: "a person blocked the headset"
        case .adapterUnavailable(let state): "the Bluetooth adapter is \(state.rawValue)"
        case .unknownPeripheral: "the system knows no headset under this address"
        case .channelBusy: "another program uses the headset"
        case .notificationsAcquired:
            "another program has the headset's notifications; where there is none, bluetoothd (before 5.86) keeps them for one "
                + "that was killed, and eegsync tries on: systemctl restart bluetooth frees them"
        case .heldByBluetoothd: "bluetoothd runs beside eegsync and has taken the headset's channel (EBUSY)"
        case .pairingRefused: "the headset does not accept the PIN of its pairing"
        case .repairingForbidden: "the headset has lost the keys of its pairing, and 'repairing: never' forbids to pair it anew"
        case .inProgress: "the system still works on an earlier request"
        case .noSuchCharacteristic(let uuid): "the headset has no characteristic \(uuid)"
        case .att(let error): "the headset answered with \(error)"
        case .notPermitted(let what): "this process may not \(what)"
        }
    }
}
