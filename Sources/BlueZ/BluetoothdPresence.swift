import CSystemd

/// Whether bluetoothd is there, without a central for it.
public enum BluetoothdPresence {
    /// How long the bus has to answer, in microseconds: it does within a millisecond. Nobody waits longer for one that hangs.
    private static let answerMicroseconds: UInt64 = 200_000

    /// True where somebody owns the name `org.bluez` on the system bus now. That systemd could start bluetoothd on demand
    /// does not count: a question does not start it. False where there is no bus. Waits for the bus's answer, 0.2 s at most.
    public static func isOnBus() -> Bool {
        var bus: OpaquePointer?
        guard sd_bus_open_system(&bus) >= 0, let bus else { return false }
        defer { sd_bus_close_unref(bus) }
        sd_bus_set_method_call_timeout(bus, answerMicroseconds)
        return sd_bus_get_name_creds(bus, "org.bluez", 0, nil) >= 0
    }
}
