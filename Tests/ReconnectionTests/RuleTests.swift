import Bluetooth
import Headsets
import Testing

@testable import Reconnection

/// The rules of the machine's theory of operation.
struct RuleTests {
    @Test("Rule 1: every state but the waiting ones has a deadline", arguments: MachineUnderTest.stateNames)
    func deadline(state: String) {
        let test = MachineUnderTest.inState(state)
        #expect(test.machine.state.name == state)
        let waits = ["stopped", "waitingForAdapter"].contains(state)
        #expect((test.machine.deadline == nil) == waits)
    }

    @Test("Rule 1 holds after every event in every state", arguments: MachineUnderTest.stateNames)
    func deadlineAfterEveryEvent(state: String) {
        let start = MachineUnderTest.inState(state)
        for (name, event) in start.everyEvent {
            var test = start
            if case .deadlineReached = event { test.reachDeadline() } else { test.fire(event) }
            let waits = ["stopped", "waitingForAdapter"].contains(test.machine.state.name)
            #expect((test.machine.deadline == nil) == waits, "\(state) + \(name) -> \(test.machine.state.name)")
        }
    }

    @Test("A scan that fails is over: it is not asked for any more")
    func failedScan() {
        for error in [CentralError.inProgress, .notPermitted(what: "test")] {
            var test = MachineUnderTest.inState("scanning")
            #expect(test.fire(.scanFailed(error)).contains(.stopScan))
        }
    }

    /// The states that a headset goes through which is away.
    private func absence(_ identifiers: [PeripheralIdentifier]) -> [String] {
        var test = MachineUnderTest(identifiers: identifiers)
        test.fire(.start)
        var seen = [test.machine.state.name]
        for _ in 0..<5 {
            test.reachDeadline()
            if case .cancelling = test.machine.state { test.fire(.disconnected(nil, attempt: test.attempt)) }
            seen.append(test.machine.state.name)
        }
        return seen
    }

    @Test("Rule 2: a silent layer falls to the next; while a known headset is away, a connection or a scan is always armed")
    func silentLayers() {
        #expect(
            absence([MachineUnderTest.known]) == [
                "restoring", "connecting", "retrieving", "scanning", "connecting", "retrieving",
            ])
    }

    @Test("Rule 2: a scan for a headset that nobody has met backs off")
    func silentLayersOfAnUnknownHeadset() {
        #expect(absence([]) == ["restoring", "retrieving", "scanning", "backingOff", "retrieving", "scanning"])
    }

    @Test("Rule 2: a failing layer falls to the next")
    func failingLayers() {
        var test = MachineUnderTest.inState("connecting")
        test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
        #expect(test.machine.state.name == "retrieving")
        test.fire(.retrievedConnected([MachineUnderTest.known], attempt: test.attempt))
        #expect(test.machine.state.name == "connecting")
        test.fire(.connectFailed(.channelBusy, attempt: test.attempt))
        #expect(test.machine.state.name == "scanning")
        test.fire(.discovered(MachineUnderTest.known))
        test.fire(.connectFailed(.connectionFailed(reason: "page timeout"), attempt: test.attempt))
        #expect(test.machine.state.name == "backingOff")
    }

    @Test("Rule 2: pauses are capped, jittered and never give up")
    func backoffBounds() {
        var test = MachineUnderTest(identifiers: [])
        test.fire(.start)
        let limits = ReconnectionLimits()
        var pauses: [Duration] = []
        for _ in 0..<2000 {
            if case .backingOff = test.machine.state, let deadline = test.machine.deadline {
                pauses.append(deadline - test.now)
            }
            test.reachDeadline()
            if case .cancelling = test.machine.state { test.fire(.disconnected(nil, attempt: test.attempt)) }
        }
        #expect(pauses.count > 400)
        #expect(pauses.allSatisfy { $0 > .zero && $0 <= limits.backoffMaximum })
        #expect(Set(pauses.suffix(100)).count > 50)
    }

    @Test("Rule 3: a pending connection is cancelled and waited for before the next one")
    func neverTwoConnects() {
        var test = MachineUnderTest(identifiers: [MachineUnderTest.known, MachineUnderTest.second])
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        let late = test.attempt
        let cancelled = test.reachDeadline()
        #expect(cancelled.contains(.cancelConnection(MachineUnderTest.known, attempt: test.attempt)))
        #expect(!cancelled.contains { if case .connect = $0 { true } else { false } })
        // The connection is answered just then: too late, the cancel is what counts.
        #expect(test.fire(.connected(MachineUnderTest.known, attempt: late)).isEmpty)
        #expect(test.machine.state.name == "cancelling")
        let next = test.fire(.disconnected(nil, attempt: test.attempt))
        #expect(next == [.connect(MachineUnderTest.second, attempt: test.attempt)])
    }

    @Test("Rule 3: a cancel that is not confirmed is repeated, then the connection counts as gone")
    func unconfirmedCancel() {
        var test = MachineUnderTest.inState("cancelling")
        var cancels = 1
        while case .cancelling = test.machine.state {
            for effect in test.reachDeadline() { if case .cancelConnection = effect { cancels += 1 } }
        }
        #expect(cancels == ReconnectionLimits().cancelTries)
        #expect(test.machine.state.name == "retrieving")
    }

    @Test("Rule 4: late replies are counted and change nothing", arguments: MachineUnderTest.stateNames)
    func lateReplies(state: String) {
        let start = MachineUnderTest.inState(state)
        let late = Attempt(number: 1 << 30)
        let replies: [ConnectionEvent] = [
            .restored([], attempt: late), .retrievedConnected([MachineUnderTest.known], attempt: late),
            .connected(MachineUnderTest.known, attempt: late), .connectFailed(.linkLost, attempt: late),
            .disconnected(.linkLost, attempt: late), .servicesDiscovered(attempt: late),
            .identityRead("x", attempt: late), .controlSubscribed(attempt: late), .dataSubscribed(attempt: late),
            .commandsCompleted(attempt: late), .stepFailed(.linkLost, attempt: late),
        ]
        for reply in replies {
            var test = start
            #expect(test.fire(reply).isEmpty)
            #expect(test.machine.state == start.machine.state)
            #expect(test.machine.deadline == start.machine.deadline)
            #expect(test.machine.lateReplies == start.machine.lateReplies + 1, "\(reply)")
        }
    }

    @Test("Rule 4: an illegal event changes nothing but its count")
    func illegalEvents() {
        for state in MachineUnderTest.stateNames {
            let start = MachineUnderTest.inState(state)
            for (name, event) in start.everyEvent {
                var test = start
                let effects = test.fire(event)
                if test.machine.illegalEvents > start.machine.illegalEvents {
                    #expect(effects.isEmpty && test.machine.state == start.machine.state, "\(state) + \(name)")
                    #expect(test.machine.deadline == start.machine.deadline)
                }
            }
        }
    }

    @Test("Rule 2: what was heard and did not answer is not waited for once more as long: it may be elsewhere by now")
    func silentScan() {
        var test = MachineUnderTest(identifiers: [MachineUnderTest.known, MachineUnderTest.second])
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        func connects() -> (seconds: Duration, next: String) {
            let began = test.now
            var next = test
            next.reachDeadline()
            while case .cancelling(let identifier, _, _) = next.machine.state {
                next.fire(.disconnected(nil, attempt: next.attempt))
                if identifier == MachineUnderTest.second { break }
            }
            defer { test = next }
            return (next.now - began, next.machine.state.name)
        }
        let first = connects()
        #expect(first.seconds == .seconds(4) && first.next == "connecting")
        test.fire(.connectFailed(.unknownPeripheral, attempt: test.attempt))
        test.fire(.retrievedConnected([], attempt: test.attempt))
        test.fire(.discovered(MachineUnderTest.known))
        let heard = connects()
        #expect(heard.seconds == .seconds(4) && heard.next == "backingOff")
        test.reachDeadline()
        #expect(test.machine.state.name == "connecting")
        let again = connects()
        #expect(again.seconds == .milliseconds(1500) && again.next == "retrieving", "\(again)")
        // Not once more: whoever answers slowly gets its time, and the others their turn.
        test.fire(.retrievedConnected([], attempt: test.attempt))
        test.fire(.discovered(MachineUnderTest.known))
        #expect(connects().next == "backingOff")
        test.reachDeadline()
        #expect(connects().seconds == .seconds(4))
    }

    @Test("Rule 5: silence while streaming is a lost link")
    func silence() {
        var test = MachineUnderTest.inState("streaming")
        let limit = BufferedEEGProfile().timing.silenceLimit
        for _ in 0..<20 {
            test.wait(limit - .milliseconds(1))
            #expect(test.fire(.deadlineReached).isEmpty)
            test.fire(.samplesReceived(from: BufferedEEGService.data))
        }
        let effects = test.reachDeadline()
        #expect(effects.first == .streamingEnded(.silence))
        #expect(test.machine.state.name == "cancelling")
    }

    @Test("Rule 5: a vital characteristic that falls silent, or never sends, is a lost link, whatever the others send")
    func vitalSilence() {
        // Its sensors send on characteristics of their own; those of the EEG are vital.
        let profile = MuseProfile(variant: .withoutPPG)
        let (eeg, limit) = (profile.vitalCharacteristics, profile.timing.silenceLimit)
        /// How long streaming lasts while only these send, ten times within the limit.
        func duration(_ sending: [[BluetoothUUID]]) -> Duration {
            var test = MachineUnderTest.inState("streaming", profile: profile)
            let start = test.now
            for characteristics in sending {
                test.wait(limit / 10)
                #expect(test.fire(.deadlineReached).isEmpty)
                for characteristic in characteristics { test.fire(.samplesReceived(from: characteristic)) }
            }
            while let deadline = test.machine.deadline, deadline > test.now, test.machine.state.name == "streaming" {
                test.wait(limit / 10)
                test.fire(.samplesReceived(from: MuseService.accelerometer))
                if deadline <= test.now { #expect(test.fire(.deadlineReached).first == .streamingEnded(.silence)) }
                if test.now - start > limit * 10 { break }
            }
            return test.now - start
        }
        #expect(duration([]) == limit)
        #expect(duration(Array(repeating: [eeg[0]], count: 9)) == limit)
        #expect(duration(Array(repeating: eeg, count: 30)) == limit * 4)
        #expect(duration(Array(repeating: eeg, count: 20) + Array(repeating: Array(eeg.dropFirst()), count: 9)) == limit * 3)
    }

    @Test("Rule 5: leaving streaming always tells why")
    func leavingStreaming() {
        let start = MachineUnderTest.inState("streaming")
        for (name, event) in start.everyEvent {
            var test = start
            let effects: [ConnectionEffect]
            if case .deadlineReached = event { effects = test.reachDeadline() } else { effects = test.fire(event) }
            let ended = effects.contains { if case .streamingEnded = $0 { true } else { false } }
            #expect(ended == (test.machine.state.name != "streaming"), "\(name)")
        }
    }

    @Test("Rule 6: an adapter that a person switched off is waited for", arguments: MachineUnderTest.stateNames)
    func adapterOff(state: String) {
        var test = MachineUnderTest.inState(state)
        test.fire(.adapterChanged(.poweredOff))
        for _ in 0..<10 {
            if case .cancelling = test.machine.state { test.fire(.disconnected(nil, attempt: test.attempt)) }
        }
        let expected: Set = ["stopped", "waitingForAdapter"]
        #expect(expected.contains(test.machine.state.name))
        test.effects.removeAll()
        test.wait(.seconds(86_400))
        test.fire(.deadlineReached)
        #expect(test.effects.isEmpty)
        test.fire(.adapterChanged(.poweredOn))
        if test.machine.state.name != "stopped" {
            #expect(test.machine.state.name == "connecting" || test.machine.state.name == "restoring")
        }
    }

    @Test("Rule 6: a blocked headset waits for a person, a disconnected one is retried")
    func operatorWill() {
        var blocked = MachineUnderTest.inState("streaming")
        guard case .streaming(let link, _) = blocked.machine.state else { return #expect(Bool(false)) }
        blocked.fire(.disconnected(.peripheralBlocked, attempt: link.connectAttempt))
        #expect(blocked.machine.state == .waitingForOperator(.peripheralBlocked))
        blocked.fire(.operatorActed)
        #expect(blocked.machine.state.name == "connecting")

        var disconnected = MachineUnderTest.inState("streaming")
        disconnected.fire(.disconnected(.disconnectedByOperator, attempt: link.connectAttempt))
        #expect(disconnected.machine.state.name == "backingOff")
    }

    @Test("Silence and stale addresses together leave time for a scan within 10 s")
    func silenceThenStaleAddresses() {
        var test = MachineUnderTest(identifiers: [MachineUnderTest.known, MachineUnderTest.second])
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        test.fire(.connected(MachineUnderTest.known, attempt: test.attempt))
        test.establish(until: "streaming")
        let lastSample = test.now
        for _ in 0..<40 where test.machine.state.name != "scanning" {
            if case .cancelling = test.machine.state {
                test.fire(.disconnected(nil, attempt: test.attempt))
            } else {
                test.reachDeadline()
            }
        }
        // A Muse is silent for 5.5 s: what is left of ten is for hearing it, its proof and its services.
        #expect(test.now - lastSample < test.machine.profile.timing.silenceLimit + .milliseconds(2200))
        // Without a silence before, the best address has its whole time again.
        test.fire(.discovered(MachineUnderTest.known))
        let link = test.attempt
        test.fire(.connected(MachineUnderTest.known, attempt: link))
        test.establish(until: "streaming")
        test.fire(.disconnected(.linkLost, attempt: link))
        while test.machine.state.name != "connecting" { test.reachDeadline() }
        #expect(test.machine.peripheral == MachineUnderTest.known)
        #expect(test.machine.deadline == test.now + .seconds(4))
    }

    @Test("Rule 6: what the headset itself refused is tried again, ever more rarely", arguments: 0...UInt8.max)
    func refused(code: UInt8) {
        var test = MachineUnderTest()
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        for pause in [5, 10, 20, 40, 60, 60] {
            test.fire(.connected(MachineUnderTest.known, attempt: test.attempt))
            test.fire(.stepFailed(.att(ATTError(code: code)), attempt: test.attempt))
            test.fire(.disconnected(nil, attempt: test.attempt))
            if test.machine.state.name == "backingOff" { return }
            #expect(test.machine.state == .waitingForOperator(.att(ATTError(code: code))))
            #expect(test.machine.deadline == test.now + .seconds(pause))
            test.reachDeadline()
            #expect(test.machine.state.name == "connecting")
        }
        test.fire(.connected(MachineUnderTest.known, attempt: test.attempt))
        test.establish(until: "streaming")
        #expect(test.machine.state.name == "streaming" && test.machine.refusalPause == nil)
    }

    @Test("Rule 6: what was stopped stays stopped", arguments: MachineUnderTest.stateNames.dropFirst())
    func stopped(state: String) {
        var test = MachineUnderTest.inState(state)
        test.fire(.stop(.operatorStopped))
        for _ in 0..<10 where test.machine.state != .stopped { test.reachDeadline() }
        #expect(test.machine.state == .stopped)
        test.effects.removeAll()
        for (name, event) in test.everyEvent where name != "start" { test.fire(event) }
        #expect(test.effects.isEmpty)
        #expect(test.machine.state == .stopped)
    }

    @Test("Rule 7: a headset that connects and drops at once does not spin; a stable one starts from the minimum")
    func backoffReset() {
        func pauseAfterDrop(holding: Duration, times: Int) -> Duration {
            var test = MachineUnderTest.inState("streaming")
            var pause = Duration.zero
            for _ in 0..<times {
                guard case .streaming(let link, _) = test.machine.state else { break }
                test.wait(holding)
                test.fire(.samplesReceived(from: BufferedEEGService.data))
                test.fire(.disconnected(.linkLost, attempt: link.connectAttempt))
                if let deadline = test.machine.deadline { pause = deadline - test.now }
                test.reachDeadline()
                test.fire(.connected(MachineUnderTest.known, attempt: test.attempt))
                test.establish(until: "streaming")
            }
            return pause
        }
        #expect(pauseAfterDrop(holding: .milliseconds(100), times: 12) >= .milliseconds(500))
        #expect(pauseAfterDrop(holding: .seconds(11), times: 12) <= .milliseconds(50))
    }
}
