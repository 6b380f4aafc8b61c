import BlueZ
import Bluetooth
import BluetoothManagement

/// This machine as a peripheral for the time of one command. It runs on the thread that calls.
final class PeripheralSession {
    /// How long bluetoothd and the adapter have to be there where a command cannot wait for them.
    static let startLimit = Duration.seconds(10)

    /// The peripheral.
    let peripheral: BlueZPeripheral
    private let descriptors = PolledDescriptors()

    /// - Parameters:
    ///   - adapter: its name or address; nil for the first that is on.
    ///   - lock: keeps others from the adapter; nil where it is shared.
    init(adapter: String?, lock: AdapterLock? = nil) {
        peripheral = BlueZPeripheral(adapter: adapter, lock: lock, watch: descriptors.watch)
    }

    /// Waits until something may have happened, at most until an instant.
    func wait(until limit: MonotonicTime) async {
        descriptors.wait(until: min(limit, peripheral.deadline ?? limit), from: HostClock.now)
        // On a machine with one core, what looks at signals needs this thread.
        await Task.yield()
    }

    /// Why there is no adapter to be a peripheral on.
    ///
    /// - Parameters:
    ///   - task: what it was for; completes "the adapter cannot ...".
    ///   - consequence: what does not happen.
    func failure(adapter: String?, task: String, consequence: String) -> Failure {
        let which = adapter.map { "the adapter \($0)" } ?? "an adapter"
        let (reason, remedy) =
            switch peripheral.state {
            case .unknown, .resetting: ("bluetoothd does not run", "start it: systemctl start bluetooth")
            case .unauthorized: ("this user may not speak to bluetoothd", "run it as root, or as a user of the group bluetooth")
            case .inUse:
                (
                    "another eegsync has it: one adapter cannot record and be recorded",
                    "name another adapter with --adapter hci1, or end that one"
                )
            case .blocked: ("its radio is blocked", "unblock it: rfkill unblock bluetooth")
            case .poweredOff: ("it is switched off", "switch it on: bluetoothctl power on")
            case .unsupported: ("it knows no Bluetooth Low Energy", "name another one with --adapter hci1")
            case .absent, .unreachable, .poweredOn: ("it is not there", "see which there are: bluetoothctl list")
            }
        return Failure(
            problem: "\(which) cannot \(task): \(reason).", consequence: consequence, remedy: remedy + ".", code: .unavailable)
    }
}
