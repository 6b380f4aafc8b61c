import Bluetooth

/// A call that carries an attempt and asks for an answer.
enum Request: Hashable {
    case restore(identifiers: [PeripheralIdentifier], services: [BluetoothUUID])
    case retrieve(services: [BluetoothUUID])
    case connect(PeripheralIdentifier)
    case cancel(PeripheralIdentifier)
    case discover(PeripheralIdentifier)
    case setNotify(Bool, BluetoothUUID, PeripheralIdentifier)
    case read(BluetoothUUID, PeripheralIdentifier)
    case write([UInt8], BluetoothUUID, WriteType, PeripheralIdentifier)

    /// Makes the call.
    func make(of central: any Central, attempt: Attempt) {
        switch self {
        case .restore(let identifiers, let services):
            central.request(.restoreState(identifiers: identifiers, services: services, attempt: attempt))
        case .retrieve(let services): central.request(.retrieveConnectedPeripherals(withServices: services, attempt: attempt))
        case .connect(let peripheral): central.request(.connect(peripheral, attempt: attempt))
        case .cancel(let peripheral): central.request(.cancelPeripheralConnection(peripheral, attempt: attempt))
        case .discover(let peripheral): central.request(.discoverServices(on: peripheral, attempt: attempt))
        case .setNotify(let on, let uuid, let peripheral):
            central.request(.setNotifyValue(on, for: uuid, on: peripheral, attempt: attempt))
        case .read(let uuid, let peripheral): central.request(.readValue(of: uuid, on: peripheral, attempt: attempt))
        case .write(let value, let uuid, let type, let peripheral):
            central.request(.writeValue(value, to: uuid, type: type, on: peripheral, attempt: attempt))
        }
    }

    /// True where the event is of the kind that answers this call, and names what the call named.
    func isAnswered(by event: CentralEvent) -> Bool {
        switch (self, event) {
        case (.restore, .willRestoreState), (.retrieve, .didRetrieveConnected): true
        case (.connect(let mine), .didConnect(let named, _)), (.connect(let mine), .didFailToConnect(let named, _, _)),
            (.cancel(let mine), .didDisconnect(let named, _, _)), (.discover(let mine), .didDiscoverServices(let named, _, _)):
            mine == named
        case (.setNotify(_, let uuid, let mine), .didUpdateNotificationState(let other, let named, _, _)),
            (.read(let uuid, let mine), .didReadValue(let other, let named, _, _)),
            (.write(_, let uuid, .withResponse, let mine), .didWriteValue(let other, let named, _, _)):
            uuid == other && mine == named
        default: false
        }
    }
}
