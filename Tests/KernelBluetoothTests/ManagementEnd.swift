import Bluetooth
import BluetoothManagement
import Glibc

@testable import KernelBluetooth

/// The kernel's end of the management channel, in the hands of a test: a pair of local sockets.
final class ManagementEnd {
    private var near: Int32
    private var far: Int32

    init() { (near, far) = Self.pair(SOCK_SEQPACKET) }

    deinit {
        close(near)
        close(far)
    }

    /// What a central opens.
    func socket() -> ManagementSocket { ManagementSocket(adopting: dup(near)) }

    /// The channel ends; what is opened from now on is a new one.
    func breakOff() {
        close(near)
        close(far)
        (near, far) = Self.pair(SOCK_SEQPACKET)
    }

    /// Sends an event.
    func send(_ code: UInt8, _ parameters: [UInt8], index: UInt16 = 0) {
        let length = parameters.count
        let header = [code, 0, UInt8(index & 0xFF), UInt8(index >> 8), UInt8(length & 0xFF), UInt8(length >> 8)]
        let packet = header + parameters
        _ = Glibc.send(far, packet, packet.count, 0)
    }

    /// The next command; nil where there is none.
    func command() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(far, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count >= 6 ? Array(bytes[..<count]) : nil
    }

    /// Answers Read Controller Information: an adapter of Bluetooth 5.0 without a name.
    func sendInformation(address: UInt64, _ settings: ControllerSettings, index: UInt16 = 0) {
        let bytes = Self.bytes(of: settings)
        let names = [UInt8](repeating: 0, count: 249 + 11)
        let code = Self.code(of: .readControllerInformation)
        // It could pair with elliptic curves, and does not.
        let supported = Self.bytes(of: settings.union([.powered, .lowEnergy, .secureConnections]))
        let parameters = code + [0] + Self.bytes(of: address) + [0x09, 0x00, 0x00] + supported + bytes + [0, 0, 0] + names
        send(0x0001, parameters, index: index)
    }

    /// Answers Read Controller Index List.
    func sendIndexes(_ indexes: [UInt16]) {
        let count = [UInt8(indexes.count), 0]
        let list = indexes.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        send(0x0001, Self.code(of: .readControllerIndexList) + [0] + count + list, index: 0xFFFF)
    }

    static func code(of opcode: ManagementOpcode) -> [UInt8] {
        [UInt8(opcode.rawValue & 0xFF), UInt8(opcode.rawValue >> 8)]
    }

    static func bytes(of settings: ControllerSettings) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: settings.rawValue >> (8 * $0)) }
    }

    /// An address as it stands in a packet.
    static func bytes(of address: UInt64) -> [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) } }

    static func pair(_ type: __socket_type) -> (near: Int32, far: Int32) {
        var pair: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(type.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair)
        return (pair[0], pair[1])
    }
}

/// A room with an adapter and headsets, whose kernel is the test.
protocol HeadsetRoom: AnyObject {
    associatedtype RoomCentral: Central
    /// The headset that is spoken of where none is named.
    static var headset: PeripheralIdentifier { get }
    var central: RoomCentral { get }
    /// The latest attempt.
    var attempts: Attempt { get set }
    /// Lets time pass and everybody do what is to be done; returns what the central emitted.
    @discardableResult
    func turn(after duration: Duration) -> [CentralEvent]
}

extension HeadsetRoom {
    /// The same at once.
    @discardableResult
    func turn() -> [CentralEvent] { turn(after: .zero) }

    func nextAttempt() -> Attempt {
        attempts = attempts.next
        return attempts
    }

    /// Begins to connect; the attempt.
    @discardableResult
    func connect(_ peripheral: PeripheralIdentifier = Self.headset) -> Attempt {
        let attempt = nextAttempt()
        central.request(.connect(peripheral, attempt: attempt))
        turn()
        return attempt
    }
}
