package import Bluetooth
import Glibc

/// Notices that a radio switch of this machine was moved, by a person, a program or a key (`/dev/rfkill`,
/// Documentation/driver-api/rfkill.rst of the kernel); ``RadioSwitch`` then says what it is. systemd lets every user read that
/// file.
package final class RadioSwitchWatch {
    /// The file descriptor, readable whenever ``takeChange()`` has something; nil where there is no such device, where this
    /// process may not read it, and after it could not be read.
    package private(set) var descriptor: Int32?
    private let watch: DescriptorWatch

    /// Takes over a descriptor that is open already and never waits, or nil for none.
    ///
    /// - Parameter watch: where it is watched, until it is closed.
    package init(adopting descriptor: Int32?, watch: DescriptorWatch) {
        self.descriptor = descriptor
        self.watch = watch
        if let descriptor { watch.watch(descriptor) }
    }

    deinit { closeDescriptor() }

    /// Opens the kernel's device; nil where there is none, or this process may not read it.
    package static func openDevice() -> Int32? {
        let descriptor = open("/dev/rfkill", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        return descriptor < 0 ? nil : descriptor
    }

    /// What has become of the switches since the last call.
    package struct Change: Hashable, Sendable {
        /// The numbers of those that were blocked, be it for a moment: what they are now need not show it.
        package var blocked: [UInt32] = []
    }

    /// Takes all that was reported. Returns nil where no switch has come, gone or changed since the last call; once more a
    /// change where nothing will be reported any more; at first all have come.
    package func takeChange() -> Change? {
        guard let descriptor else { return nil }
        // Each event is read whole and by itself: 9 bytes of `struct rfkill_event_ext` since Linux 5.11, 8 before, and later
        // kernels append fields.
        var event = [UInt8](repeating: 0, count: 64)
        var change: Change?
        while true {
            let count = read(descriptor, &event, event.count)
            if count > 0 {
                let blocked = Self.blocked(by: event[..<count]).map { [$0] } ?? []
                change = Change(blocked: (change?.blocked ?? []) + blocked)
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                // It would be reported as readable again and again.
                closeDescriptor()
                return change ?? Change()
            } else if errno == EAGAIN {
                return change
            }
        }
    }

    /// The number of the switch that an event says is blocked; nil where it says another thing. It is four bytes of number in
    /// the order of the machine, and one each of the type, of what happened, and of the soft and the hard block.
    private static func blocked(by event: ArraySlice<UInt8>) -> UInt32? {
        let bytes = Array(event)
        // RFKILL_OP_DEL: it is gone.
        guard bytes.count >= 8, bytes[5] != 1, bytes[6] != 0 || bytes[7] != 0 else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    }

    private func closeDescriptor() {
        guard let descriptor else { return }
        watch.unwatch(descriptor)
        close(descriptor)
        self.descriptor = nil
    }
}
