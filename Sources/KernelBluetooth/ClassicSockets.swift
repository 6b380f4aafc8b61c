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
            connectionError: { BluetoothSocket.pendingError(of: $0) })
    }

    /// The Service Discovery Protocol's L2CAP channel (Assigned Numbers, 2.5).
    private static let serviceDiscoveryMultiplexer: UInt16 = 0x0001

    private static func openServiceDiscovery(of peripheral: UInt64, from adapter: UInt64) -> Result<Int32, SocketError> {
        BluetoothSocket.open(
            SOCK_SEQPACKET, BTPROTO_L2CAP, from: l2capAddress(adapter, multiplexer: 0),
            to: l2capAddress(peripheral, multiplexer: serviceDiscoveryMultiplexer))
    }

    private static func openSerialPort(
        of peripheral: UInt64, channel: UInt8, from adapter: UInt64
    ) -> Result<Int32, SocketError> {
        BluetoothSocket.open(
            SOCK_STREAM, BTPROTO_RFCOMM, from: rfcommAddress(adapter, channel: 0),
            to: rfcommAddress(peripheral, channel: channel))
    }

    private static func l2capAddress(_ address: UInt64, multiplexer: UInt16) -> sockaddr_l2 {
        // A classic address is of type 0 (BDADDR_BREDR).
        sockaddr_l2(
            l2_family: sa_family_t(AF_BLUETOOTH), l2_psm: multiplexer.littleEndian,
            l2_bdaddr: BluetoothSocket.bytes(of: address), l2_cid: 0,
            l2_bdaddr_type: 0)
    }

    private static func rfcommAddress(_ address: UInt64, channel: UInt8) -> sockaddr_rc {
        sockaddr_rc(rc_family: sa_family_t(AF_BLUETOOTH), rc_bdaddr: BluetoothSocket.bytes(of: address), rc_channel: channel)
    }
}
