import CBluetooth
import Glibc

/// What the kernel's sockets to peripherals have in common, over Low Energy and Bluetooth Classic.
enum BluetoothSocket {
    /// A full socket neither waits nor kills the process.
    static let neverWait = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

    /// SO_ERROR, which the question clears; nil for none.
    static func pendingError(of socket: Int32) -> SocketError? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return SocketError(code: errno) }
        return code == 0 ? nil : SocketError(code: code)
    }

    /// As the kernel keeps it: least significant byte first.
    static func bytes(of address: UInt64) -> bdaddr_t {
        func byte(_ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: address >> (8 * index)) }
        return bdaddr_t(b: (byte(0), byte(1), byte(2), byte(3), byte(4), byte(5)))
    }

    /// Begins to connect from one address to another.
    static func open<Address>(
        _ type: __socket_type, _ transport: Int32, from local: Address, to remote: Address
    ) -> Result<Int32, SocketError> {
        let descriptor = socket(AF_BLUETOOTH, Int32(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), transport)
        guard descriptor >= 0 else { return .failure(SocketError(code: errno)) }
        guard name(local, descriptor, bind) == 0, name(remote, descriptor, connect) == 0 || errno == EINPROGRESS else {
            let error = SocketError(code: errno)
            close(descriptor)
            return .failure(error)
        }
        return .success(descriptor)
    }

    private static func name<Address>(
        _ address: Address, _ descriptor: Int32, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
