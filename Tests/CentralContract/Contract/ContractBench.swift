package import Bluetooth
package import Headsets

/// A world in which a central, a headset and an adapter are, and where time passes.
///
/// The simulation's passes at once; the lab's passes in poll(2). What a bench does to headset or adapter ends by itself, so
/// that a case that breaks off leaves nothing behind.
package protocol ContractBench: AnyObject {
    /// The headset, which is in range.
    var headset: ContractHeadset { get }

    /// The headset's model: one with memory, or one with a serial port.
    var profile: any HeadsetProfile { get }

    /// True where a link outlives the process that made it, as with bluetoothd.
    var keepsLinks: Bool { get }

    /// True where a link outlives the process that made it for a moment at least: the kernel waits 2 s for another socket.
    var leavesLinks: Bool { get }

    /// The present, on the clock of ``Central/process(at:)``.
    var now: MonotonicTime { get }

    /// Starts a process with a central of its own; the one that was made before is not used any more.
    func makeCentral() -> any Central

    /// Lets time pass until something may have happened, at most until an instant.
    func pass(until instant: MonotonicTime)

    /// Carries the headset out of range, and back after a while.
    func takeAway(for duration: Duration)

    /// Lets the headset close its link.
    func closeLinkFromHeadset()

    /// Switches the adapter off, as a person does, and on again after a while.
    func switchAdapterOff(for duration: Duration)
}

extension ContractBench {
    /// A headset with memory, which offers the Buffered EEG service.
    package var profile: any HeadsetProfile { BufferedEEGProfile() }

    /// Where links are kept, they are left.
    package var leavesLinks: Bool { keepsLinks }
}

/// The headset of a bench.
package struct ContractHeadset: Hashable, Sendable {
    /// Its address.
    package var identifier: PeripheralIdentifier
    /// The value of its Serial Number String.
    package var serialNumber: String

    /// Creates the description of a headset.
    package init(identifier: PeripheralIdentifier, serialNumber: String) {
        self.identifier = identifier
        self.serialNumber = serialNumber
    }
}
