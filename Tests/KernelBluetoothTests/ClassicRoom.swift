import Bluetooth
import BluetoothManagement
import CLinux
import Glibc

@testable import KernelBluetooth

/// A room with an adapter and headsets, whose kernel is the test: pairs of local sockets instead of those of Bluetooth.
final class ClassicRoom {
    /// A connection that the central has begun.
    final class Opening {
        let peripheral: UInt64
        /// The RFCOMM channel; nil for the Service Discovery Protocol.
        let channel: UInt8?
        /// The far end.
        let socket: Int32
        fileprivate var error: SocketError?
        fileprivate let near: Int32

        fileprivate init(_ peripheral: UInt64, _ channel: UInt8?, near: Int32, far: Int32) {
            self.peripheral = peripheral
            self.channel = channel
            self.near = near
            socket = far
        }

        deinit { close(socket) }

        /// What the central has sent; empty where it has sent nothing, nil where it has closed its end.
        func hear() -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: 70_000)
            let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count == 0 { return nil }
            return count > 0 ? Array(bytes[..<count]) : errno == EAGAIN ? [] : nil
        }

        func say(_ bytes: [UInt8]) { _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

        /// Closes the far end.
        func hangUp() { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    static let headset = PeripheralIdentifier(address: 0x2068_9D00_0001, type: .classic)
    static let adapterAddress: UInt64 = 0x02AA_0100_0042

    /// All connections that were ever begun, in their order.
    private(set) var openings: [Opening] = []
    /// What the kernel says at once to the next connection.
    var refusal: SocketError?
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private(set) lazy var central = makeCentral()
    private(set) var told: [CentralEvent] = []
    private let management: (near: Int32, far: Int32)
    private var attempts = Attempt.none

    init(powered: Bool = true) {
        management = Self.pair(SOCK_SEQPACKET)
        tellIndexes()
        tellInformation(powered: powered)
    }

    private func makeCentral() -> SerialPortCentral {
        let near = management.near
        let sockets = ClassicSockets(
            openServiceDiscovery: { [unowned self] in open($0, nil, from: $1) },
            openSerialPort: { [unowned self] in open($0, $1, from: $2) },
            connectionError: { [unowned self] socket in openings.last { $0.near == socket }?.error })
        return SerialPortCentral(
            adapter: nil, watch: DescriptorWatch(watch: { _ in }, unwatch: { _ in }), sockets: sockets,
            isBlocked: { _ in false },
            openManagement: { () throws(ManagementError) in ManagementSocket(adopting: dup(near)) })
    }

    deinit {
        close(management.near)
        close(management.far)
    }

    // MARK: The central

    /// Lets the central take a turn, and returns what it told.
    @discardableResult
    func turn(after duration: Duration = .zero) -> [CentralEvent] {
        now = now + duration
        let events = central.process(at: now)
        told += events
        return events
    }

    func nextAttempt() -> Attempt {
        attempts = attempts.next
        return attempts
    }

    /// Begins to connect; the attempt.
    @discardableResult
    func connect(_ peripheral: PeripheralIdentifier = ClassicRoom.headset) -> Attempt {
        let attempt = nextAttempt()
        central.connect(peripheral, attempt: attempt)
        turn()
        return attempt
    }

    /// From a connect to a link; its attempt and its serial port.
    func link() -> (attempt: Attempt, port: Opening?) {
        turn()
        let attempt = connect()
        answerPage()
        answerSearch(channel: 1)
        answerPort()
        return (attempt, openings.last)
    }

    /// Switches notifications on.
    func subscribe() {
        central.setNotifyValue(true, for: .serialPort, on: Self.headset, attempt: nextAttempt())
        turn()
    }

    // MARK: Headsets

    /// The headset answers the page.
    func answerPage() {
        if let opening = openings.last { release(opening) }
        turn()
    }

    /// The headset says on which channel its serial port is.
    func answerSearch(channel: UInt8) {
        _ = openings.last?.hear()
        openings.last?.say(SerialPortSearchTests.response(SerialPortSearchTests.lists(channel: channel)))
        turn()
    }

    /// The headset accepts the serial port.
    func answerPort() { answerPage() }

    /// The connection that was begun last ends with an error.
    func fail(_ code: Int32) {
        openings.last?.error = SocketError(code: code)
        if let opening = openings.last { release(opening) }
        turn()
    }

    /// A socket that is full cannot be written: as with a connection that is not made yet.
    private func fill(_ socket: Int32) {
        let bytes = [UInt8](repeating: 0, count: 1024)
        while send(socket, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    private func release(_ opening: Opening) {
        while let bytes = opening.hear(), !bytes.isEmpty {}
    }

    private func open(_ peripheral: UInt64, _ channel: UInt8?, from adapter: UInt64) -> Result<Int32, SocketError> {
        if let refusal {
            self.refusal = nil
            return .failure(refusal)
        }
        let (near, far) = Self.pair(channel == nil ? SOCK_SEQPACKET : SOCK_STREAM)
        fill(near)
        openings.append(Opening(peripheral, channel, near: near, far: far))
        return .success(near)
    }

    // MARK: The adapter

    /// The next command on the management channel; nil where there is none.
    func command() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = recv(management.far, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    /// A person switches the adapter on or off.
    func setPowered(_ isOn: Bool) {
        tell(0x0006, Self.littleEndian(Self.settings(powered: isOn)))
        turn()
    }

    private func tellIndexes() { tell(0x0001, [0x03, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00], index: 0xFFFF) }

    private func tellInformation(powered: Bool) {
        let address = (0..<6).map { UInt8(truncatingIfNeeded: Self.adapterAddress >> (8 * $0)) }
        let settings = Self.littleEndian(Self.settings(powered: powered))
        let names = [UInt8](repeating: 0, count: 249 + 11)
        tell(0x0001, [0x04, 0x00, 0x00] + address + [0x09, 0x00, 0x00] + settings + settings + [0, 0, 0] + names)
    }

    private static func settings(powered: Bool) -> UInt32 {
        let on: ControllerSettings = powered ? [.powered, .classic, .lowEnergy] : [.classic, .lowEnergy]
        return on.rawValue
    }

    private static func littleEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private func tell(_ code: UInt8, _ parameters: [UInt8], index: UInt16 = 0) {
        let length = parameters.count
        let header = [code, 0, UInt8(index & 0xFF), UInt8(index >> 8), UInt8(length & 0xFF), UInt8(length >> 8)]
        let packet = header + parameters
        _ = send(management.far, packet, packet.count, 0)
    }

    private static func pair(_ type: __socket_type) -> (near: Int32, far: Int32) {
        var pair: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(type.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair)
        return (pair[0], pair[1])
    }
}
