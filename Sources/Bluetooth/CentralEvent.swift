/// What a ``Central`` reports; the names are those of Core Bluetooth's delegate methods.
public enum CentralEvent: Hashable, Sendable {
    /// The adapter's state changed, or is reported for the first time.
    case didUpdateState(AdapterState)
    /// What the system still held for us.
    case willRestoreState([RestoredPeripheral], attempt: Attempt)
    /// Connected peripherals that offer a service that was asked for.
    case didRetrieveConnected([PeripheralIdentifier], attempt: Attempt)
    /// An advertisement that matches the filter; `rssi` in dBm.
    case didDiscover(PeripheralIdentifier, advertisement: Advertisement, rssi: Int8)
    /// The radio hangs: for minutes it has done nothing of what it was asked to, and nothing was heard. `isRecovering` is true
    /// where it is switched off and on again.
    case didNoticeHungRadio(isRecovering: Bool)
    /// The scan could not start, or broke off, as it does when the adapter is switched off.
    case didFailToScan(CentralError)
    /// The link is up.
    case didConnect(PeripheralIdentifier, attempt: Attempt)
    /// The connection request ended without a link.
    case didFailToConnect(PeripheralIdentifier, error: CentralError, attempt: Attempt)
    /// The link is down. `error` is nil and `attempt` that of the call where it was cancelled; otherwise `attempt` is that of
    /// the `connect` which had established the link, or ``Attempt/none`` for a restored one.
    case didDisconnect(PeripheralIdentifier, error: CentralError?, attempt: Attempt)
    /// A person unblocked the peripheral, or ended the bluetoothd that held it: what waited for that may go on.
    case didUnblock(PeripheralIdentifier)
    /// A pairing with the peripheral is under way, because of a connect or a request that is outstanding: the answer takes as
    /// long as the peripheral does, or the person at it. May be said several times of one pairing.
    case didBeginPairing(PeripheralIdentifier)
    /// The discovery ended.
    case didDiscoverServices(PeripheralIdentifier, result: Result<GATTDatabase, CentralError>, attempt: Attempt)
    /// Services changed on the peripheral; handles known so far are void.
    case didModifyServices(PeripheralIdentifier)
    /// Notifications of the characteristic are on or off as asked, or `error` says why not.
    case didUpdateNotificationState(BluetoothUUID, on: PeripheralIdentifier, error: CentralError?, attempt: Attempt)
    /// A notification or indication; `at` was read from the clock right after the bytes were received.
    case didUpdateValue(BluetoothUUID, on: PeripheralIdentifier, value: [UInt8], at: MonotonicTime)
    /// A packet of the Attribute Protocol, as the link's socket gave or took it, and when it arrived or was handed over.
    /// Reported by centrals that hold that socket, before what the packet leads to; nothing but a capture follows from it.
    case didTransferPacket([UInt8], with: PeripheralIdentifier, isReceived: Bool, at: MonotonicTime)
    /// How strong the link is; the answer to ``CentralRequest/readRSSI(of:)``.
    case didReadRSSI(LinkQuality, of: PeripheralIdentifier)
    /// The answer to a read.
    case didReadValue(BluetoothUUID, on: PeripheralIdentifier, result: Result<[UInt8], CentralError>, attempt: Attempt)
    /// The answer to a write with response.
    case didWriteValue(BluetoothUUID, on: PeripheralIdentifier, error: CentralError?, attempt: Attempt)
}

/// A peripheral whose connection outlived the process that had made it (Core Bluetooth: state restoration).
public struct RestoredPeripheral: Hashable, Sendable {
    /// Its identifier.
    public var identifier: PeripheralIdentifier
    /// True where the link is up now.
    public var isConnected: Bool
    /// The services, where the system still knows them.
    public var database: GATTDatabase?
    /// Characteristics whose notifications are still on and reach this process.
    public var notifying: [BluetoothUUID]

    /// Creates a restored peripheral.
    public init(identifier: PeripheralIdentifier, isConnected: Bool, database: GATTDatabase?, notifying: [BluetoothUUID]) {
        self.identifier = identifier
        self.isConnected = isConnected
        self.database = database
        self.notifying = notifying
    }
}
