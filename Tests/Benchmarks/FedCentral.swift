import Bluetooth
import Simulation

/// A central whose headsets connect in a simulated world and are then fed from prepared events, so that only the
/// acquisition is measured.
final class FedCentral: Central {
    /// The events of the next instant.
    var fed: [CentralEvent] = []
    /// True once the world stands still.
    var isFed = false
    private let base: SimulatedCentral

    init(_ base: SimulatedCentral) {
        self.base = base
    }

    var state: AdapterState { base.state }
    var deadline: MonotonicTime? { isFed ? nil : base.deadline }

    func process(at now: MonotonicTime) -> [CentralEvent] {
        guard isFed else { return base.process(at: now) }
        defer { fed.removeAll(keepingCapacity: true) }
        return fed
    }

    func restoreState(identifiers: [PeripheralIdentifier], services: [BluetoothUUID], attempt: Attempt) {
        base.restoreState(identifiers: identifiers, services: services, attempt: attempt)
    }

    func retrieveConnectedPeripherals(withServices services: [BluetoothUUID], attempt: Attempt) {
        base.retrieveConnectedPeripherals(withServices: services, attempt: attempt)
    }

    func scanForPeripherals(matching filter: ScanFilter) { base.scanForPeripherals(matching: filter) }

    func stopScan() { base.stopScan() }

    func connect(_ peripheral: PeripheralIdentifier, attempt: Attempt) { base.connect(peripheral, attempt: attempt) }

    func cancelPeripheralConnection(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        base.cancelPeripheralConnection(peripheral, attempt: attempt)
    }

    func discoverServices(on peripheral: PeripheralIdentifier, attempt: Attempt) {
        base.discoverServices(on: peripheral, attempt: attempt)
    }

    func setNotifyValue(
        _ enabled: Bool, for characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt
    ) {
        guard !isFed else { return }
        base.setNotifyValue(enabled, for: characteristic, on: peripheral, attempt: attempt)
    }

    func readValue(of characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt) {
        guard !isFed else { return }
        base.readValue(of: characteristic, on: peripheral, attempt: attempt)
    }

    func writeValue(
        _ value: [UInt8], to characteristic: BluetoothUUID, type: WriteType, on peripheral: PeripheralIdentifier,
        attempt: Attempt
    ) {
        guard !isFed else { return }
        base.writeValue(value, to: characteristic, type: type, on: peripheral, attempt: attempt)
    }
}
