import Bluetooth
import Headsets
import Reconnection
import Simulation

/// Drives one connection machine against a simulated world, with as little around it as can be: no samples, no records.
final class MachineDriver {
    private(set) var machine: ConnectionMachine
    /// How often samples flowed again.
    private(set) var returns = 0

    private let central: SimulatedCentral
    private let profile = BufferedEEGProfile()
    private var decoder: any HeadsetDecoder
    private var decoded = Decoded()
    private var pending: [ConnectionEvent] = []
    /// Of the running sequence: its attempt, how many answers are to come, and the pause after them.
    private var sequence: (attempt: Attempt, answers: Int, pause: Duration)?
    private var pauseEnd: MonotonicTime?

    init(_ central: SimulatedCentral, identifiers: [PeripheralIdentifier], proof: String?, seed: UInt64, at now: MonotonicTime)
    {
        self.central = central
        decoder = profile.makeDecoder()
        machine = ConnectionMachine(profile: profile, identifiers: identifiers, identityProof: proof, seed: seed)
        handle(.adapterChanged(central.state), at: now)
        handle(.start, at: now)
    }

    /// When something is due.
    var deadline: MonotonicTime? {
        var earliest = machine.deadline
        for other in [pauseEnd, central.deadline] {
            if let other, earliest.map({ other < $0 }) ?? true { earliest = other }
        }
        return earliest
    }

    func process(at now: MonotonicTime) {
        for event in central.process(at: now) { take(event, at: now) }
        if let pauseEnd, pauseEnd <= now, let attempt = sequence?.attempt {
            self.pauseEnd = nil
            sequence = nil
            handle(.commandsCompleted(attempt: attempt), at: now)
        }
        if let deadline = machine.deadline, deadline <= now { handle(.deadlineReached, at: now) }
    }

    private func handle(_ event: ConnectionEvent, at now: MonotonicTime) {
        pending.append(event)
        guard pending.count == 1 else { return }
        while let next = pending.first {
            for effect in machine.handle(next, at: now) { perform(effect, at: now) }
            pending.removeFirst()
        }
    }

    private func take(_ event: CentralEvent, at now: MonotonicTime) {
        switch event {
        case .didUpdateState(let state): handle(.adapterChanged(state), at: now)
        case .willRestoreState(let restored, let attempt): handle(.restored(restored, attempt: attempt), at: now)
        case .didRetrieveConnected(let found, let attempt): handle(.retrievedConnected(found, attempt: attempt), at: now)
        case .didDiscover(let identifier, _, _): handle(.discovered(identifier), at: now)
        case .didFailToScan(let error): handle(.scanFailed(error), at: now)
        case .didConnect(let identifier, let attempt): handle(.connected(identifier, attempt: attempt), at: now)
        case .didFailToConnect(_, let error, let attempt): handle(.connectFailed(error, attempt: attempt), at: now)
        case .didDisconnect(_, let error, let attempt): handle(.disconnected(error, attempt: attempt), at: now)
        case .didDiscoverServices(_, .success, let attempt): handle(.servicesDiscovered(attempt: attempt), at: now)
        case .didDiscoverServices(_, .failure(let error), let attempt): handle(.stepFailed(error, attempt: attempt), at: now)
        case .didModifyServices: handle(.servicesModified, at: now)
        case .didUnblock: handle(.operatorActed, at: now)
        case .didBeginPairing: handle(.pairingBegan, at: now)
        case .didNoticeHungRadio, .didTransferPacket, .didReadRSSI: break
        case .didUpdateNotificationState(let characteristic, _, let error, let attempt):
            if let error { return handle(.stepFailed(error, attempt: attempt), at: now) }
            let isControl = characteristic == BufferedEEGService.control
            handle(isControl ? .controlSubscribed(attempt: attempt) : .dataSubscribed(attempt: attempt), at: now)
        case .didUpdateValue(let characteristic, _, let value, _): take(value, from: characteristic, at: now)
        case .didReadValue(_, _, .success(let value), let attempt):
            handle(.identityRead(String(decoding: value, as: UTF8.self), attempt: attempt), at: now)
        case .didReadValue(_, _, .failure(let error), let attempt): handle(.stepFailed(error, attempt: attempt), at: now)
        case .didWriteValue(_, _, let error, let attempt): written(error, attempt, at: now)
        }
    }

    private func take(_ value: [UInt8], from characteristic: BluetoothUUID, at now: MonotonicTime) {
        if characteristic == BufferedEEGService.data { return handle(.samplesReceived(from: characteristic), at: now) }
        decoded.removeAll()
        decoder.decode(value, from: characteristic, into: &decoded)
        for case .status(let status) in decoded.items { handle(.statusReceived(status), at: now) }
    }

    private func written(_ error: CentralError?, _ attempt: Attempt, at now: MonotonicTime) {
        guard var current = sequence, current.attempt == attempt else { return }
        if let error {
            sequence = nil
            return handle(.stepFailed(error, attempt: attempt), at: now)
        }
        current.answers -= 1
        sequence = current
        guard current.answers == 0 else { return }
        if current.pause > .zero {
            pauseEnd = now + current.pause
        } else {
            sequence = nil
            handle(.commandsCompleted(attempt: attempt), at: now)
        }
    }

    private func perform(_ effect: ConnectionEffect, at now: MonotonicTime) {
        switch effect {
        case .restoreState(let identifiers, let attempt):
            central.request(.restoreState(identifiers: identifiers, services: profile.services, attempt: attempt))
        case .retrieveConnected(let attempt):
            central.request(.retrieveConnectedPeripherals(withServices: profile.services, attempt: attempt))
        case .startScan: central.request(.scanForPeripherals(matching: profile.recognition.scanFilter))
        case .stopScan: central.request(.stopScan)
        case .connect(let identifier, let attempt): central.request(.connect(identifier, attempt: attempt))
        case .cancelConnection(let identifier, let attempt):
            central.request(.cancelPeripheralConnection(identifier, attempt: attempt))
        case .discover(let identifier, let attempt): central.request(.discoverServices(on: identifier, attempt: attempt))
        case .identify(let identifier, let attempt):
            central.request(.readValue(of: .serialNumberString, on: identifier, attempt: attempt))
        case .subscribeControl(let identifier, let attempt):
            central.request(.setNotifyValue(true, for: BufferedEEGService.control, on: identifier, attempt: attempt))
        case .subscribeData(let identifier, let attempt):
            central.request(.setNotifyValue(true, for: BufferedEEGService.data, on: identifier, attempt: attempt))
        case .run(let purpose, let identifier, let attempt):
            let steps = profile.commands(for: purpose, status: machine.lastStatus)
            sequence = (attempt, 0, .zero)
            pauseEnd = nil
            for step in steps {
                switch step {
                case .write(let bytes, let characteristic, let type):
                    sequence?.answers += 1
                    central.request(.writeValue(bytes, to: characteristic, type: type, on: identifier, attempt: attempt))
                case .wait(let pause): sequence?.pause += pause
                case .read, .awaitReply, .abandonLink: preconditionFailure("the profile's sequences only write")
                }
            }
        case .streamingBegan: returns += 1
        case .identifierProven, .identifierRejected, .adopted, .adoptionWithdrawn, .statusConcluded, .streamingEnded,
            .layerEnded:
            break
        }
    }
}
