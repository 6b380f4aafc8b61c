import Bluetooth
import CLinux
import Glibc

/// A characteristic's notifications: the socket of AcquireNotify, one packet for each.
struct NotificationSocket {
    let descriptor: Int32
    let characteristic: BluetoothUUID
    let identifier: PeripheralIdentifier

    /// Takes what has arrived. A notification without bytes says nothing and is left out: it is read like the end of the
    /// socket, which poll(2) distinguishes from it.
    ///
    /// - Returns: true where bluetoothd has closed the socket and everything was read.
    func receive(_ buffer: inout [UInt8], _ take: ([UInt8]) -> Void) -> Bool {
        while true {
            let count = recv(descriptor, &buffer, buffer.count, BlueZCentral.neverWait)
            if count > 0 {
                take(Array(buffer[..<count]))
            } else if count == 0 {
                if clinux_has_ended(descriptor) == 1 { return true }
            } else if errno != EINTR {
                return errno != EAGAIN
            }
        }
    }
}
