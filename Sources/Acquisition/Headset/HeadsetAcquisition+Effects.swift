import Bluetooth
import Headsets
import Reconnection
import Storage

/// What the machine asks for, and what follows from it.
extension HeadsetAcquisition {
    func perform(_ effect: ConnectionEffect, at now: MonotonicTime) {
        switch effect {
        case .restoreState(let identifiers, let attempt):
            context.request(.restoreState(identifiers: identifiers, services: profile.services, attempt: attempt))
        case .retrieveConnected(let attempt):
            context.request(.retrieveConnectedPeripherals(withServices: profile.services, attempt: attempt))
        case .startScan: wantsScan = true
        case .stopScan: wantsScan = false
        case .connect(let identifier, let attempt): connect(identifier, attempt)
        case .cancelConnection(let identifier, let attempt):
            endSession(at: now)
            context.request(.cancelPeripheralConnection(identifier, attempt: attempt))
        case .discover(let identifier, let attempt): context.request(.discoverServices(on: identifier, attempt: attempt))
        case .identify(let identifier, let attempt):
            guard let characteristic = profile.identityCharacteristic else {
                return pending.append(.identityRead(nil, attempt: attempt))
            }
            context.request(.readValue(of: characteristic, on: identifier, attempt: attempt))
        case .subscribeControl(let identifier, let attempt):
            subscribe(session.profile.controlCharacteristics, on: identifier, isControl: true, attempt)
        case .subscribeData(let identifier, let attempt):
            subscribe(session.profile.dataCharacteristics, on: identifier, isControl: false, attempt)
        case .run(let purpose, _, let attempt):
            let steps = stepsToEndImpedance(at: now) + session.profile.commands(for: purpose, status: machine.lastStatus)
            begin(CommandRunner(steps: steps, attempt: attempt), at: now)
        case .identifierProven(let identifier, let proof):
            named.removeAll { $0 == identifier }
            records.append(
                .identifierUse(IdentifierUse(headset: headset, identifier: identifier, at: now, succeeded: true)))
            if let proof {
                storedProof = storedProof ?? proof
                records.append(.identityProof(IdentityProofRecord(headset: headset, proof: proof)))
            }
        case .identifierRejected(let identifier, _):
            records.append(
                .identifierUse(IdentifierUse(headset: headset, identifier: identifier, at: now, succeeded: false)))
        case .adopted(let identifier, let replaced, let isAutomatic):
            noteAdoption(identifier, replacing: replaced, isAutomatic: isAutomatic, at: now)
        case .adoptionWithdrawn(let former, let present): noteWithdrawal(former, for: present, at: now)
        case .statusConcluded(let conclusion, let status): record(status, outcome: conclusion.rawValue, at: now)
        case .streamingBegan(let link): beginStreaming(link, at: now)
        case .streamingEnded(let cause):
            let isHeard = session.streaming?.awaitsFirstSample == false
            returnTiming.noteLoss(cause, lastSample: isHeard ? recorded.latestLiveSample : nil, at: now)
            recorded.endLink(
                cause: cause, endsRecording: isFinishing, silenceNotice: profile.timing.silenceNotice, at: now)
            endSession(at: now)
        case .layerEnded(let outcome):
            ended(outcome, at: now)
        }
    }

    private func ended(_ outcome: LayerOutcome, at now: MonotonicTime) {
        var error: CentralError?
        if case .failed(let failure) = outcome.result { error = failure }
        let attempt = ConnectionAttemptRecord(
            headset: headset, layer: outcome.layer.rawValue, identifier: outcome.identifier, began: outcome.began, ended: now,
            outcome: outcome.result.name, cause: error?.code, detail: error?.parameter, attempt: machine.attempt.number)
        returnTiming.noteAttempt()
        history.ended(attempt, isReturn: outcome.result == .streaming).forEach { records.append($0) }
        timers[.history] = history.deadline
    }

    private func connect(_ identifier: PeripheralIdentifier, _ attempt: Attempt) {
        // An unknown address waits for its turn; another headset may have taken it meanwhile.
        guard mayTake(identifier) else {
            return pending.append(.connectFailed(.channelBusy, attempt: attempt))
        }
        // Known before there is a link: a process that dies now leaves none that the next one cannot find.
        if !machine.identifiers.contains(identifier) { context.wantsCommit = true }
        context.request(.setConnectionParameters(profile.connectionParameters, for: identifier))
        context.request(.connect(identifier, attempt: attempt))
    }

    // MARK: Discovery and subscription

    /// A link begins, with a decoder that has learnt nothing yet: what the headset said to the one before may not hold any
    /// more.
    func beginSession(_ profile: any HeadsetProfile, at now: MonotonicTime) {
        endSession(at: now)
        session = LinkSession(profile, began: now)
    }

    /// Some headsets are distinguished by their characteristics only; all must have those that the profile needs.
    func discovered(_ result: Result<GATTDatabase, CentralError>, _ attempt: Attempt, at now: MonotonicTime) {
        switch result {
        case .failure(let error): handle(.stepFailed(error, attempt: attempt), at: now)
        case .success(let database):
            if profile.isDiscriminatedByDatabase, machine.awaits(attempt) {
                let adapted = profile.adapted(to: database)
                beginSession(adapted, at: now)
                machine.adapt(to: adapted)
            }
            session.database = database
            if let absent = session.profile.requiredCharacteristics.first(where: { database[$0] == nil }) {
                handle(.stepFailed(.noSuchCharacteristic(absent), attempt: attempt), at: now)
            } else {
                handle(.servicesDiscovered(attempt: attempt), at: now)
            }
        }
    }

    private func subscribe(
        _ characteristics: [BluetoothUUID], on identifier: PeripheralIdentifier, isControl: Bool, _ attempt: Attempt
    ) {
        guard !characteristics.isEmpty else {
            return pending.append(isControl ? .controlSubscribed(attempt: attempt) : .dataSubscribed(attempt: attempt))
        }
        session.subscription = LinkSession.Subscription(attempt: attempt, waiting: characteristics, isControl: isControl)
        for characteristic in characteristics {
            context.request(.setNotifyValue(true, for: characteristic, on: identifier, attempt: attempt))
        }
    }

    func subscribed(to characteristic: BluetoothUUID, _ error: CentralError?, _ attempt: Attempt, at now: MonotonicTime) {
        guard var current = session.subscription, current.attempt == attempt else { return }
        if let error {
            session.subscription = nil
            return handle(.stepFailed(error, attempt: attempt), at: now)
        }
        current.waiting.removeAll { $0 == characteristic }
        session.subscription = current.waiting.isEmpty ? nil : current
        guard current.waiting.isEmpty else { return }
        handle(current.isControl ? .controlSubscribed(attempt: attempt) : .dataSubscribed(attempt: attempt), at: now)
    }

    // MARK: Streaming

    private func beginStreaming(_ link: Link, at now: MonotonicTime) {
        let expected = session.profile.streams
        session.streaming = StreamingSession(link)
        returnTiming.notePrepared(at: now)
        timers[.silence] = now + profile.timing.silenceNotice
        timers[.keepAlive] = session.profile.timing.keepAliveInterval.map { now + $0 }
        if let announced = session.announcedStreams ?? link.lastStatus?.streams {
            adopt(announced, at: now)
        } else if recorded.hasOtherShape(than: expected) {
            session.streaming?.expectedStreams = expected
        } else {
            adopt(expected, at: now)
        }
        timers[.linkQuality] = qualityAsked.map { max(now, $0 + context.limits.linkQualityInterval) } ?? now
        let isAsked = session.profile.answersStatusQuery && session.profile.isAskedWhileStreaming
        timers[.statusQuery] = isAsked ? now + statusInterval : nil
        session.began = session.began ?? now
        recordLink()
        guard quarantine == nil, let streaming = session.streaming else { return }
        recorded.beginLink(streaming, of: session.profile)
    }

    /// How often the headset is asked while it streams: at once again where it has not yet said what it sends, as nothing can
    /// be stored before.
    var statusInterval: Duration {
        recorded.isEmpty ? session.profile.timing.statusLimit : context.limits.statusInterval
    }

    /// Records the streams that the headset has. One that breaks a rule is quarantined.
    ///
    /// - Returns: the positions of those that are new.
    @discardableResult
    func adopt(_ descriptions: [StreamDescription], at now: MonotonicTime) -> [Int] {
        do throws(QuarantineReason) {
            let new = try recorded.adopt(descriptions, nextID: &context.nextStreamID, limits: context.limits, at: now)
            for stream in new { records.append(.stream(stream)) }
            return new.map(\.position)
        } catch {
            quarantine(error, at: now)
            return []
        }
    }

    /// A headset that streams says what it sends: where that is something else than it was taken for, further streams begin.
    func follow(_ descriptions: [StreamDescription], at now: MonotonicTime) {
        guard let streaming = session.streaming, !recorded.haveShape(of: descriptions), !isFinishing,
            case .streaming = machine.state
        else { return }
        let positions = adopt(descriptions, at: now)
        recorded.beginLink(streaming, of: session.profile, positions: positions)
    }

    /// The link has ended, or was given up.
    func endSession(at now: MonotonicTime) {
        endImpedance(at: now)
        endLinkRecord(at: now)
        session.end()
        timers[.commands] = nil
        for timer in HeadsetTimer.ofStreaming { timers[timer] = nil }
    }
}
