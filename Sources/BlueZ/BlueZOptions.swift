package import Bluetooth

/// What a person may choose about the way to bluetoothd.
package struct BlueZOptions: Hashable, Sendable {
    /// The adapter: `hci0`, or an address such as `00:AA:01:00:00:42`, which finds it under whatever number it returns; nil
    /// takes the first that is powered on.
    package var adapter: String?
    /// Peripherals whose notifications are asked for with StartNotify, because AcquireNotify does not work on them.
    package var startNotify: [PeripheralIdentifier] = []
    /// Characteristics whose notifications are asked for with StartNotify whatever the peripheral: each notification bears a
    /// count, so that one which arrives twice is recognised. bluetoothd up to 5.85 keeps an AcquireNotify that was not answered
    /// yet when its link ended and its process was killed, and refuses everybody after that; nothing is left of a StartNotify.
    package var countedCharacteristics: [BluetoothUUID] = []
    /// Passkeys, 0 ... 999,999, of peripherals that ask for one.
    package var passkeys: [Passkey] = []
    /// Peripherals of Bluetooth Classic that may be paired. This central does not connect to them; bluetoothd pairs them
    /// where the kernel finds that it must.
    package var serialPorts: [PeripheralIdentifier] = []
    /// Whether a scan also reports paired peripherals of Bluetooth Classic with a serial port, by their classic address.
    /// Nobody knows whether they are in range.
    package var reportsSerialPorts = false
    /// Whether a headset that was paired, and has lost its keys, is paired anew without a person.
    package var allowsRepairing = true
    /// Whether a radio that hangs is switched off and on again.
    package var recoversAdapter = false

    /// Creates the default options.
    package init() {}
}
