import Bluetooth
import Headsets
import Testing

@testable import Reconnection

/// The establish flow, the status query with all of its outcomes, identity and restoration.
struct EstablishTests {
    typealias Under = MachineUnderTest

    private func concluded(_ effects: [ConnectionEffect]) -> [StatusConclusion] {
        effects.compactMap { if case .statusConcluded(let conclusion, _) = $0 { conclusion } else { nil } }
    }

    private func commands(_ effects: [ConnectionEffect]) -> [CommandPurpose] {
        effects.compactMap { if case .run(let purpose, _, _) = $0 { purpose } else { nil } }
    }

    @Test("Still streaming: only a subscription is added")
    func stillStreaming() {
        var test = Under.inState("queryingStatus")
        test.effects.removeAll()
        test.fire(.statusReceived(Under.status(.streaming)))
        test.fire(.dataSubscribed(attempt: test.attempt))
        #expect(concluded(test.effects) == [.stillStreaming])
        #expect(commands(test.effects).isEmpty)
        #expect(test.machine.state.name == "streaming")
    }

    @Test("Still sampling into its memory: subscribed and started, not initialised")
    func stillSampling() {
        var test = Under.inState("queryingStatus")
        test.effects.removeAll()
        test.fire(.statusReceived(Under.status(.sampling)))
        test.fire(.dataSubscribed(attempt: test.attempt))
        test.fire(.commandsCompleted(attempt: test.attempt))
        #expect(concluded(test.effects) == [.stillSampling])
        #expect(commands(test.effects) == [.start])
        #expect(test.machine.state.name == "streaming")
    }

    @Test("Rebooted: full initialisation, even where it samples already")
    func rebooted() {
        for condition in [HeadsetStatus.Condition.idle, .sampling, .streaming] {
            var test = Under.inState("queryingStatus")
            test.effects.removeAll()
            test.fire(.statusReceived(Under.status(condition, boot: 99)))
            #expect(concluded(test.effects) == [.headsetRestarted])
            #expect(test.machine.state.name == "initialising")
            test.fire(.commandsCompleted(attempt: test.attempt))
            #expect(test.machine.state.name == "queryingStatus")
            test.fire(.statusReceived(Under.status(.sampling, boot: 99)))
            test.fire(.dataSubscribed(attempt: test.attempt))
            test.fire(.commandsCompleted(attempt: test.attempt))
            #expect(test.machine.state.name == "streaming")
            #expect(test.machine.knownBoot == 99)
            #expect(commands(test.effects) == [.initialise, .queryStatus, .start])
        }
    }

    @Test("Low power and bootloader: woken, then asked again; a headset that never wakes is let go")
    func asleep() {
        for condition in [HeadsetStatus.Condition.lowPower, .bootloader] {
            var test = Under.inState("queryingStatus")
            test.effects.removeAll()
            var rounds = 0
            while test.machine.state.name == "queryingStatus" {
                rounds += 1
                test.fire(.statusReceived(Under.status(condition)))
                if test.machine.state.name == "waking" { test.fire(.commandsCompleted(attempt: test.attempt)) }
            }
            #expect(rounds == ReconnectionLimits().wakeTries + 1)
            #expect(commands(test.effects).filter { $0 == .wake }.count == ReconnectionLimits().wakeTries)
            #expect(test.machine.state.name == "cancelling")
        }
    }

    @Test("Wrong configuration and idle: initialised, then asked again")
    func wrongConfiguration() {
        for condition in [HeadsetStatus.Condition.wrongConfiguration, .idle] {
            var test = Under.inState("queryingStatus")
            test.effects.removeAll()
            test.fire(.statusReceived(Under.status(condition)))
            #expect(concluded(test.effects) == [.needsInitialisation])
            test.fire(.commandsCompleted(attempt: test.attempt))
            #expect(test.machine.state.name == "queryingStatus")
            #expect(commands(test.effects) == [.initialise, .queryStatus])
        }
    }

    @Test("A headset whose status says nothing new once it is initialised is not asked again")
    func askedOnce() {
        let profile = MuseProfile(variant: .withPPG)
        #expect(profile.answersStatusQuery)
        var test = Under.inState("queryingStatus", profile: profile)
        test.effects.removeAll()
        test.fire(.statusReceived(HeadsetStatus(condition: .idle, serialNumber: Under.serial)))
        #expect(test.machine.state.name == "initialising")
        test.fire(.commandsCompleted(attempt: test.attempt))
        test.fire(.dataSubscribed(attempt: test.attempt))
        test.fire(.commandsCompleted(attempt: test.attempt))
        #expect(commands(test.effects) == [.initialise, .start])
        #expect(concluded(test.effects) == [.needsInitialisation])
        #expect(test.machine.state.name == "streaming")
    }

    @Test("No answer: one retry, then treated as rebooted; never hangs")
    func noAnswer() {
        var test = Under.inState("queryingStatus")
        test.effects.removeAll()
        test.reachDeadline()
        #expect(commands(test.effects) == [.queryStatus])
        test.reachDeadline()
        #expect(concluded(test.effects) == [.noAnswer])
        #expect(test.machine.state.name == "initialising")
        test.fire(.commandsCompleted(attempt: test.attempt))
        test.fire(.dataSubscribed(attempt: test.attempt))
        test.fire(.commandsCompleted(attempt: test.attempt))
        #expect(test.machine.state.name == "streaming")
    }

    @Test("A restart that is told while streaming ends streaming and initialises")
    func restartWhileStreaming() {
        var test = Under.inState("streaming")
        let effects = test.fire(.statusReceived(Under.status(.idle, boot: 3)))
        #expect(effects.first == .streamingEnded(.headsetRestarted))
        #expect(test.machine.state.name == "queryingStatus")
    }

    @Test("Replies twice or of another step add nothing and send nothing")
    func idempotent() {
        var test = Under.inState("discovering")
        let attempt = test.attempt
        test.fire(.servicesDiscovered(attempt: attempt))
        #expect(test.fire(.servicesDiscovered(attempt: attempt)).isEmpty)
        #expect(test.fire(.dataSubscribed(attempt: test.attempt)).isEmpty)
        #expect(test.machine.state.name == "subscribingControl")
    }

    @Test("A restored link skips the layers, and what it still has")
    func restored() {
        let database = GATTDatabase(
            characteristics: BufferedEEGProfile().requiredCharacteristics.map {
                Characteristic(service: BufferedEEGService.service, uuid: $0, properties: [.notify])
            })
        var test = Under()
        test.fire(.start)
        test.fire(
            .restored(
                [RestoredPeripheral(identifier: Under.known, isConnected: true, database: database, notifying: [])],
                attempt: test.attempt))
        #expect(test.machine.state.name == "subscribingControl")
        #expect(!test.effects.contains { if case .connect = $0 { true } else { false } })
        // Its loss carries no attempt of ours.
        test.fire(.disconnected(.linkLost, attempt: .none))
        #expect(test.machine.state.name == "backingOff")
    }

    @Test("A restored peripheral that is disconnected, or a stranger, is not taken")
    func notRestored() {
        for (identifier, isConnected) in [(Under.known, false), (Under.stranger, true)] {
            var test = Under()
            test.fire(.start)
            test.fire(
                .restored(
                    [RestoredPeripheral(identifier: identifier, isConnected: isConnected, database: nil, notifying: [])],
                    attempt: test.attempt))
            #expect(test.machine.state.name == "connecting")
        }
    }

    @Test("Another headset of the model is rejected by its serial number, and the scan goes on")
    func otherHeadset() {
        var test = Under.inState("identifying")
        let effects = test.fire(.identityRead("BE-0002", attempt: test.attempt))
        #expect(effects.contains(.identifierRejected(Under.stranger, proof: "BE-0002")))
        #expect(test.machine.state.name == "cancelling")
        test.fire(.disconnected(nil, attempt: test.attempt))
        #expect(test.machine.state.name == "scanning")
        #expect(test.fire(.discovered(Under.stranger)).isEmpty)
        test.fire(.discovered(Under.second))
        test.reachDeadline()
        #expect(test.machine.state.name == "connecting")
    }

    @Test("An address that another headset of ours tries just now is found again while the scan lasts, and no longer")
    func busyStranger() {
        var test = Under.inState("scanning")
        guard case .scanning(_, let end) = test.machine.state else { return #expect(Bool(false), "not scanning") }
        for _ in 0..<3 {
            test.fire(.discovered(Under.stranger))
            test.reachDeadline()
            #expect(test.machine.state.name == "connecting")
            test.fire(.connectFailed(.channelBusy, attempt: test.attempt))
            guard case .scanning(_, let until) = test.machine.state else { return #expect(Bool(false), "not scanning") }
            #expect(until == end, "the window does not grow")
        }
        test.fire(.discovered(Under.stranger))
        test.reachDeadline()
        test.now = end
        test.fire(.connectFailed(.channelBusy, attempt: test.attempt))
        #expect(test.machine.state.name == "backingOff")
    }

    @Test("An unknown address gives the known one half a second to be heard, and then has its turn", arguments: [true, false])
    func strangersWait(isKnownHeard: Bool) {
        var test = Under.inState("scanning")
        #expect(test.fire(.discovered(Under.stranger)).isEmpty)
        if isKnownHeard { test.fire(.discovered(Under.known)) } else { test.reachDeadline() }
        guard case .connecting(let candidate) = test.machine.state else {
            Issue.record("\(test.machine.state.name)")
            return
        }
        #expect(candidate.identifier == (isKnownHeard ? Under.known : Under.stranger))
        #expect(test.now - candidate.layerBegan <= ReconnectionLimits().provableDelay)
    }

    @Test("A scan for a headset that was never met, and can prove itself, waits for nobody")
    func firstHeadset() {
        var test = Under(identifiers: [])
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        test.fire(.retrievedConnected([], attempt: test.attempt))
        test.fire(.discovered(Under.stranger))
        #expect(test.machine.state.name == "connecting")
    }

    @Test("A headset that does not tell its serial number this time is let go, not banned")
    func silentIdentity() {
        var test = Under.inState("identifying")
        let effects = test.fire(.identityRead(nil, attempt: test.attempt))
        #expect(!effects.contains { if case .identifierRejected = $0 { true } else { false } })
        test.fire(.disconnected(nil, attempt: test.attempt))
        #expect(test.machine.state.name == "backingOff")
    }

    @Test("An adapter that goes away in the middle of a step is waited for like any other")
    func adapterGoneInStep() {
        var test = Under.inState("subscribingControl")
        test.fire(.stepFailed(.adapterUnavailable(.resetting), attempt: test.attempt))
        #expect(test.machine.state.name == "cancelling")
        test.fire(.disconnected(nil, attempt: test.attempt))
        #expect(test.machine.state.name == "backingOff")
    }

    @Test("An unanswered status does not make the next restart go unnoticed")
    func unansweredKeepsBoot() {
        var test = Under.inState("queryingStatus")
        test.reachDeadline()
        test.reachDeadline()
        test.fire(.commandsCompleted(attempt: test.attempt))
        test.fire(.dataSubscribed(attempt: test.attempt))
        test.fire(.commandsCompleted(attempt: test.attempt))
        #expect(test.machine.state.name == "streaming")
        #expect(test.machine.knownBoot == Under.boot)
    }

    @Test("A new address is bound by its serial number")
    func newAddress() {
        var test = Under.inState("identifying")
        test.fire(.identityRead(Under.serial, attempt: test.attempt))
        test.establish(until: "streaming")
        // The rest of the flow began after the identity: control, status, data, start.
        test.fire(.controlSubscribed(attempt: test.attempt))
        test.fire(.statusReceived(Under.status()))
        test.fire(.dataSubscribed(attempt: test.attempt))
        test.fire(.commandsCompleted(attempt: test.attempt))
        #expect(test.machine.identifiers == [Under.stranger, Under.known])
        #expect(test.effects.contains(.identifierProven(Under.stranger, proof: Under.serial)))
    }

    @Test(
        "Where a person demands a serial number that was never shown, a known address is asked for it; silence is believed",
        arguments: [Under.serial, "BE-0002", nil] as [String?])
    func demandedProof(serial: String?) {
        var test = Under()
        test.machine.isProofDemanded = true
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        test.fire(.connected(Under.known, attempt: test.attempt))
        test.fire(.servicesDiscovered(attempt: test.attempt))
        #expect(test.machine.state.name == "identifying")
        test.fire(.identityRead(serial, attempt: test.attempt))
        #expect((test.machine.state.name == "subscribingControl") == (serial != "BE-0002"))
    }

    @Test("Preserved state names what is pending or connected, which the next process tries first")
    func preservedState() {
        #expect(Under.inState("connecting").machine.preservedState == PreservedState(peripheral: Under.known))
        #expect(Under.inState("scanning").machine.preservedState == PreservedState())
        let streaming = Under.inState("streaming").machine.preservedState
        #expect(streaming == PreservedState(peripheral: Under.known))
        let machine = ConnectionMachine(
            profile: BufferedEEGProfile(), identifiers: [Under.second, Under.known], identityProof: nil,
            preserved: streaming, seed: 1)
        #expect(machine.identifiers == [Under.known, Under.second])
    }
}
