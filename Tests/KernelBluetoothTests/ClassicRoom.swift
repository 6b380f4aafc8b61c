import Bluetooth
import BluetoothManagement
import CLinux
import Glibc

@testable import KernelBluetooth

/// A room with an adapter and headsets, whose kernel is the test: pairs of local sockets instead of those of Bluetooth.
final class ClassicRoom: HeadsetRoom {
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
    /// A file that another thread opens meanwhile, which may have the number of a socket that was just closed.
    private(set) var otherFile: Int32?
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private(set) lazy var central = makeCentral()
    private(set) var emitted: [CentralEvent] = []
    private let management = ManagementEnd()
    var attempts = Attempt.none

    /// Where link keys are kept; nil for a central that leaves pairing to bluetoothd.
    private let linkKeys: LinkKeyStore?
    private let passkeys: [Passkey]
    private let channels: [SerialPortChannel]
    /// Whether bluetoothd runs.
    var isBluetoothdRunning = false

    init(powered: Bool = true, linkKeys: LinkKeyStore? = nil, passkeys: [Passkey] = [], channels: [SerialPortChannel] = []) {
        self.linkKeys = linkKeys
        self.channels = channels
        self.passkeys = passkeys
        management.sendIndexes([0])
        management.sendInformation(address: Self.adapterAddress, Self.settings(powered: powered))
    }

    private func makeCentral() -> SerialPortCentral {
        let management = management
        let sockets = ClassicSockets(
            openServiceDiscovery: { [unowned self] in open($0, nil, from: $1) },
            openSerialPort: { [unowned self] in open($0, $1, from: $2) },
            connectionError: { [unowned self] socket in openings.last { $0.near == socket }?.error })
        return SerialPortCentral(
            adapter: nil, linkKeys: linkKeys, passkeys: passkeys, channels: channels,
            isBluetoothdRunning: { [unowned self] in isBluetoothdRunning },
            watch: DescriptorWatch(watch: { _ in }, unwatch: { _ in }), sockets: sockets,
            radio: RadioSwitches(isBlocked: { _ in false }, open: { nil }),
            openManagement: { () throws(ManagementError) in management.socket() })
    }

    // MARK: The central

    /// Lets the central take a turn, and returns what it emitted.
    @discardableResult
    func turn(after duration: Duration) -> [CentralEvent] {
        now = now + duration
        let events = central.process(at: now)
        emitted += events
        return events
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
        central.request(.setNotifyValue(true, for: .serialPort, on: Self.headset, attempt: nextAttempt()))
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
            otherFile = openings.last.map { fcntl($0.socket, F_DUPFD_CLOEXEC, $0.near) }
            return .failure(refusal)
        }
        let (near, far) = ManagementEnd.pair(channel == nil ? SOCK_SEQPACKET : SOCK_STREAM)
        fill(near)
        openings.append(Opening(peripheral, channel, near: near, far: far))
        return .success(near)
    }

    // MARK: The adapter

    /// The kernel reports a step of a pairing; `before` and `after` surround the headset's address in the packet.
    func sendPairing(
        _ code: UInt8, before: [UInt8] = [], _ peripheral: PeripheralIdentifier = ClassicRoom.headset, after: [UInt8] = []
    ) {
        let type: UInt8 = peripheral.addressType == .classic ? 0 : 1
        management.send(code, before + ManagementEnd.bytes(of: peripheral.address) + [type] + after)
        turn()
    }

    /// The commands that came since; each the low byte of its code and its parameters.
    func commands() -> [[UInt8]] {
        var found: [[UInt8]] = []
        while let bytes = command() { found.append([bytes[0]] + bytes[6...]) }
        return found
    }

    /// The next command on the management channel but for the questions for adapters; nil where there is none.
    func command() -> [UInt8]? {
        while let bytes = management.command() {
            // Read Controller Index List, Read Controller Information.
            if bytes[0] != 0x03, bytes[0] != 0x04 { return bytes }
        }
        return nil
    }

    /// A person switches the adapter on or off.
    func setPowered(_ isOn: Bool) {
        management.send(0x0006, ManagementEnd.bytes(of: Self.settings(powered: isOn)))
        turn()
    }

    private static func settings(powered: Bool) -> ControllerSettings {
        powered ? [.powered, .classic, .lowEnergy] : [.classic, .lowEnergy]
    }
}
