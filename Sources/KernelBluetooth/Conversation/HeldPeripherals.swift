import Bluetooth

/// Peripherals whose channel bluetoothd has taken. Pure.
struct HeldPeripherals {
    /// How often it is looked whether a bluetoothd that is in the way is still there.
    private static let pause = Duration.seconds(2)

    private var peripherals: [PeripheralIdentifier] = []
    /// When ``takeReleased(at:isBluetoothdRunning:)`` is due.
    private(set) var deadline: MonotonicTime?

    mutating func add(_ peripheral: PeripheralIdentifier, at now: MonotonicTime) {
        if !peripherals.contains(peripheral) { peripherals.append(peripheral) }
        deadline = now + Self.pause
    }

    /// Returns all of them once bluetoothd has ended.
    mutating func takeReleased(at now: MonotonicTime, isBluetoothdRunning: () -> Bool) -> [PeripheralIdentifier] {
        guard let time = deadline, time <= now else { return [] }
        deadline = isBluetoothdRunning() ? now + Self.pause : nil
        guard deadline == nil else { return [] }
        defer { peripherals = [] }
        return peripherals
    }
}
