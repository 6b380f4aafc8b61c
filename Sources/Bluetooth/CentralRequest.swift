/// What a ``Central`` is asked for; the names are those of Core Bluetooth's methods.
///
/// A request to a peripheral that is not connected fails with ``CentralError/notConnected``, one to a characteristic that was
/// not discovered with ``CentralError/noSuchCharacteristic(_:)``.
public enum CentralRequest: Hashable, Sendable {
    /// Asks what the system still holds for us from an earlier process: connected peripherals that offer one of the services
    /// or carry one of the identifiers. Answered by ``CentralEvent/willRestoreState(_:attempt:)``.
    case restoreState(identifiers: [PeripheralIdentifier], services: [BluetoothUUID], attempt: Attempt)

    /// Asks for peripherals that are connected to this machine, by whomever, and offer one of the services. Answered by
    /// ``CentralEvent/didRetrieveConnected(_:attempt:)``.
    case retrieveConnectedPeripherals(withServices: [BluetoothUUID], attempt: Attempt)

    /// Starts to scan, or changes the filter of the running scan. Answered by any number of
    /// ``CentralEvent/didDiscover(_:advertisement:rssi:)``, or by ``CentralEvent/didFailToScan(_:)``. A scan ends with the
    /// adapter, and is not begun again by itself.
    case scanForPeripherals(matching: ScanFilter)

    /// Stops to scan. Nothing that is seen afterwards is reported.
    case stopScan

    /// Says what to ask of links to a peripheral from its next connection on. Answered by nothing: where the system does not
    /// let this process choose, links have the system's own parameters.
    case setConnectionParameters(ConnectionParameters, for: PeripheralIdentifier)

    /// Says that a connected peripheral has proven to be the headset that it is taken for: its identity was accepted, and it
    /// has sent samples. A system that forgets peripherals may keep this one. Answered by nothing.
    case trustPeripheral(PeripheralIdentifier)

    /// Connects. Stays pending while the peripheral is away, for as long as the system allows (40 s with bluetoothd). Answered
    /// by ``CentralEvent/didConnect(_:attempt:)``, at once where the peripheral is connected already, or by
    /// ``CentralEvent/didFailToConnect(_:error:attempt:)``. A connect that is cancelled before has no answer of its own.
    ///
    /// The attempt is the link's own from then on: a loss is reported with it.
    case connect(PeripheralIdentifier, attempt: Attempt)

    /// Cancels a pending connection or closes an established one. Answered by
    /// ``CentralEvent/didDisconnect(_:error:attempt:)`` with this attempt, also where there was nothing to cancel.
    case cancelPeripheralConnection(PeripheralIdentifier, attempt: Attempt)

    /// Discovers all services and characteristics. Answered by ``CentralEvent/didDiscoverServices(_:result:attempt:)``.
    case discoverServices(on: PeripheralIdentifier, attempt: Attempt)

    /// Sets or clears notifications (or indications) of a characteristic; each link begins with none. Answered by
    /// ``CentralEvent/didUpdateNotificationState(_:on:error:attempt:)``, also where they are on or off already. Wishes for one
    /// characteristic are carried out in their order.
    case setNotifyValue(Bool, for: BluetoothUUID, on: PeripheralIdentifier, attempt: Attempt)

    /// Reads a characteristic. Answered by ``CentralEvent/didReadValue(_:on:result:attempt:)``.
    case readValue(of: BluetoothUUID, on: PeripheralIdentifier, attempt: Attempt)

    /// Writes a characteristic. With response: answered by ``CentralEvent/didWriteValue(_:on:error:attempt:)``; without: not.
    case writeValue([UInt8], to: BluetoothUUID, type: WriteType, on: PeripheralIdentifier, attempt: Attempt)

    /// Asks how strong the link to a peripheral is. Answered by ``CentralEvent/didReadRSSI(_:of:)``, or by nothing: where the
    /// system does not say it, or not to this process, and where there is no link.
    case readRSSI(of: PeripheralIdentifier)

    /// The number that the answer carries; nil for a request that has no answer of its own.
    public var attempt: Attempt? {
        switch self {
        case .scanForPeripherals, .stopScan, .setConnectionParameters, .trustPeripheral, .readRSSI: nil
        case .restoreState(_, _, let attempt), .retrieveConnectedPeripherals(_, let attempt), .connect(_, let attempt),
            .cancelPeripheralConnection(_, let attempt), .discoverServices(_, let attempt),
            .setNotifyValue(_, _, _, let attempt),
            .readValue(_, _, let attempt), .writeValue(_, _, _, _, let attempt):
            attempt
        }
    }

    /// Whom it concerns; nil for a request that concerns the adapter.
    public var peripheral: PeripheralIdentifier? {
        switch self {
        case .restoreState, .retrieveConnectedPeripherals, .scanForPeripherals, .stopScan: nil
        case .setConnectionParameters(_, let peripheral), .trustPeripheral(let peripheral), .readRSSI(let peripheral),
            .connect(let peripheral, _), .cancelPeripheralConnection(let peripheral, _),
            .discoverServices(let peripheral, _), .setNotifyValue(_, _, let peripheral, _), .readValue(_, let peripheral, _),
            .writeValue(_, _, _, let peripheral, _):
            peripheral
        }
    }

    /// The answer that says that it failed; nil where that is reported otherwise, or not at all.
    public func failure(_ error: CentralError) -> CentralEvent? {
        switch self {
        case .restoreState(_, _, let attempt): .willRestoreState([], attempt: attempt)
        case .retrieveConnectedPeripherals(_, let attempt): .didRetrieveConnected([], attempt: attempt)
        case .scanForPeripherals: .didFailToScan(error)
        case .stopScan, .setConnectionParameters, .trustPeripheral, .readRSSI, .writeValue(_, _, .withoutResponse, _, _): nil
        case .connect(let peripheral, let attempt): .didFailToConnect(peripheral, error: error, attempt: attempt)
        case .cancelPeripheralConnection(let peripheral, let attempt):
            .didDisconnect(peripheral, error: nil, attempt: attempt)
        case .discoverServices(let peripheral, let attempt):
            .didDiscoverServices(peripheral, result: .failure(error), attempt: attempt)
        case .setNotifyValue(_, let characteristic, let peripheral, let attempt):
            .didUpdateNotificationState(characteristic, on: peripheral, error: error, attempt: attempt)
        case .readValue(let characteristic, let peripheral, let attempt):
            .didReadValue(characteristic, on: peripheral, result: .failure(error), attempt: attempt)
        case .writeValue(_, let characteristic, .withResponse, let peripheral, let attempt):
            .didWriteValue(characteristic, on: peripheral, error: error, attempt: attempt)
        }
    }
}
