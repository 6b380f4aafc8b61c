package import Bluetooth

/// A central with one peripheral that does at once what it is asked for, and sends nothing but what it is given: for tests that
/// choose every byte and every instant themselves.
package final class WillingCentral: Central {
    /// The peripheral.
    package let identifier: PeripheralIdentifier
    /// What it answers to a write: notifications, in order.
    package var answer: (_ bytes: [UInt8], _ to: BluetoothUUID) -> [(from: BluetoothUUID, value: [UInt8])] = { _, _ in [] }
    /// The value of everything that is read.
    package var readValue: [UInt8] = Array("1".utf8)

    private let database: GATTDatabase
    private var now = MonotonicTime.boot
    private var events: [CentralEvent] = [.didUpdateState(.poweredOn)]
    private var link: Attempt?

    /// Creates a central in whose range the peripheral is.
    package init(_ identifier: PeripheralIdentifier, characteristics: [BluetoothUUID]) {
        self.identifier = identifier
        database = GATTDatabase(
            characteristics: characteristics.map {
                Characteristic(service: $0, uuid: $0, properties: [.notify, .read, .write, .writeWithoutResponse])
            })
    }

    /// Sends a value, where there is a link.
    package func notify(_ value: [UInt8], from characteristic: BluetoothUUID, at time: MonotonicTime) {
        guard link != nil else { return }
        events.append(.didUpdateValue(characteristic, on: identifier, value: value, at: time))
    }

    /// Takes the link down, where there is one.
    package func breakLink() {
        guard let attempt = link else { return }
        link = nil
        events.append(.didDisconnect(identifier, error: .linkLost, attempt: attempt))
    }

    package var state: AdapterState { .poweredOn }
    package var deadline: MonotonicTime? { events.isEmpty ? nil : now }

    package func process(at now: MonotonicTime) -> [CentralEvent] {
        self.now = now
        defer { events.removeAll() }
        return events
    }

    package func request(_ request: CentralRequest) {
        switch request {
        case .restoreState(_, _, let attempt): events.append(.willRestoreState([], attempt: attempt))
        case .retrieveConnectedPeripherals(_, let attempt): events.append(.didRetrieveConnected([], attempt: attempt))
        case .scanForPeripherals, .stopScan, .setConnectionParameters, .trustPeripheral, .readRSSI: break
        case .connect(let peripheral, let attempt):
            link = attempt
            events.append(.didConnect(peripheral, attempt: attempt))
        case .cancelPeripheralConnection(let peripheral, let attempt):
            link = nil
            events.append(.didDisconnect(peripheral, error: nil, attempt: attempt))
        case .discoverServices(let peripheral, let attempt):
            events.append(.didDiscoverServices(peripheral, result: .success(database), attempt: attempt))
        case .setNotifyValue(_, let characteristic, let peripheral, let attempt):
            events.append(.didUpdateNotificationState(characteristic, on: peripheral, error: nil, attempt: attempt))
        case .readValue(let characteristic, let peripheral, let attempt):
            events.append(.didReadValue(characteristic, on: peripheral, result: .success(readValue), attempt: attempt))
        case .writeValue(let value, let characteristic, let type, let peripheral, let attempt):
            if type == .withResponse {
                events.append(.didWriteValue(characteristic, on: peripheral, error: nil, attempt: attempt))
            }
            for (characteristic, value) in answer(value, characteristic) { notify(value, from: characteristic, at: now) }
        }
    }
}
