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

    /// Takes all that was reported. Returns true where a switch has come, gone or changed since the last call, and once where
    /// nothing will be reported any more; at first all have come.
    package func takeChange() -> Bool {
        guard let descriptor else { return false }
        // Each event is read whole and by itself: 9 bytes of `struct rfkill_event_ext` since Linux 5.11, 8 before, and later
        // kernels append fields.
        var event = [UInt8](repeating: 0, count: 64)
        var hasChanged = false
        while true {
            let count = read(descriptor, &event, event.count)
            if count > 0 {
                hasChanged = true
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                // It would be reported as readable again and again.
                closeDescriptor()
                return true
            } else if errno == EAGAIN {
                return hasChanged
            }
        }
    }

    private func closeDescriptor() {
        guard let descriptor else { return }
        watch.unwatch(descriptor)
        close(descriptor)
        self.descriptor = nil
    }
}
