/// The central role of one Bluetooth adapter, in Core Bluetooth's words.
///
/// Three implementations stand behind this protocol: bluetoothd over D-Bus, kernel sockets, and the simulation. One contract
/// test suite, `Tests/CentralContract`, runs against each: every sentence here is a case there.
///
/// No call blocks or throws. Each answers with exactly one ``CentralEvent`` that carries the call's `attempt`, or with none
/// where the system stays silent or the link ends meanwhile: callers have deadlines. Events come out of ``process(at:)``, in
/// order, on the same executor that makes the calls; a call never delivers an event before it returns.
///
/// A request to a peripheral that is not connected fails with ``CentralError/notConnected``, one to a characteristic that was
/// not discovered with ``CentralError/noSuchCharacteristic(_:)``.
public protocol Central: AnyObject {
    /// The adapter's state, as last told by ``CentralEvent/didUpdateState(_:)``.
    var state: AdapterState { get }

    /// When ``process(at:)`` wants to be called next even if nothing arrives; nil for never.
    var deadline: MonotonicTime? { get }

    /// Takes what has happened since the last call.
    func process(at now: MonotonicTime) -> [CentralEvent]

    /// Asks what the system still holds for us from an earlier process: connected peripherals that offer one of the services
    /// or carry one of the identifiers. Answered by ``CentralEvent/willRestoreState(_:attempt:)``.
    func restoreState(identifiers: [PeripheralIdentifier], services: [BluetoothUUID], attempt: Attempt)

    /// Asks for peripherals that are connected to this machine, by whomever, and offer one of the services. Answered by
    /// ``CentralEvent/didRetrieveConnected(_:attempt:)``.
    func retrieveConnectedPeripherals(withServices services: [BluetoothUUID], attempt: Attempt)

    /// Starts to scan, or changes the filter of the running scan. Answered by any number of
    /// ``CentralEvent/didDiscover(_:advertisement:rssi:)``, or by ``CentralEvent/didFailToScan(_:)``. A scan ends with the
    /// adapter, and is not begun again by itself.
    func scanForPeripherals(matching filter: ScanFilter)

    /// Stops to scan. Nothing that is seen afterwards is told.
    func stopScan()

    /// Says what to ask of links to a peripheral from its next connection on. Answered by nothing: where the system does not
    /// let this process choose, links have the system's own parameters.
    func setConnectionParameters(_ parameters: ConnectionParameters, for peripheral: PeripheralIdentifier)

    /// Connects. Stays pending while the peripheral is away, for as long as the system allows (40 s with bluetoothd). Answered
    /// by ``CentralEvent/didConnect(_:attempt:)``, at once where the peripheral is connected already, or by
    /// ``CentralEvent/didFailToConnect(_:error:attempt:)``. A connect that is cancelled before has no answer of its own.
    ///
    /// - Parameter attempt: the link's own from then on: a loss is told with it.
    func connect(_ peripheral: PeripheralIdentifier, attempt: Attempt)

    /// Cancels a pending connection or closes an established one. Answered by
    /// ``CentralEvent/didDisconnect(_:error:attempt:)`` with this attempt, also where there was nothing to cancel.
    func cancelPeripheralConnection(_ peripheral: PeripheralIdentifier, attempt: Attempt)

    /// Discovers all services and characteristics. Answered by ``CentralEvent/didDiscoverServices(_:result:attempt:)``.
    func discoverServices(on peripheral: PeripheralIdentifier, attempt: Attempt)

    /// Sets or clears notifications (or indications) of a characteristic; each link begins with none. Answered by
    /// ``CentralEvent/didUpdateNotificationState(_:on:error:attempt:)``, also where they are on or off already. Wishes for one
    /// characteristic are carried out in their order.
    func setNotifyValue(
        _ enabled: Bool, for characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt)

    /// Reads a characteristic. Answered by ``CentralEvent/didReadValue(_:on:result:attempt:)``.
    func readValue(of characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt)

    /// Writes a characteristic. With response: answered by ``CentralEvent/didWriteValue(_:on:error:attempt:)``; without: not.
    func writeValue(
        _ value: [UInt8], to characteristic: BluetoothUUID, type: WriteType, on peripheral: PeripheralIdentifier,
        attempt: Attempt)
}

extension Central {
    /// For centrals without a choice.
    public func setConnectionParameters(_ parameters: ConnectionParameters, for peripheral: PeripheralIdentifier) {}
}
