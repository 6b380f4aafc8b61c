import Bluetooth
import Headsets
import Reconnection
import Storage

/// Commands to the headset, one after the other, and their answers.
extension HeadsetAcquisition {
    /// Sends commands instead of those that are being sent.
    func begin(_ runner: CommandRunner, at now: MonotonicTime) {
        session.runner = runner
        advanceCommands(at: now)
    }

    func advanceCommands(at now: MonotonicTime) {
        while var current = session.runner, let peripheral {
            let action = current.next(at: now)
            session.runner = current
            timers[.commands] = current.deadline
            switch action {
            case .write(let bytes, let characteristic, let type):
                context.request(
                    .writeValue(bytes, to: characteristic, type: type, on: peripheral, attempt: current.attempt))
            case .read(let characteristic):
                context.request(.readValue(of: characteristic, on: peripheral, attempt: current.attempt))
            case .wait: return
            case .abandon(let reason): return fail(.connectionFailed(reason: reason), at: now)
            case .completed:
                session.runner = nil
                if current.attempt.lane == .impedance { return answeredImpedance(at: now) }
                handle(.commandsCompleted(attempt: current.attempt), at: now)
            }
        }
    }

    private func fail(_ error: CentralError, at now: MonotonicTime) {
        guard let attempt = session.runner?.attempt else { return }
        session.runner = nil
        timers[.commands] = nil
        if attempt.lane == .impedance { return answeredImpedance(at: now) }
        handle(.stepFailed(error, attempt: attempt), at: now)
    }

    func wrote(_ error: CentralError?, _ attempt: Attempt, at now: MonotonicTime) {
        guard session.runner?.attempt == attempt else { return }
        if let error { return fail(error, at: now) }
        session.runner?.answered()
        advanceCommands(at: now)
    }

    /// The headset has answered a command by itself.
    func replied(isRefusal: Bool = false, at now: MonotonicTime) {
        guard session.runner != nil else { return }
        session.runner?.replied(isRefusal: isRefusal)
        advanceCommands(at: now)
    }

    func read(
        _ characteristic: BluetoothUUID, _ result: Result<[UInt8], CentralError>, _ attempt: Attempt, at now: MonotonicTime
    ) {
        if case .success(let value) = result, let information = DeviceInformation(value, of: characteristic) {
            take(information, at: now)
        }
        if session.runner?.attempt == attempt {
            switch result {
            case .failure(let error): fail(error, at: now)
            case .success(let value):
                take(value, from: characteristic, at: now)
                session.runner?.answered()
                advanceCommands(at: now)
            }
            return
        }
        guard characteristic == profile.identityCharacteristic, attempt.lane == .connection else { return }
        switch result {
        case .success(let value):
            let proof = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
            handle(.identityRead(proof.isEmpty ? nil : proof, attempt: attempt), at: now)
        case .failure(.noSuchCharacteristic): handle(.identityRead(nil, attempt: attempt), at: now)
        case .failure(let error): handle(.stepFailed(error, attempt: attempt), at: now)
        }
    }

    /// Sends commands whose answers move nothing.
    func sendInBackground(_ purpose: CommandPurpose) {
        guard let link = session.streaming?.link else { return }
        sendInBackground(session.profile.commands(for: purpose, status: link.lastStatus))
    }

    func sendInBackground(_ steps: [CommandStep]) {
        guard let peripheral = session.streaming?.link.identifier else { return }
        for case .write(let bytes, let characteristic, let type) in steps {
            context.request(
                .writeValue(bytes, to: characteristic, type: type, on: peripheral, attempt: backgroundAttempt))
        }
    }

    // MARK: Memory

    /// True where the headset can be asked for samples that were missed.
    var readsMemory: Bool { session.profile.memory == .bufferedEEGService && session.streaming != nil }

    /// Asks for what is missing and may still be in the headset's memory.
    func readMemory(at now: MonotonicTime) {
        guard readsMemory, !isFinishing else { return }
        send(recorded.readMemory(at: now))
    }

    /// Allows the headset to forget everything below these n's, one for each stream: they are committed.
    func acknowledge(upTo committed: [(stream: StreamID, n: Int64)]) {
        if readsMemory { send(recorded.acknowledge(upTo: committed)) }
    }

    func send(_ commands: [BufferedEEGCommand]) {
        timers[.memory] = recorded.memoryDeadline
        if !commands.isEmpty { sendInBackground(commands.map(\.step)) }
    }
}
