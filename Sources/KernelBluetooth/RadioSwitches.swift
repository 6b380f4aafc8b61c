import BluetoothManagement

/// The kernel's radio switches (rfkill), and how their changes are noticed; tests use others instead.
struct RadioSwitches {
    /// Whether the radio of an adapter such as `hci0` is blocked.
    let isBlocked: (String) -> Bool
    /// Opens what becomes readable when a switch changes; nil where this process may not, or where there is none.
    let open: () -> Int32?
    /// The number under which changes of an adapter's switch are reported; nil for none.
    var number: (String) -> UInt32? = { _ in nil }

    /// The kernel's: `/dev/rfkill` reports that one of them has changed; the state is read from sysfs, where only the adapter's
    /// own switch is looked at.
    static var kernel: RadioSwitches {
        RadioSwitches(
            isBlocked: { RadioSwitch.isBlocked(adapter: $0) }, open: { RadioSwitchWatch.openDevice() },
            number: { RadioSwitch.number(of: $0) })
    }
}
