import Bluetooth
import CBluetooth
import Glibc

/// How sockets to peripherals of Bluetooth Classic are opened. All else is done with the descriptors alone; tests use
/// other sockets instead.
struct ClassicSockets {
    /// Begins to connect to the Service Discovery Protocol of a peripheral, from the adapter with an address (0: any adapter).
    var openServiceDiscovery: (_ peripheral: UInt64, _ adapter: UInt64) -> Result<Int32, SocketError>
    /// Begins to connect to an RFCOMM channel of a peripheral.
    var openSerialPort: (_ peripheral: UInt64, _ channel: UInt8, _ adapter: UInt64) -> Result<Int32, SocketError>
    /// How a connection that was begun has ended: nil where it is made.
    var connectionError: (_ socket: Int32) -> SocketError?

    /// The kernel's.
    static var kernel: ClassicSockets {
        ClassicSockets(
            openServiceDiscovery: { openServiceDiscovery(of: $0, from: $1) },
            openSerialPort: { openSerialPort(of: $0, channel: $1, from: $2) },
            connectionError: { pendingError(of: $0) })
    }

    /// The Service Discovery Protocol's L2CAP channel (Assigned Numbers, 2.5).
    private static let serviceDiscoveryMultiplexer: UInt16 = 0x0001

    /// SO_ERROR, which the question clears; nil for none.
    static func pendingError(of socket: Int32) -> SocketError? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return SocketError(code: errno) }
        return code == 0 ? nil : SocketError(code: code)
    }

    private static func openServiceDiscovery(of peripheral: UInt64, from adapter: UInt64) -> Result<Int32, SocketError> {
        open(
            SOCK_SEQPACKET, BTPROTO_L2CAP, from: l2capAddress(adapter, multiplexer: 0),
            to: l2capAddress(peripheral, multiplexer: serviceDiscoveryMultiplexer))
    }

    private static func openSerialPort(
        of peripheral: UInt64, channel: UInt8, from adapter: UInt64
    ) -> Result<Int32, SocketError> {
        open(
            SOCK_STREAM, BTPROTO_RFCOMM, from: rfcommAddress(adapter, channel: 0),
            to: rfcommAddress(peripheral, channel: channel))
    }

    private static func l2capAddress(_ address: UInt64, multiplexer: UInt16) -> sockaddr_l2 {
        // A classic address is of type 0 (BDADDR_BREDR).
        sockaddr_l2(
            l2_family: sa_family_t(AF_BLUETOOTH), l2_psm: multiplexer.littleEndian, l2_bdaddr: bytes(of: address), l2_cid: 0,
            l2_bdaddr_type: 0)
    }

    private static func rfcommAddress(_ address: UInt64, channel: UInt8) -> sockaddr_rc {
        sockaddr_rc(rc_family: sa_family_t(AF_BLUETOOTH), rc_bdaddr: bytes(of: address), rc_channel: channel)
    }

    /// As the kernel keeps it: least significant byte first.
    static func bytes(of address: UInt64) -> bdaddr_t {
        func byte(_ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: address >> (8 * index)) }
        return bdaddr_t(b: (byte(0), byte(1), byte(2), byte(3), byte(4), byte(5)))
    }

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
