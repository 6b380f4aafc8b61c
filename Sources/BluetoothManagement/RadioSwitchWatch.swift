import Glibc

/// Notices that a radio switch of this machine was moved, by a person, a program or a key (`/dev/rfkill`,
/// Documentation/driver-api/rfkill.rst of the kernel); ``RadioSwitch`` then says what it is. systemd lets every user read that
/// file.
package final class RadioSwitchWatch {
    /// The file descriptor; readable whenever ``takeChange()`` has something.
    package let descriptor: Int32

    /// Opens the device; nil where there is none, or this process may not read it.
    package convenience init?() {
        let descriptor = open("/dev/rfkill", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.init(adopting: descriptor)
    }

    /// Takes over a descriptor that is open already and never waits, and closes it in the end.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Takes all that was reported. Returns true where a switch has come, gone or changed since the last call; at first all
    /// have come.
    package func takeChange() -> Bool {
        // One event for each read; later kernels append fields to the 8 bytes of `struct rfkill_event`.
        var event = [UInt8](repeating: 0, count: 64)
        var hasChanged = false
        while true {
            let count = read(descriptor, &event, event.count)
            if count > 0 {
                hasChanged = true
            } else if count == 0 || errno != EINTR {
                return hasChanged
            }
        }
    }
}
