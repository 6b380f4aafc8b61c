import Bluetooth
import Glibc

/// The socket of AcquireWrite for one characteristic.
struct WriteSocket: Hashable {
    /// The headset.
    let identifier: PeripheralIdentifier
    /// The characteristic's object.
    let path: String
    /// The socket.
    let socket: Int32

    /// Writes a value. Without response: what does not fit is lost, as it would be in the air.
    ///
    /// - Returns: false where nothing will go through the socket any more, because bluetoothd has closed its end.
    static func send(_ value: [UInt8], over socket: Int32) -> Bool {
        let count = Glibc.send(socket, value, value.count, BlueZCentral.neverWait)
        return count >= 0 || errno == EAGAIN || errno == EINTR
    }
}
