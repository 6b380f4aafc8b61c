import Bluetooth

/// Peripherals that nobody waits for any more, but the kernel does, for a while. Pure.
///
/// A caller that looks for a headset in several ways gives one up after some seconds and may come back to it at once. *Remove
/// Device* is not sent then: a headset that returns just at that moment is being connected to, and the kernel would execute no
/// command for 4 s (see `deviceConnected`). If the kernel does connect meanwhile, the headset, which does not advertise any
/// longer, is reported as discovered, and as connected to whoever asks for that.
struct GivenUpPeripherals {
    /// How long the kernel goes on waiting: longer than callers take to come back to a headset that is away.
    private static let limit = Duration.seconds(30)

    private var waits: [(peripheral: PeripheralIdentifier, until: MonotonicTime)] = []

    /// Those for which the kernel waits.
    var peripherals: [PeripheralIdentifier] { waits.map(\.peripheral) }

    /// When ``takeExpired(at:)`` is due.
    var deadline: MonotonicTime? { waits.map(\.until).min() }

    mutating func add(_ peripheral: PeripheralIdentifier, at now: MonotonicTime) {
        waits.append((peripheral, now + Self.limit))
    }

    /// Returns false for one that was not given up.
    mutating func remove(_ peripheral: PeripheralIdentifier) -> Bool {
        guard let index = waits.firstIndex(where: { $0.peripheral == peripheral }) else { return false }
        waits.remove(at: index)
        return true
    }

    /// Those that the kernel is to forget.
    mutating func takeExpired(at now: MonotonicTime) -> [PeripheralIdentifier] {
        defer { waits.removeAll { $0.until <= now } }
        return waits.filter { $0.until <= now }.map(\.peripheral)
    }
}
