import Bluetooth
import Headsets
import Reconnection
import Storage

/// What the machine asks for, and what follows from it.
extension HeadsetAcquisition {
    func perform(_ effect: ConnectionEffect, at now: MonotonicTime) {
        let central = acquirer.central
        switch effect {
        case .restoreState(let identifiers, let attempt):
            central.restoreState(identifiers: identifiers, services: profile.services, attempt: attempt)
        case .retrieveConnected(let attempt):
            central.retrieveConnectedPeripherals(withServices: profile.services, attempt: attempt)
        case .startScan: wantsScan = true
        case .stopScan: wantsScan = false
        case .connect(let identifier, let attempt):
            // An unknown address waits for its turn; another headset may have taken it meanwhile.
            guard mayTake(identifier) else {
                return pending.append(.connectFailed(.channelBusy, attempt: attempt))
            }
            // Known before there is a link: a process that dies now leaves none that the next one cannot find.
            if !machine.identifiers.contains(identifier) { acquirer.commitSoon(at: now) }
            central.setConnectionParameters(profile.connectionParameters, for: identifier)
            central.connect(identifier, attempt: attempt)
        case .cancelConnection(let identifier, let attempt):
            forgetLink(at: now)
            central.cancelPeripheralConnection(identifier, attempt: attempt)
        case .discover(let identifier, let attempt): central.discoverServices(on: identifier, attempt: attempt)
        case .identify(let identifier, let attempt):
            guard let characteristic = profile.identityCharacteristic else {
                return pending.append(.identityRead(nil, attempt: attempt))
            }
            central.readValue(of: characteristic, on: identifier, attempt: attempt)
        case .subscribeControl(let identifier, let attempt):
            subscribe(linkProfile.controlCharacteristics, on: identifier, isControl: true, attempt)
        case .subscribeData(let identifier, let attempt):
            subscribe(linkProfile.dataCharacteristics, on: identifier, isControl: false, attempt)
        case .run(let purpose, _, let attempt):
            let steps = stepsToEndImpedance(at: now) + linkProfile.commands(for: purpose, status: machine.lastStatus)
            runner = CommandRunner(steps: steps, attempt: attempt)
            advanceRunner(at: now)
        case .identifierProven(let identifier, let proof):
            records.identifierUses.append(
                IdentifierUse(headset: headset, identifier: identifier, at: now, succeeded: true))
            if let proof { records.identityProof = proof }
        case .identifierRejected(let identifier, _):
            records.identifierUses.append(
                IdentifierUse(headset: headset, identifier: identifier, at: now, succeeded: false))
        case .statusConcluded(let conclusion, let status):
            noteStatus(status, outcome: conclusion.rawValue, at: now)
        case .streamingBegan(let link): beginStreaming(link, at: now)
        case .streamingEnded(let cause): endStreaming(cause, at: now)
        case .layerEnded(let outcome):
            var detail: String?
            if case .failed(let error) = outcome.result { detail = error.description }
            records.connectionAttempts.append(
                ConnectionAttemptRecord(
                    headset: headset, layer: outcome.layer.rawValue, identifier: outcome.identifier, began: outcome.began,
                    ended: now, outcome: outcome.result.name, detail: detail))
        }
    }

    private func subscribe(
        _ characteristics: [BluetoothUUID], on identifier: PeripheralIdentifier, isControl: Bool, _ attempt: Attempt
    ) {
        guard !characteristics.isEmpty else {
            return pending.append(isControl ? .controlSubscribed(attempt: attempt) : .dataSubscribed(attempt: attempt))
        }
        subscription = Subscription(attempt: attempt, waiting: characteristics, isControl: isControl)
        for characteristic in characteristics {
            acquirer.central.setNotifyValue(true, for: characteristic, on: identifier, attempt: attempt)
        }
    }

    func advanceRunner(at now: MonotonicTime) {
        while var current = runner, let peripheral {
            let action = current.next(at: now)
            runner = current
            switch action {
            case .write(let bytes, let characteristic, let type):
                acquirer.central.writeValue(bytes, to: characteristic, type: type, on: peripheral, attempt: current.attempt)
            case .read(let characteristic):
                acquirer.central.readValue(of: characteristic, on: peripheral, attempt: current.attempt)
            case .pause: return
            case .abandon(let reason): return failRunner(.connectionFailed(reason: reason), at: now)
            case .completed:
                runner = nil
                if current.attempt == impedanceAttempt { return advanceImpedance(at: now) }
                tellMachine(.commandsCompleted(attempt: current.attempt), at: now)
            }
        }
    }

    func failRunner(_ error: CentralError, at now: MonotonicTime) {
        guard let attempt = runner?.attempt else { return }
        runner = nil
        if attempt == impedanceAttempt { return advanceImpedance(at: now) }
        tellMachine(.stepFailed(error, attempt: attempt), at: now)
    }

    /// Queues the event where the machine is at work just now.
    func tellMachine(_ event: ConnectionEvent, at now: MonotonicTime) {
        if pending.isEmpty { handle(event, at: now) } else { pending.append(event) }
    }

    /// Sends commands whose answers move nothing.
    func sendInBackground(_ steps: [CommandStep]) {
        guard let peripheral = link?.identifier else { return }
        for case .write(let bytes, let characteristic, let type) in steps {
            acquirer.central.writeValue(bytes, to: characteristic, type: type, on: peripheral, attempt: backgroundAttempt)
        }
    }

    private func beginStreaming(_ link: Link, at now: MonotonicTime) {
        self.link = link
        awaitsFirstSample = true
        silenceDeadline = now + profile.timing.silenceNotice
        isSilent = false
        keepAliveDeadline = linkProfile.timing.keepAliveInterval.map { now + $0 }
        expectedStreams = nil
        if let told = toldStreams ?? link.lastStatus?.streams {
            adoptStreams(told, at: now)
        } else if awaitsShape(linkProfile.streams) {
            expectedStreams = linkProfile.streams
        } else {
            adoptStreams(linkProfile.streams, at: now)
        }
        let isAsked = linkProfile.answersStatusQuery && linkProfile.isAskedWhileStreaming
        statusDeadline = isAsked ? now + statusInterval : nil
        guard quarantine == nil else { return }
        beginStreams(link)
    }

    /// How often the headset is asked while it streams: at once again where it has not yet said what it sends, as nothing can
    /// be stored before.
    var statusInterval: Duration { streams.isEmpty ? linkProfile.timing.statusLimit : acquirer.limits.statusInterval }

    /// The next block of each stream tells where it stands.
    func beginStreams(_ link: Link) {
        for index in streams.indices { beginStream(index, link) }
    }

    /// The next block of a stream tells where it stands.
    func beginStream(_ index: Int, _ link: Link) {
        memoryReaders[index].beginLink()
        latestArrivals[index] = nil
        acknowledgedN[index] = .min
        streams[index].beginLink(
            LinkStart(
                epochRule: linkProfile.epochRule, bootIdentifier: link.lastStatus?.bootIdentifier,
                hasMemory: linkProfile.memory != .none,
                buffered: link.lastStatus?.buffered.first { $0.stream == streams[index].position },
                absenceCause: absenceCause,
                stamps: linkProfile.sampleStamps))
    }

    private func endStreaming(_ cause: GapCause, at now: MonotonicTime) {
        // Of these the samples have ended before those of the others.
        let silent = streams.indices.filter {
            cause == .operatorStopped && isSilent($0, for: profile.timing.silenceNotice)
        }
        forgetLink(at: now)
        for index in streams.indices {
            if silent.contains(index) { streams[index].endLink(cause: .silence, at: now) }
            if cause == .operatorStopped {
                streams[index].settlePartialRows(before: .max, cause: cause, at: now)
            } else {
                streams[index].endLink(cause: cause, at: now)
            }
        }
    }

    func forgetLink(at now: MonotonicTime) {
        noteImpedanceEnd(at: now)
        (impedance.hasPausedSamples, impedance.settling, impedance.isSettled) = (false, nil, false)
        link = nil
        runner = nil
        subscription = nil
        (keepAliveDeadline, statusDeadline, silenceDeadline) = (nil, nil, nil)
        isSilent = false
    }
}
