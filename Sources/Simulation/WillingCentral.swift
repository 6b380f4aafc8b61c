public import Bluetooth

/// A central with one peripheral that does at once what it is asked for, and sends nothing but what it is given: for tests that
/// choose every byte and every instant themselves.
public final class WillingCentral: Central {
    /// The peripheral.
    public let identifier: PeripheralIdentifier
    /// What it answers to a write: notifications, in order.
    public var answer: (_ bytes: [UInt8], _ to: BluetoothUUID) -> [(from: BluetoothUUID, value: [UInt8])] = { _, _ in [] }
    /// The value of everything that is read.
    public var readValue: [UInt8] = Array("1".utf8)

    private let database: GATTDatabase
    private var now = MonotonicTime.boot
    private var events: [CentralEvent] = [.didUpdateState(.poweredOn)]
    private var link: Attempt?

    /// Creates a central in whose range the peripheral is.
    public init(_ identifier: PeripheralIdentifier, characteristics: [BluetoothUUID]) {
        self.identifier = identifier
        database = GATTDatabase(
            characteristics: characteristics.map {
                Characteristic(service: $0, uuid: $0, properties: [.notify, .read, .write, .writeWithoutResponse])
            })
    }

    /// Sends a value, where there is a link.
    public func notify(_ value: [UInt8], from characteristic: BluetoothUUID, at time: MonotonicTime) {
        guard link != nil else { return }
        events.append(.didUpdateValue(characteristic, on: identifier, value: value, at: time))
    }

    /// Takes the link down, where there is one.
    public func breakLink() {
        guard let attempt = link else { return }
        link = nil
        events.append(.didDisconnect(identifier, error: .linkLost, attempt: attempt))
    }

    public var state: AdapterState { .poweredOn }
    public var deadline: MonotonicTime? { events.isEmpty ? nil : now }

    public func process(at now: MonotonicTime) -> [CentralEvent] {
        self.now = now
        defer { events.removeAll() }
        return events
    }

    public func restoreState(identifiers: [PeripheralIdentifier], services: [BluetoothUUID], attempt: Attempt) {
        events.append(.willRestoreState([], attempt: attempt))
    }

    public func retrieveConnectedPeripherals(withServices services: [BluetoothUUID], attempt: Attempt) {
        events.append(.didRetrieveConnected([], attempt: attempt))
    }

    public func scanForPeripherals(matching filter: ScanFilter) {}

    public func stopScan() {}

    public func connect(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        link = attempt
        events.append(.didConnect(peripheral, attempt: attempt))
    }

    public func cancelPeripheralConnection(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        link = nil
        events.append(.didDisconnect(peripheral, error: nil, attempt: attempt))
    }

    public func discoverServices(on peripheral: PeripheralIdentifier, attempt: Attempt) {
        events.append(.didDiscoverServices(peripheral, result: .success(database), attempt: attempt))
    }

    public func setNotifyValue(
        _ enabled: Bool, for characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt
    ) {
        events.append(.didUpdateNotificationState(characteristic, on: peripheral, error: nil, attempt: attempt))
    }

    public func readValue(of characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt) {
        events.append(.didReadValue(characteristic, on: peripheral, result: .success(readValue), attempt: attempt))
    }

    public func writeValue(
        _ value: [UInt8], to characteristic: BluetoothUUID, type: WriteType, on peripheral: PeripheralIdentifier,
        attempt: Attempt
    ) {
        if type == .withResponse {
            events.append(.didWriteValue(characteristic, on: peripheral, error: nil, attempt: attempt))
        }
        for (characteristic, value) in answer(value, characteristic) { notify(value, from: characteristic, at: now) }
    }
}
