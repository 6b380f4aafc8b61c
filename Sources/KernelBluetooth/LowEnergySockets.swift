import AttributeProtocol
import Bluetooth
import CBluetooth
import Glibc

/// How the fixed channel of the Attribute Protocol is opened and secured. All else is done with the descriptors alone; tests
/// use other sockets instead.
struct LowEnergySockets {
    /// Begins to open the channel on the link to a peripheral, from the adapter with an address (0: any adapter).
    var open: (_ peripheral: PeripheralIdentifier, _ adapter: UInt64) -> Result<Int32, SocketError>
    /// How a connection that was begun has ended: nil where it is made.
    var connectionError: (_ socket: Int32) -> SocketError?
    /// Asks for a more secure link. False where the kernel refuses to try.
    var raiseSecurity: (_ socket: Int32, SecurityLevel) -> Bool
    /// How secure the link is.
    var security: (_ socket: Int32) -> SecurityLevel?
    /// Sends a packet without waiting. Returns why the kernel did not take it; nil where it did.
    var send: (_ socket: Int32, _ packet: [UInt8]) -> SocketError? = { socket, packet in
        let count = Glibc.send(socket, packet, packet.count, BluetoothSocket.neverWait)
        return count >= 0 ? nil : SocketError(code: errno)
    }

    /// The kernel's.
    static var kernel: LowEnergySockets {
        LowEnergySockets(
            open: { openAttributeChannel(of: $0, from: $1) },
            connectionError: { BluetoothSocket.pendingError(of: $0) },
            raiseSecurity: { raiseSecurity(of: $0, to: $1) },
            security: { security(of: $0) })
    }

    /// L2CAP's fixed channel for the Attribute Protocol (Core Specification, Vol 3, Part A, 2.1).
    private static let attributeChannel: UInt16 = 0x0004
    /// The level of the options of all Bluetooth sockets (`SOL_BLUETOOTH` in the kernel's include/linux/socket.h).
    private static let bluetoothLevel: Int32 = 274

    private static func openAttributeChannel(
        of peripheral: PeripheralIdentifier, from adapter: UInt64
    ) -> Result<Int32, SocketError> {
        let type: UInt8 = peripheral.addressType == .random ? 2 : 1
        return BluetoothSocket.open(
            SOCK_SEQPACKET, BTPROTO_L2CAP, from: address(adapter, type: 1), to: address(peripheral.address, type: type))
    }

    /// - Parameter type: 1 for a public address, 2 for a random one (BDADDR_LE_PUBLIC, BDADDR_LE_RANDOM).
    private static func address(_ address: UInt64, type: UInt8) -> sockaddr_l2 {
        sockaddr_l2(
            l2_family: sa_family_t(AF_BLUETOOTH), l2_psm: 0, l2_bdaddr: BluetoothSocket.bytes(of: address),
            l2_cid: attributeChannel.littleEndian, l2_bdaddr_type: type)
    }

    private static func raiseSecurity(of socket: Int32, to level: SecurityLevel) -> Bool {
        var option = bt_security(level: level.rawValue, key_size: 0)
        return setsockopt(socket, bluetoothLevel, BT_SECURITY, &option, socklen_t(MemoryLayout<bt_security>.size)) == 0
    }

    private static func security(of socket: Int32) -> SecurityLevel? {
        var option = bt_security(level: 0, key_size: 0)
        var length = socklen_t(MemoryLayout<bt_security>.size)
        guard getsockopt(socket, bluetoothLevel, BT_SECURITY, &option, &length) == 0 else { return nil }
        return SecurityLevel(rawValue: option.level)
    }
}
