import Bluetooth
public import Capture
public import Headsets

/// Plays a capture: the first piece comes once everything that the capture holds is subscribed, and the commands that start
/// the model have had their time; what comes while the link is down is missed, as it would be in reality.
final class RecordedHeadset: PeripheralBehaviour {
    private unowned let headset: SimulatedHeadset
    private let capture: Capture
    private let answersCommands: Bool
    private let needed: [BluetoothUUID]
    /// What reads answer: the first piece of each characteristic that is read and not notified.
    private let readable: [BluetoothUUID: [UInt8]]
    /// What was written last to characteristics that can be read back, where the capture does not tell what they held.
    private var held: [BluetoothUUID: [UInt8]] = [:]
    private let startDelay: Duration
    private var began: MonotonicTime?
    private var next = 0

    init(_ capture: Capture, answersCommands: Bool, startDelay: Duration, headset: SimulatedHeadset) {
        self.headset = headset
        self.startDelay = startDelay
        self.answersCommands = answersCommands
        self.capture = capture
        needed = headset.specification.database.characteristics.filter { $0.properties.contains(.notify) }.map(\.uuid)
        let readOnly = headset.specification.database.characteristics.filter {
            $0.properties.contains(.read) && !$0.properties.contains(.notify)
        }.map(\.uuid)
        var readable: [BluetoothUUID: [UInt8]] = [:]
        for piece in capture.pieces where readOnly.contains(piece.characteristic) && readable[piece.characteristic] == nil {
            readable[piece.characteristic] = piece.value
        }
        self.readable = readable
    }

    func boot(at time: Int64) {
        began = nil
        next = 0
        for characteristic in headset.specification.database.characteristics
        where characteristic.properties.contains(.read) && characteristic.properties.contains(.write)
            && !characteristic.properties.contains(.notify)
        {
            held[characteristic.uuid] = []
        }
    }

    func linkChanged(at time: Int64) {
        guard headset.isPlaybackStarted == false, needed.allSatisfy(headset.isNotifying) else { return }
        headset.isPlaybackStarted = true
        let start = MonotonicTime(nanoseconds: time + 1) + startDelay
        began = start
        headset.scheduleTick(at: start.nanoseconds)
    }

    func read(_ characteristic: BluetoothUUID, at time: Int64) -> [UInt8]? { readable[characteristic] ?? held[characteristic] }

    /// Where the headset describes its streams itself, each command is answered with all that the headset said before it sent
    /// data: which answer belongs to which command is not in the capture. Elsewhere nothing depends on it.
    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        if held[characteristic] != nil { held[characteristic] = value }
        guard answersCommands, !headset.isPlaybackStarted else { return nil }
        next = 0
        while next < capture.pieces.count {
            let piece = capture.pieces[next]
            guard readable[piece.characteristic] != nil || headset.isNotifying(piece.characteristic) else { break }
            headset.notify(piece.value, from: piece.characteristic)
            next += 1
        }
        return nil
    }

    func tick(at time: Int64) -> Int64? {
        guard let began else { return nil }
        while next < capture.pieces.count {
            let piece = capture.pieces[next]
            let due = (began + piece.time).nanoseconds
            if due > time { return due }
            headset.notify(piece.value, from: piece.characteristic)
            next += 1
        }
        headset.isPlaybackFinished = true
        return nil
    }
}

extension HeadsetSpecification {
    /// A headset that plays a capture through the establish flow of a profile.
    ///
    /// Its GATT database holds the profile's required characteristics, as the capture's own make it, and what its commands are
    /// written to. A piece of a characteristic that the profile reads is the answer to the read. Pieces of others are not
    /// played.
    ///
    /// - Parameters:
    ///   - capture: what to play.
    ///   - profile: the model whose link is replayed.
    public static func recorded(_ capture: Capture, profile: any HeadsetProfile) -> HeadsetSpecification {
        let service = profile.services.first ?? .serialPort
        // What was captured tells which kind of headset it was.
        var captured: [BluetoothUUID] = []
        for piece in capture.pieces where !captured.contains(piece.characteristic) { captured.append(piece.characteristic) }
        // What must be there to be the model was there, whether or not it notified.
        let required = (profile as? DescribedProfile)?.descriptor.required ?? []
        captured += required.filter { !captured.contains($0) }
        let found = GATTDatabase(
            characteristics: captured.map { Characteristic(service: service, uuid: $0, properties: [.notify]) })
        let own = profile.adapted(to: found)
        var characteristics = own.requiredCharacteristics.map {
            Characteristic(service: service, uuid: $0, properties: [.read, .write, .writeWithoutResponse, .notify])
        }
        func add(_ uuid: BluetoothUUID, _ properties: Characteristic.Properties) {
            if let place = characteristics.firstIndex(where: { $0.uuid == uuid }) {
                characteristics[place].properties.formUnion(properties)
            } else {
                characteristics.append(Characteristic(service: service, uuid: uuid, properties: properties))
            }
        }
        for step in CommandPurpose.allCases.flatMap({ own.commands(for: $0, status: nil) }) {
            switch step {
            case .write(_, let uuid, _): add(uuid, [.write, .writeWithoutResponse])
            case .read(let uuid): add(uuid, [.read])
            case .wait, .abandonLink: break
            }
        }
        for uuid in required { add(uuid, [.read]) }
        if let identity = profile.identityCharacteristic {
            characteristics.insert(
                Characteristic(service: .deviceInformation, uuid: identity, properties: [.read]), at: 0)
        }
        return HeadsetSpecification(
            localName: profile.recognition.namePrefixes.first ?? "Recorded",
            identifier: PeripheralIdentifier(address: 0xC0EE_60FF_0001, type: profile.usesSerialPort ? .classic : .random),
            serialNumber: "RECORDED",
            serviceUUIDs: profile.recognition.serviceUUIDs,
            pairingServiceUUIDs: profile.recognition.pairingServiceUUIDs,
            database: GATTDatabase(characteristics: characteristics),
            behaviour: .recorded(
                capture, answersCommands: own.streams.isEmpty, startDelay: startDelay(own.commands(for: .start, status: nil))))
    }

    /// How long it takes at most until the commands are answered: a write more than any latency of the simulated system.
    private static func startDelay(_ steps: [CommandStep]) -> Duration {
        steps.reduce(.zero) { sum, step in
            switch step {
            case .wait(let duration): sum + duration
            case .write, .read: sum + .milliseconds(100)
            case .abandonLink: sum
            }
        }
    }
}
