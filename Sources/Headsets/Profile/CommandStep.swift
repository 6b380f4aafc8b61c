package import Bluetooth

/// What a sequence of commands is for.
package enum CommandPurpose: String, Hashable, Sendable, CaseIterable {
    /// Asks what happened inside the headset.
    case queryStatus
    /// Brings a headset out of low power or its bootloader.
    case wake
    /// Configures a headset that was rebooted or is configured differently.
    case initialise
    /// Starts live streaming, after the data characteristics notify.
    case start
    /// Keeps the headset from switching itself off while streaming.
    case keepAlive
    /// Stops streaming.
    case stop
    /// Asks a headset that streams what it is; nothing waits for the answer.
    case queryVersion
}

/// One step of a sequence of commands.
package enum CommandStep: Hashable, Sendable {
    /// Writes bytes to a characteristic; with response, the next step waits for the answer.
    case write([UInt8], to: BluetoothUUID, type: WriteType)
    /// Reads a characteristic; the value goes to the decoder as if it had been notified.
    case read(BluetoothUUID)
    /// Leaves the headset time before the next step.
    case wait(Duration)
    /// Waits until the headset has answered what was written before. Where it refuses, or says nothing for so long, `otherwise`
    /// comes before the next step.
    case awaitReply(timeout: Duration, otherwise: [CommandStep])
    /// Gives this link up; after the usual pause the headset is connected again.
    case abandonLink(reason: String)
}
