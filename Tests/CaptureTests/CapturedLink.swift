import Bluetooth
import Capture
import Headsets
import Simulation
import Testing

/// A simulated headset with what goes over the air, started as its profile wants it, and what was captured of it.
final class CapturedLink {
    let world: SimulatedWorld
    let central: SimulatedCentral
    /// What goes over the air.
    var reconstruction = PacketReconstruction()
    var profile: any HeadsetProfile
    private(set) var packets: [CapturedPacket] = []
    /// What the central notified.
    private(set) var notifications: [Capture.Piece] = []
    private var attempts: UInt64 = 0

    init(_ specification: HeadsetSpecification, profile: any HeadsetProfile, isCapturing: Bool = true) {
        world = SimulatedWorld(seed: 7, headsets: [specification])
        central = world.makeCentral()
        reconstruction.isCapturing = isCapturing
        self.profile = profile
    }

    /// A built-in model, as it comes from its maker.
    convenience init(ofModel model: String, isCapturing: Bool = true) throws {
        self.init(
            try #require(HeadsetSpecification.headset(ofModel: model)),
            profile: try HeadsetCatalog.builtIn.profile(model: model), isCapturing: isCapturing)
    }

    var identifier: PeripheralIdentifier { world.headsets[0].identifier }

    func attempt() -> Attempt {
        attempts += 1
        return Attempt(number: attempts)
    }

    func request(_ request: CentralRequest) {
        central.request(request)
        reconstruction.note(request)
    }

    func run(seconds: Double) {
        let end = world.now + .nanoseconds(Int64(seconds * 1e9))
        while true {
            let now = min(end, central.deadline ?? end)
            let events = central.process(at: now)
            for event in events { reconstruction.note(event, at: now) }
            reconstruction.pass(to: now)
            for event in events {
                switch event {
                case .didUpdateValue(let characteristic, _, let value, let at):
                    notifications.append(.init(time: at - .boot, characteristic: characteristic, value: value))
                case .didDiscoverServices(_, .success(let database), _): profile = profile.adapted(to: database)
                default: break
                }
            }
            packets += reconstruction.takePackets()
            if world.now >= end { return }
        }
    }

    /// Lets the time pass while nobody takes packets.
    func runUntaken(seconds: Int) {
        for _ in 0..<seconds {
            let now = world.now + .seconds(1)
            for event in central.process(at: now) { reconstruction.note(event, at: now) }
        }
    }

    /// From the connection to streaming.
    func start() {
        run(seconds: 1)
        request(.connect(identifier, attempt: attempt()))
        run(seconds: 2)
        request(.discoverServices(on: identifier, attempt: attempt()))
        run(seconds: 1)
        subscribe(profile.controlCharacteristics)
        for purpose in [CommandPurpose.queryStatus, .initialise] { perform(purpose) }
        subscribe(profile.dataCharacteristics)
        perform(.start)
    }

    private func subscribe(_ characteristics: [BluetoothUUID]) {
        for characteristic in characteristics {
            request(.setNotifyValue(true, for: characteristic, on: identifier, attempt: attempt()))
        }
        run(seconds: 1)
    }

    private func perform(_ purpose: CommandPurpose) {
        for step in profile.commands(for: purpose, status: nil) {
            switch step {
            case .write(let bytes, let uuid, let type):
                request(.writeValue(bytes, to: uuid, type: type, on: identifier, attempt: attempt()))
            case .read(let uuid): request(.readValue(of: uuid, on: identifier, attempt: attempt()))
            case .wait, .awaitReply, .abandonLink: break
            }
            run(seconds: 0.5)
        }
    }

    /// The file, as if the simulated machine had booted on 2023-11-14T22:13:20Z.
    var file: [UInt8] { Self.file(packets) }

    static func file(_ packets: [CapturedPacket]) -> [UInt8] {
        var bytes = SnoopFormat.header
        for packet in packets {
            SnoopFormat.append(
                packet, unixNanoseconds: 1_700_000_000_000_000_000 + packet.time.nanoseconds, to: &bytes)
        }
        return bytes
    }
}
