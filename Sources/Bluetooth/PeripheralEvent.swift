/// What happens to this machine as a peripheral; the names are those of Core Bluetooth's methods.
public enum PeripheralEvent: Hashable, Sendable {
    /// The adapter has another state. In every state but `poweredOn` nobody is connected.
    case didUpdateState(AdapterState)
    /// The services are published, or were refused: then they are tried again by themselves.
    case didPublish(error: String?)
    /// The system advertises, or has refused to: then it is tried again by itself.
    case didStartAdvertising(error: String?)
    /// A central has connected.
    case didConnect(PeripheralIdentifier)
    /// A central is gone, and its subscriptions with it.
    case didDisconnect(PeripheralIdentifier)
    /// Somebody has switched notifications of a characteristic on. `maximumLength`: what one notification can hold, in bytes;
    /// nil where the system does not say it.
    case didSubscribe(BluetoothUUID, maximumLength: Int?)
    /// Nobody listens to a characteristic any more.
    case didUnsubscribe(BluetoothUUID)
    /// A central reads a characteristic, and waits for ``PeripheralRequest/respond(_:_:)``.
    case didReceiveRead(RequestNumber, of: BluetoothUUID, from: PeripheralIdentifier?)
    /// A central writes a characteristic, and waits for ``PeripheralRequest/respond(_:_:)``, with or without response.
    case didReceiveWrite(RequestNumber, [UInt8], to: BluetoothUUID, from: PeripheralIdentifier?)
    /// A central pairs, and is to enter this passkey, 0 ... 999,999.
    case didDisplayPasskey(UInt32, for: PeripheralIdentifier)
    /// A central has paired while the pairing was open; by its identity address, where it has one.
    case didPair(PeripheralIdentifier)
}
