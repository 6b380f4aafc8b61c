import Assembly
import Bluetooth
import Headsets
import Reconnection
import Rehearsal
import Storage
import Testing

@testable import Acquisition

/// What the engine owes a headset and the operator, against a headset that does as a script wants.
struct EngineTests {
    private static let acknowledge = HeadsetScript.Call.command(
        BufferedEEGCommand.acknowledge(stream: 0, upTo: 0).opcode)

    private static func streaming() throws -> EngineUnderTest {
        let test = try EngineUnderTest()
        try test.want()
        try test.reconcile()
        try test.run(.seconds(5), until: .streaming)
        #expect(test.phase == .streaming)
        return test
    }

    @Test("A headset is told to forget only what survives a power cut")
    func acknowledgement() throws {
        let test = try Self.streaming()
        test.commits = .volatile
        try test.run(.seconds(20))
        let rows = try test.store.audit().streams.reduce(0) { $0 + $1.rows }
        #expect(rows > 4000, "the rows are committed")
        #expect(!test.script.calls.contains(Self.acknowledge))
        test.commits = .durable
        try test.run(.seconds(2))
        #expect(test.script.calls.contains(Self.acknowledge))
    }

    @Test("An unknown address that is connected to is written at once: a process that dies then leaves no link unfound")
    func addressBeforeTheLink() throws {
        let test = try EngineUnderTest()
        test.script.change { $0.condition = .lowPower }
        let recording = try test.want()
        try test.reconcile()
        // From one instant at which something is due to the next: an unknown address is listened for before that.
        let limit = test.now + .seconds(5)
        while !test.script.calls.contains(.connect), let due = test.nextDue, due <= limit {
            try test.run(max(.zero, due - test.now))
        }
        #expect(test.script.calls.contains(.connect))
        let before = test.now
        try test.run(.zero)
        #expect(test.now == before)
        let json = try #require(try test.store.resumeState(of: recording).preservedJSON)
        #expect(PreservedState(json: json)?.unproven == HeadsetScript.identifier)
        #expect(try test.store.resumeState(of: recording).identifiers.isEmpty, "nothing is proven yet")
    }

    @Test("What a process could not write before it ended is missing because of that, not because none ran")
    func failedLastBatch() throws {
        for hasFailed in [true, false] {
            let test = try Self.streaming()
            try test.run(.seconds(10))
            let recording = try #require(test.engine.recordings.first)
            let next = AcquisitionEngine(
                nextStreamID: try test.store.nextStreamID(), beginsAfterFailedWrites: hasFailed, seed: 2,
                lookUp: { KnownHeadset(name: $0.headsetName, profile: BufferedEEGProfile()) })
            let tasks = StorageTasks(test.store)
            // Until nothing more is to be done just now.
            var events = [EngineEvent.central([]), .shutDown]
            while !events.isEmpty {
                let effects = next.handle(events.removeFirst(), at: test.now)
                let answers = effects.compactMap { tasks.perform($0, at: test.now) }
                events = answers + events + (answers.isEmpty ? [] : [.central([])])
            }
            let gaps = try test.store.gaps(of: recording).filter { $0.count == nil }
            #expect(gaps.map(\.cause) == (hasFailed ? ["storageUnavailable"] : []))
        }
    }

    @Test("At the end, samples come until the log is in the file, for two seconds at the most", arguments: [500, 30_000])
    func checkpointBeforeTheEnd(milliseconds: Int64) throws {
        let test = try Self.streaming()
        try test.run(.milliseconds(300))
        var tasks: [String] = []
        test.driver.conduct = { effect, _ in
            switch effect {
            case .commit: tasks.append("commit")
            case .checkpoint:
                tasks.append("checkpoint")
                return VirtualDriver.TaskConduct(duration: .milliseconds(milliseconds))
            default: break
            }
            return VirtualDriver.TaskConduct()
        }
        let asked = test.now
        test.driver.handle(.shutDown, at: asked)
        try test.run(.milliseconds(min(milliseconds, 2000) - 100))
        #expect(test.phase == .streaming)
        let checkpoint = try #require(tasks.firstIndex(of: "checkpoint"))
        #expect(tasks.prefix(checkpoint).last == "commit", "what is buffered comes into the file, too")
        try test.run(.seconds(10), until: .stopped)
        #expect(test.now - asked < .milliseconds(min(milliseconds, 2000) + 200))
        try test.run(.seconds(1))
        #expect(test.driver.isFinished && tasks.last == "commit", "a slow checkpoint keeps nothing from being written")
    }

    @Test("While nothing can be written, a full buffer's samples are missing because of that")
    func failingStorage() throws {
        let test = try Self.streaming()
        #expect(test.engine.context.overflowCause == .queueOverflow)
        test.commits = .never
        try test.run(.seconds(3))
        #expect(test.engine.context.overflowCause == .storageUnavailable)
        _ = try test.takeRest()
        #expect(test.engine.context.overflowCause == .queueOverflow)
    }

    @Test("A link that breaks while the headset is being prepared ends the commands that were under way")
    func brokenWhileEstablishing() throws {
        let test = try EngineUnderTest()
        test.script.change { $0.condition = .lowPower }
        try test.want()
        try test.reconcile()
        let wake = HeadsetScript.Call.command(BufferedEEGCommand.wake.opcode)
        // In the pause after WAKE.
        while !test.script.calls.contains(wake) { try test.run(.milliseconds(1)) }
        test.script.change { conduct in
            conduct.breaksLink = true
            conduct.connectError = .connectionTimedOut
        }
        test.script.forgetCalls()
        let turns = test.iterationCount
        try test.run(.seconds(10))
        #expect(test.phase == .searching)
        #expect(!test.script.calls.contains { if case .command = $0 { true } else { false } }, "nobody is there to hear them")
        #expect(test.iterationCount - turns < 500, "a pause that nobody ends would be due for ever")
    }

    @Test("What a person removed is tried again when that person says so, and rarely before")
    func waitingForOperator() throws {
        let test = try EngineUnderTest()
        test.script.change { $0.connectError = .peripheralBlocked }
        try test.want()
        try test.reconcile()
        try test.run(.seconds(55))
        #expect(test.phase == .waitingForOperator)
        #expect(test.script.calls == [.connect])
        // After one minute, two, and four.
        try test.run(.seconds(600))
        #expect(test.script.calls == [.connect, .connect, .connect, .connect])
        #expect(test.phase == .waitingForOperator)
        test.script.change { $0.connectError = nil }
        test.reload()
        try test.run(.seconds(5), until: .streaming)
        #expect(test.phase == .streaming)
    }

    @Test("A headset that refuses to be paired is tried again when its own pause is over, and not when another one's is")
    func refusedPairings() throws {
        for hasNeighbour in [true, false] {
            let test = try EngineUnderTest(hasNeighbour: hasNeighbour)
            for script in [test.script, test.neighbour] { script.change { $0.connectError = .pairingRefused } }
            try test.want()
            if hasNeighbour { try test.want("right") }
            try test.reconcile()
            try test.run(.seconds(60))
            #expect(test.phase(of: "left") == .waitingForOperator)
            #expect(test.script.calls == [.connect])
            test.emit(.didUnblock(test.neighbour.identifier))
            try test.run(.seconds(60))
            #expect(test.script.calls == [.connect])
            let others: [HeadsetScript.Call] = hasNeighbour ? [.connect, .connect] : []
            #expect(test.neighbour.calls == others)
            // Without a neighbour it is known by no address yet.
            test.emit(.didUnblock(test.script.identifier))
            try test.run(.seconds(60))
            #expect(test.script.calls == [.connect, .connect] && test.phase(of: "left") == .waitingForOperator)
        }
    }

    @Test("Whoever waits for a person to unblock something tries it again, whatever was unblocked")
    func unblocked() throws {
        let test = try EngineUnderTest()
        test.script.change { $0.connectError = .peripheralBlocked }
        try test.want()
        try test.reconcile()
        try test.run(.seconds(50))
        #expect(test.phase == .waitingForOperator && test.script.calls == [.connect])
        test.emit(.didUnblock(test.neighbour.identifier))
        try test.run(.seconds(50))
        #expect(test.script.calls == [.connect, .connect])
    }

    @Test("What is waited for is told anew when it becomes something else")
    func changedWait() throws {
        let test = try EngineUnderTest()
        try test.want()
        for adapter in [AdapterState.resetting, .unauthorized, .poweredOff] {
            test.script.change { $0.adapter = adapter }
            try test.reconcile()
            try test.run(.seconds(2))
            let shown = try #require(try test.store.headsets(at: test.now).first)
            #expect(shown.state == "waitingForAdapter" && shown.stateCause == adapter.rawValue)
        }
    }

    @Test("A recording that is stopped and started again begins once the headset was let go")
    func oneOwner() throws {
        let test = try Self.streaming()
        let first = try #require(test.engine.recordings.first)
        test.script.change { $0.answersCancel = false }
        try test.store.control.stopRecording(first, at: test.now)
        let second = try test.want()
        try test.reconcile()
        test.script.forgetCalls()
        // The headset does not confirm: it is not free yet.
        try test.run(.seconds(1))
        #expect(test.engine.recordings == [first])
        #expect(!test.script.calls.contains(.connect))
        // After the last cancel it counts as gone, and the end of the recording is committed.
        test.script.change { $0.answersCancel = true }
        try test.run(.seconds(10))
        #expect(test.engine.recordings == [second])
        try test.run(.seconds(5), until: .streaming)
        #expect(test.phase == .streaming)
    }

    @Test("Samples of a headset that has never described itself are no streaming: the link is tried anew until it does")
    func firstStatusUnanswered() throws {
        let test = try EngineUnderTest()
        test.script.change { $0.answersStatusQuery = false }
        try test.want()
        try test.reconcile()
        try test.run(.seconds(10), until: .streaming)
        try test.run(.milliseconds(500))
        #expect(test.script.calls.contains(.command(BufferedEEGCommand.start.opcode)), "it sends")
        #expect(test.takeReturns().isEmpty, "but nobody can say what")
        let limit = BufferedEEGProfile().timing.silenceLimit
        try test.run(limit)
        #expect(test.phase != .streaming)
        test.script.change { $0.answersStatusQuery = true }
        try test.run(.seconds(10), until: .streaming)
        try test.run(.seconds(3))
        #expect(test.phase == .streaming)
        #expect(test.takeReturns().count == 1)
        let audit = try test.store.audit()
        #expect(audit.holds)
        #expect(audit.streams.map(\.rows).reduce(0, +) > 400)
    }

    @Test("A headset is trusted once samples of it have come, and not for being subscribed to")
    func trust() throws {
        let test = try EngineUnderTest()
        test.script.change { $0.sendsSamples = false }
        try test.want()
        try test.reconcile()
        try test.run(.seconds(10), until: .streaming)
        try test.run(.milliseconds(500))
        #expect(test.script.calls.contains(.subscribe(BufferedEEGService.data)) && !test.script.calls.contains(.trust))
        test.script.change { $0.sendsSamples = true }
        try test.run(.seconds(1))
        #expect(test.script.calls.filter { $0 == .trust } == [.trust])
    }

    @Test("A headset that has not said what it sends is asked again at once, and recorded as soon as it answers")
    func statusAnsweredLate() throws {
        let test = try EngineUnderTest()
        test.script.change { $0.answersStatusQuery = false }
        try test.want()
        try test.reconcile()
        try test.run(.seconds(10), until: .streaming)
        test.script.forgetCalls()
        test.script.change { $0.answersStatusQuery = true }
        try test.run(BufferedEEGProfile().timing.statusLimit + .seconds(1))
        #expect(test.script.calls.contains(.command(BufferedEEGCommand.status.opcode)))
        #expect(!test.script.calls.contains(.connect), "the link goes on")
        #expect(test.phase == .streaming && test.takeReturns().count == 1)
        // After that it is asked as seldom as any other.
        test.script.forgetCalls()
        try test.run(.seconds(30))
        #expect(!test.script.calls.contains(.command(BufferedEEGCommand.status.opcode)))
        #expect(try test.store.audit().holds)
    }

    @Test("A silent headset is noticed long before its link is given up, and so is its return", arguments: [true, false])
    func silence(returns: Bool) throws {
        let test = try EngineUnderTest()
        try test.want()
        try test.reconcile()
        try test.run(.seconds(10), until: .streaming)
        try test.run(.seconds(1))
        test.script.change { $0.sendsSamples = false }
        let began = test.now
        try test.run(.seconds(10), until: .silent)
        #expect(test.phase == .silent && test.now - began <= .milliseconds(1050))
        #expect(!test.script.calls.contains(.cancel), "the link may recover")
        test.script.change { $0.sendsSamples = returns }
        try test.run(test.profile.timing.silenceLimit, until: returns ? .streaming : .searching)
        #expect(test.phase == (returns ? .streaming : .searching))
        #expect(test.script.calls.contains(.cancel) == !returns)
        // Its next link is not silent before it has begun.
        test.script.change { $0.sendsSamples = true }
        if !returns { try test.run(.seconds(10), until: .establishing) }
        try test.run(.seconds(3), until: .silent)
        #expect(test.phase == .streaming)
    }

    @Test("Only samples of a vital characteristic show that it is not silent", arguments: [true, false])
    func vitalSilence(allSend: Bool) throws {
        let test = try EngineUnderTest()
        test.profile = VitalProfile([BufferedEEGService.data] + (allSend ? [] : [BluetoothUUID(UInt16(0xFE01))]))
        try test.want()
        try test.reconcile()
        try test.run(.seconds(5), until: .streaming)
        test.script.forgetCalls()
        try test.run(test.profile.timing.silenceLimit * 2)
        #expect(test.script.calls.contains(.cancel) == !allSend)
    }

    @Test("A late answer to an earlier connect leaves the present link its decoder, with what that has learnt")
    func lateConnect() throws {
        struct LearnedDecoder: HeadsetDecoder {
            mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {}
        }
        let test = try Self.streaming()
        let acquisition = try #require(test.engine.acquisitions.first)
        acquisition.session.decoder = LearnedDecoder()
        let present = acquisition.machine.attempt
        let earlier = Attempt(number: present.number - 1, machine: present.machine)
        acquisition.handle(CentralEvent.didConnect(HeadsetScript.identifier, attempt: earlier), at: test.now)
        #expect(acquisition.session.decoder is LearnedDecoder)
        #expect(test.phase == .streaming && acquisition.machine.attempt == present)
    }

    @Test("A stream whose profile says where its converter ends, which the database does not keep, is no other stream")
    func converter() throws {
        let test = try EngineUnderTest()
        try test.want()
        try test.reconcile()
        let headset = try #require(test.engine.acquisitions.first)
        var description = StreamDescription(
            name: "eeg", samplingFrequency: 256, counterModulus: nil,
            channels: [ChannelDescription(name: "C1", unit: "uV", scale: 0.5, rawMinimum: -0x8000, rawMaximum: 0x7FFF)])
        headset.adopt([description], at: test.now)
        description.saturation = -2048...2047
        headset.adopt([description], at: test.now)
        #expect(headset.recorded.streams.map(\.assembler.description.saturation) == [-2048...2047])
    }

    @Test("While the disk is full, the records of what happens stay bounded, and the latest are kept")
    func boundedRecords() throws {
        let test = try Self.streaming()
        test.commits = .never
        // Two hours in which the headset answers and refuses: thousands of connection attempts, which are counted.
        test.script.change { $0.connectError = .connectionTimedOut }
        test.script.change { $0.breaksLink = true }
        try test.run(.seconds(7200))
        let attempts = try test.takeRest().map { batch in
            batch.changes.compactMap { if case .connectionAttempt(let attempt) = $0 { attempt } else { nil } }
        }
        let rest = try #require(attempts.max { $0.count < $1.count })
        // Each of a few kinds with its count once a minute.
        #expect(rest.count <= 4 * 120, "\(rest.count)")
        #expect(rest.compactMap(\.repetition).map(\.count).max().map { $0 > 1500 } == true)
        #expect(rest.compactMap(\.repetition).map(\.last).max().map { test.now - $0 < .seconds(70) } == true)
    }

    @Test("While the disk is full, what a headset marks stays bounded, too")
    func boundedAnnotations() throws {
        struct BlinkingDecoder: HeadsetDecoder {
            mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
                decoded.items.append(.event(HeadsetEvent("blink")))
            }
        }
        let test = try Self.streaming()
        test.commits = .never
        let acquisition = try #require(test.engine.acquisitions.first)
        acquisition.session.decoder = BlinkingDecoder()
        try test.run(.seconds(1))
        for _ in 0...Change.repeatedMaximum { acquisition.take([], from: BufferedEEGService.data, at: test.now) }
        let counts = try test.takeRest().map { batch in
            batch.changes.count { if case .annotation = $0 { true } else { false } }
        }
        #expect(counts.max() == Change.repeatedMaximum)
    }
}
