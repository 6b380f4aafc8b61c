import AttributeProtocol
import Bluetooth
import BluetoothManagement
import Glibc

@testable import KernelBluetooth

/// A room with an adapter and headsets, whose kernel is the test: pairs of local sockets instead of those of Bluetooth.
final class LowEnergyRoom: HeadsetRoom {
    /// A channel that the central has opened.
    final class Channel {
        let peripheral: PeripheralIdentifier
        /// The far end.
        let socket: Int32
        fileprivate let near: Int32
        /// What the central has sent, in order.
        private(set) var received: [AttributePDU] = []
        /// All packets of the channel, in order.
        fileprivate(set) var packets: [(bytes: [UInt8], isFromHeadset: Bool)] = []

        fileprivate init(_ peripheral: PeripheralIdentifier, near: Int32, far: Int32) {
            self.peripheral = peripheral
            self.near = near
            socket = far
        }

        deinit { close(socket) }

        func say(_ pdu: AttributePDU) {
            let bytes = pdu.encoded()
            packets.append((bytes, true))
            _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }

        /// A packet of the channel without a byte in it.
        func sayNothing() { _ = send(socket, nil, 0, Int32(MSG_NOSIGNAL)) }

        /// Answers what the central has asked as a small headset does: one service with one characteristic. Returns false where
        /// there was nothing to answer.
        func answer(security: SecurityLevel) -> Bool {
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0, let pdu = try? AttributePDU(decoding: Array(bytes[..<count])) else { return false }
            received.append(pdu)
            packets.append((Array(bytes[..<count]), false))
            if let answer = Self.answer(to: pdu, security) { say(answer) }
            return true
        }

        private static func answer(to request: AttributePDU, _ security: SecurityLevel) -> AttributePDU? {
            func notFound(_ range: HandleRange) -> AttributePDU {
                .errorResponse(request: request.opcode.rawValue, handle: range.start, error: .attributeNotFound)
            }
            switch request {
            case .exchangeMTURequest: return .exchangeMTUResponse(mtu: 185)
            case .readByGroupTypeRequest(let range, _):
                return range.start > .first
                    ? notFound(range) : .readByGroupTypeResponse([AttributeGroup(.all, [0x8D, 0xFE])])
            case .readByTypeRequest(let range, .characteristic) where range.contains(declaration):
                return .readByTypeResponse([AttributeValue(declaration, [0x12, 3, 0] + AttributeType(eeg).bytes)])
            case .readByTypeRequest(let range, .clientCharacteristicConfiguration) where range.contains(configuration):
                return .readByTypeResponse([AttributeValue(configuration, [0, 0])])
            case .readByTypeRequest(let range, _): return notFound(range)
            case .readRequest(let handle):
                return security < .medium
                    ? .errorResponse(request: 0x0A, handle: handle, error: .insufficientEncryption) : .readResponse([42])
            case .writeRequest: return .writeResponse
            default: return nil
            }
        }
    }

    static let headset = PeripheralIdentifier(address: 0xC055_DAB0_1324, type: .random)
    static let other = PeripheralIdentifier(address: 0x0055_DAB0_1325, type: .public)
    static let eeg = BluetoothUUID(high: 0x273E_0003_4C4D_454D, low: 0x96BE_F03B_AC82_1358)
    static let service = BluetoothUUID(UInt16(0xFE8D))
    private static let declaration = AttributeHandle(rawValue: 2)
    static let value = AttributeHandle(rawValue: 3)
    private static let configuration = AttributeHandle(rawValue: 4)

    /// All channels that were ever opened, in their order.
    private(set) var channels: [Channel] = []
    /// What the kernel says to the next opening.
    var refusal: SocketError?
    /// Whether another process's discovery is under way.
    var hasForeignDiscovery = false
    /// Whether the kernel refuses to end a discovery.
    var refusesStop = false
    /// How secure all links are.
    var security = SecurityLevel.low
    /// Whether headsets say nothing for the time being.
    var answersSlowly = false
    /// Whether bluetoothd runs.
    var isBluetoothdRunning = false
    /// Who is connected, as the kernel says when it is asked.
    var connections: [PeripheralIdentifier] = []
    /// What is asked of the kernel to make them.
    private(set) var wantedSecurity: SecurityLevel?
    /// Whether the kernel succeeds in that before it takes the next packet.
    var securesAtOnce = false
    /// Whether the kernel does nothing of that.
    var refusesSecurity = false
    /// Whether the adapter knows Bluetooth Classic, too.
    var isDualMode = false
    /// Whether this process has CAP_NET_ADMIN.
    var isPermitted = true
    /// Why the kernel takes no packet; nil where it does.
    var sendError: SocketError?
    /// The adapters that there are, as the kernel says when it is asked.
    var adapters: [UInt16] = [0]
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private(set) lazy var central = makeCentral()
    /// Everything but packets.
    private(set) var emitted: [CentralEvent] = []
    /// The packets that were reported.
    private(set) var packets: [(bytes: [UInt8], isReceived: Bool)] = []
    /// What the kernel was asked, in order, without the questions for adapters.
    private(set) var commands: [ManagementOpcode] = []
    /// The parameters of the latest command of each kind.
    private(set) var parameters: [ManagementOpcode: [UInt8]] = [:]
    let management = ManagementEnd()
    private let powersOn: Bool
    private let isAlone: Bool
    var isPowered: Bool
    private var otherIsPowered = false
    /// The adapter that the latest command of each kind was for.
    private(set) var indexes: [ManagementOpcode: UInt8] = [:]
    /// Whether the radio is blocked.
    private var isBlocked = false
    /// Where changes of that are reported; nil where the central may not listen.
    let switches: (near: Int32, far: Int32)?
    private let power: AdapterPowerStore
    /// What the kernel says to the next command to switch the adapter on.
    var powerRefusal: ManagementStatus?
    var attempts = Attempt.none

    /// Why the management channel cannot be opened; nil where it can.
    var managementError: ManagementError?
    private let maps: HandleMapStore
    private let bonds: BondStore?
    private let passkeys: [Passkey]
    private let lock: AdapterLock?

    init(
        powered: Bool = true, powersOn: Bool = false, power: AdapterPowerStore = .inMemory(), isAlone: Bool = true,
        watchesSwitches: Bool = true, maps: HandleMapStore = .inMemory(), bonds: BondStore? = nil,
        passkeys: [Passkey] = [], lock: AdapterLock? = nil
    ) {
        self.lock = lock
        self.power = power
        switches = watchesSwitches ? ManagementEnd.pair(SOCK_SEQPACKET) : nil
        self.maps = maps
        self.bonds = bonds
        self.passkeys = passkeys
        isPowered = powered
        self.isAlone = isAlone
        self.powersOn = powersOn
    }

    deinit {
        guard let switches else { return }
        close(switches.near)
        close(switches.far)
    }

    private func makeCentral() -> KernelCentral {
        let management = management
        let sockets = LowEnergySockets(
            open: { [unowned self] peripheral, _ in open(peripheral) }, connectionError: { _ in nil },
            raiseSecurity: { [unowned self] _, level in
                wantedSecurity = level
                if securesAtOnce { security = level }
                return !refusesSecurity
            }, security: { [unowned self] _ in security },
            send: { [unowned self] in sendError ?? LowEnergySockets.kernel.send($0, $1) })
        return KernelCentral(
            adapter: nil, powersOn: powersOn, power: power, isAlone: isAlone, maps: maps, bonds: bonds, passkeys: passkeys,
            lock: lock, isBluetoothdRunning: { [unowned self] in isBluetoothdRunning },
            watch: DescriptorWatch(watch: { _ in }, unwatch: { _ in }), sockets: sockets,
            radio: RadioSwitches(
                isBlocked: { [unowned self] _ in isBlocked }, open: { [unowned self] in switches.map { dup($0.near) } },
                number: { _ in 0 }),
            openManagement: { [unowned self] () throws(ManagementError) in
                if let managementError { throw managementError }
                return management.socket()
            })
    }

    // MARK: The central

    /// Lets the central take turns until nobody has anything to say, and returns what it emitted.
    @discardableResult
    func turn(after duration: Duration) -> [CentralEvent] {
        now = now + duration
        var events: [CentralEvent] = []
        // What a turn does on the quiet, such as to open a channel, shows in the next.
        var quietTurns = 0
        while quietTurns < 2 {
            let newEvents = takeEvents()
            events += newEvents
            let wasAsked = answerCommands()
            let wasSpoken = !answersSlowly && channels.map { $0.answer(security: security) }.contains(true)
            quietTurns = newEvents.isEmpty && !wasAsked && !wasSpoken ? quietTurns + 1 : 0
        }
        emitted += events
        return events
    }

    /// One turn in which no headset answers.
    func turnWithoutAnswers(after duration: Duration) -> [CentralEvent] {
        now = now + duration
        return takeEvents()
    }

    private func takeEvents() -> [CentralEvent] {
        central.process(at: now).filter { event in
            guard case .didTransferPacket(let bytes, _, let isReceived, _) = event else { return true }
            packets.append((bytes, isReceived))
            return false
        }
    }

    /// What the kernel was asked up to now.
    func commandsNow() -> [ManagementOpcode] {
        _ = answerCommands()
        return commands
    }

    /// From a connect to discovered services; its attempt and its channel.
    func link() -> (attempt: Attempt, channel: Channel?) {
        turn()
        let attempt = connect()
        sendConnected()
        central.request(.discoverServices(on: Self.headset, attempt: nextAttempt()))
        turn()
        return (attempt, channels.last)
    }

    private func open(_ peripheral: PeripheralIdentifier) -> Result<Int32, SocketError> {
        if let refusal {
            self.refusal = nil
            return .failure(refusal)
        }
        let (near, far) = ManagementEnd.pair(SOCK_SEQPACKET)
        channels.append(Channel(peripheral, near: near, far: far))
        return .success(near)
    }

    // MARK: The kernel

    /// A link is up.
    func sendConnected(_ peripheral: PeripheralIdentifier = LowEnergyRoom.headset, index: UInt16 = 0) {
        management.send(0x000B, Self.bytes(of: peripheral) + [0, 0, 0, 0, 0, 0], index: index)
        turn()
    }

    /// A link is down; 1 for the supervision timeout, 3 for the headset's wish.
    func sendDisconnected(_ peripheral: PeripheralIdentifier = LowEnergyRoom.headset, reason: UInt8) {
        management.send(0x000C, Self.bytes(of: peripheral) + [reason])
        turn()
    }

    /// A headset advertises its service.
    func sendFound(_ peripheral: PeripheralIdentifier, service: UInt16) {
        let structures: [UInt8] = [3, 0x03, UInt8(service & 0xFF), UInt8(service >> 8)]
        management.send(0x0012, Self.bytes(of: peripheral) + [0xC4, 0, 0, 0, 0, UInt8(structures.count), 0] + structures)
        turn()
    }

    /// Something about a pairing; `before` and `after` surround the address in the packet.
    func sendPairing(
        _ code: UInt8, before: [UInt8] = [], _ peripheral: PeripheralIdentifier = LowEnergyRoom.headset, after: [UInt8] = []
    ) {
        management.send(code, before + Self.bytes(of: peripheral) + after)
        turn()
    }

    /// A discovery began or ended.
    func sendDiscovering(_ isOn: Bool) {
        management.send(0x0013, [6, isOn ? 1 : 0])
        turn()
    }

    /// A person switches the adapter on or off.
    func setPowered(_ isOn: Bool) {
        isPowered = isOn
        management.send(0x0006, ManagementEnd.bytes(of: settings))
        turn()
    }

    /// A person blocks the radio, which switches the adapter off, or unblocks it, which does not switch it on.
    func setBlocked(_ isBlocked: Bool) {
        self.isBlocked = isBlocked
        // Only the former is reported on the management channel.
        if isBlocked { setPowered(false) }
        if let switches { _ = send(switches.far, [UInt8](repeating: 0, count: 9), 9, Int32(MSG_NOSIGNAL)) }
        turn()
    }

    /// The adapter is pulled out, which the kernel reports in two steps, and put in.
    func replug() {
        setPowered(false)
        for code in [UInt8(0x05), 0x04] {
            management.send(code, [])
            turn()
        }
    }

    /// A person switches the other adapter on or off.
    func setOtherPowered(_ isOn: Bool) {
        otherIsPowered = isOn
        management.send(
            0x0006, ManagementEnd.bytes(of: isOn ? [ControllerSettings.lowEnergy, .powered] : ControllerSettings.lowEnergy),
            index: 1)
        turn()
    }

    /// Another adapter is put in.
    func plugAnother() {
        management.send(0x04, [], index: 1)
        turn()
    }

    /// The management channel breaks, and is opened again. A person may do something meanwhile.
    func breakChannel(meanwhile: () -> Void = {}) {
        management.breakOff()
        turn()
        meanwhile()
        turn(after: .seconds(2))
    }

    /// Answers the commands of the central. Returns false where there were none.
    private func answerCommands() -> Bool {
        var wasAsked = false
        while let bytes = management.command() {
            wasAsked = true
            let opcode = ManagementOpcode(rawValue: UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
            let code = [bytes[0], bytes[1]]
            switch opcode {
            case .readControllerIndexList: management.sendIndexes(adapters)
            case .readControllerInformation:
                // Each has an address of its own; the second one stays off.
                let isFirst = bytes[2] == 0
                let others: ControllerSettings = otherIsPowered ? [.lowEnergy, .powered] : .lowEnergy
                management.sendInformation(
                    address: isFirst ? 7 : 8, isFirst ? settings : others, index: isFirst ? 0 : 1)
            default:
                commands.append(opcode)
                parameters[opcode] = Array(bytes[6...])
                indexes[opcode] = bytes[2]
                if !isPermitted {
                    management.send(0x0002, code + [ManagementStatus.permissionDenied.rawValue])
                } else {
                    obey(opcode, code, bytes)
                }
            }
        }
        return wasAsked
    }

    private func obey(_ opcode: ManagementOpcode, _ code: [UInt8], _ bytes: [UInt8]) {
        func reply(_ parameters: [UInt8]) { management.send(0x0001, code + parameters, index: UInt16(bytes[2])) }
        switch opcode {
        case .getConnections:
            let list = connections.flatMap { Self.bytes(of: $0) }
            reply([0, UInt8(connections.count), 0] + list)
        case .setPowered where powerRefusal != nil:
            management.send(0x0002, code + [powerRefusal?.rawValue ?? 0])
            powerRefusal = nil
        case .setPowered:
            isPowered = bytes[6] == 1
            // The one who asks learns it from the reply alone.
            reply([0] + ManagementEnd.bytes(of: settings))
        case .startDiscovery where hasForeignDiscovery: reply([ManagementStatus.busy.rawValue, 6])
        case .stopDiscovery where refusesStop: reply([0x0B, 6])  // Rejected
        case .stopDiscovery:
            hasForeignDiscovery = false
            reply([0, 6])
            management.send(0x0013, [6, 0])
        default: reply([0])
        }
    }

    var settings: ControllerSettings {
        let known: ControllerSettings = isDualMode ? [.lowEnergy, .classic] : .lowEnergy
        return isPowered ? known.union(.powered) : known
    }

    private static func bytes(of peripheral: PeripheralIdentifier) -> [UInt8] {
        let type: UInt8 =
            switch peripheral.addressType {
            case .classic: 0
            case .public: 1
            case .random: 2
            }
        return ManagementEnd.bytes(of: peripheral.address) + [type]
    }
}
