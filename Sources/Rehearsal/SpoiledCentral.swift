import Bluetooth

/// A central that a planted defect sits on.
final class SpoiledCentral: Central {
    private let central: any Central
    private let defect: PlantedDefect
    private var connects = 0

    /// Nil for a defect that sits elsewhere.
    init?(_ central: any Central, defect: PlantedDefect) {
        guard [.connectTwice, .giveUpReconnecting, .neverDrain].contains(defect) else { return nil }
        self.central = central
        self.defect = defect
    }

    var state: AdapterState { central.state }
    var deadline: MonotonicTime? { central.deadline }

    func process(at now: MonotonicTime) -> [CentralEvent] { central.process(at: now) }

    func restoreState(identifiers: [PeripheralIdentifier], services: [BluetoothUUID], attempt: Attempt) {
        central.restoreState(identifiers: identifiers, services: services, attempt: attempt)
    }

    func retrieveConnectedPeripherals(withServices services: [BluetoothUUID], attempt: Attempt) {
        central.retrieveConnectedPeripherals(withServices: services, attempt: attempt)
    }

    func scanForPeripherals(matching filter: ScanFilter) { central.scanForPeripherals(matching: filter) }

    func stopScan() { central.stopScan() }

    func connect(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        connects += 1
        if defect == .giveUpReconnecting, connects > 1 { return }
        central.connect(peripheral, attempt: attempt)
        if defect == .connectTwice { central.connect(peripheral, attempt: attempt) }
    }

    func cancelPeripheralConnection(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        central.cancelPeripheralConnection(peripheral, attempt: attempt)
    }

    func discoverServices(on peripheral: PeripheralIdentifier, attempt: Attempt) {
        central.discoverServices(on: peripheral, attempt: attempt)
    }

    func setNotifyValue(
        _ enabled: Bool, for characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt
    ) {
        central.setNotifyValue(enabled, for: characteristic, on: peripheral, attempt: attempt)
    }

    func readValue(of characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt) {
        central.readValue(of: characteristic, on: peripheral, attempt: attempt)
    }

    func writeValue(
        _ value: [UInt8], to characteristic: BluetoothUUID, type: WriteType, on peripheral: PeripheralIdentifier,
        attempt: Attempt
    ) {
        // READ has opcode 6 in the Buffered EEG service.
        if defect == .neverDrain, value.first == 0x06 { return }
        central.writeValue(value, to: characteristic, type: type, on: peripheral, attempt: attempt)
    }
}
