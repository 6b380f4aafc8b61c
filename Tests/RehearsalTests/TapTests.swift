import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage
import Tap
import Testing

@testable import Rehearsal

/// What the tap says of a virtual acquisition, beside what is stored.
struct TapTests {
    /// Out of range twice, and packets lost, reordered and doubled all the time.
    private static let script = [
        ScriptedFault(at: TappedAcquisition.instant(.seconds(30)), .outOfRange, for: .seconds(20)),
        ScriptedFault(at: TappedAcquisition.instant(.seconds(90)), .outOfRange, for: .seconds(40)),
    ]

    private static var lossy: FaultProbabilities {
        var faults = FaultProbabilities.none
        faults.lostNotification = 0.01
        faults.reorderedNotification = 0.01
        faults.duplicatedNotification = 0.01
        return faults
    }

    @Test("What is said is what is stored: numbers, values and times, and each row is said before it is stored")
    func isWhatIsStored() throws {
        let acquisition = try TappedAcquisition(script: Self.script, faults: Self.lossy)
        acquisition.run(.seconds(180))
        try acquisition.end()
        let witness = acquisition.witness
        let compared = try witness.compare(with: acquisition.store)
        let times = try witness.compareTimes(with: acquisition.store, of: acquisition.recording)
        #expect(witness.problems == [])
        #expect(compared > 100 * 250 && compared == witness.rowCount && compared == witness.committedCount)
        #expect(times.pieces >= 3)
        #expect(times.difference > 0, "the times were fitted anew while evidence came")
        // What was missed came from the headset's memory.
        #expect(witness.messages.contains { if case .samples(let samples) = $0.content { samples.isLate } else { false } })
    }

    @Test("A headset whose channels come in packets of their own is said as it is stored, too")
    func channelsApart() throws {
        var faults = Self.lossy
        faults.lostChannelPacket = 0.01
        let acquisition = try TappedAcquisition(
            .muse(), profile: MuseProfile(preset: "p21", variant: .unknown), script: Self.script, faults: faults)
        acquisition.run(.seconds(180))
        try acquisition.end()
        let compared = try acquisition.witness.compare(with: acquisition.store)
        #expect(acquisition.witness.problems == [])
        #expect(compared > 60 * 256)
        #expect(
            acquisition.witness.messages.contains {
                if case .samples(let samples) = $0.content { !samples.rows.missingChannels.isEmpty } else { false }
            })
    }

    @Test("Gaps, states and the clock are said, and gaps before they are stored")
    func gapsAndStates() throws {
        let acquisition = try TappedAcquisition(script: Self.script, faults: Self.lossy)
        acquisition.run(.seconds(180))
        try acquisition.end()
        var (opened, states, hasClock) = ([(Int64, GapCause)](), [String](), false)
        for message in acquisition.witness.messages {
            switch message.content {
            case .gap(let gap):
                if case .open(_, let firstN, _, _, let cause, _, _) = gap.entry { opened.append((firstN, cause)) }
            case .state(let state): states.append(state.state)
            case .clock: hasClock = true
            default: break
            }
        }
        #expect(hasClock && states.contains("streaming") && states.contains("searching"))
        let contents = try acquisition.store.reader(of: acquisition.recording).contents
        for gap in contents.streams.flatMap(\.gaps) {
            #expect(opened.contains { $0 == gap.firstN && $1 == gap.cause }, "\(gap)")
        }
        #expect(opened.contains { $1 == .linkLost } && opened.contains { $1 == .packetLost })
    }

    @Test("Nothing that is stored depends on whether somebody reads")
    func lookingChangesNothing() throws {
        let alone = try TappedAcquisition(script: Self.script, faults: Self.lossy, isRead: false)
        let read = try TappedAcquisition(script: Self.script, faults: Self.lossy)
        for acquisition in [alone, read] {
            acquisition.run(.seconds(100))
            try acquisition.end()
        }
        #expect(alone.batches == read.batches)
        #expect(alone.batches.count > 70)
        #expect(alone.witness.messages == [], "nothing is said where nobody reads")
    }

    @Test("A reader that comes later hears how things stand; where the last one has gone nothing is said")
    func laterReaders() throws {
        let acquisition = try TappedAcquisition(isRead: false)
        acquisition.run(.seconds(20))
        acquisition.join()
        let greeting = acquisition.witness.messages
        guard case .hello = greeting.first?.content else {
            Issue.record("the first message is another one")
            return
        }
        #expect(greeting.contains { if case .stream = $0.content { true } else { false } })
        #expect(greeting.contains { if case .state(let state) = $0.content { state.state == "streaming" } else { false } })
        acquisition.run(.seconds(5))
        #expect(acquisition.witness.committedCount > 0)
        acquisition.driver.handle(.readersLeft, at: acquisition.world.now)
        let count = acquisition.witness.messages.count
        acquisition.run(.seconds(5))
        #expect(acquisition.witness.messages.count == count)
    }

    @Test("Marks that people write are said once each, as stored")
    func marks() throws {
        let acquisition = try TappedAcquisition()
        try acquisition.store.control.mark(acquisition.recording, text: "before", at: acquisition.world.now)
        acquisition.run(.seconds(20))
        for text in ["eyes closed", "eyes open"] {
            try acquisition.store.control.mark(
                acquisition.recording, text: text, durationSeconds: 2, at: acquisition.world.now)
            acquisition.run(.seconds(2))
        }
        let said = acquisition.witness.messages.compactMap { message -> String? in
            guard case .mark(let mark) = message.content, mark.isStored else { return nil }
            #expect(mark.annotation.durationSeconds == 2 && mark.annotation.source == "operator")
            return mark.annotation.description
        }
        #expect(said == ["eyes closed", "eyes open"])
    }

    @Test(
        "A defect between the engine and the database is noticed by whoever compares with the tap",
        arguments: [PlantedDefect.loseRows, .shiftChannel, .fillGapsWithZeros, .shiftSegment, .stretchPeriod])
    func planted(_ defect: PlantedDefect) throws {
        let acquisition = try TappedAcquisition(script: Self.script, faults: Self.lossy, defect: defect)
        acquisition.run(.seconds(180))
        try acquisition.end()
        _ = try acquisition.witness.compare(with: acquisition.store)
        _ = try acquisition.witness.compareTimes(with: acquisition.store, of: acquisition.recording)
        #expect(acquisition.witness.problems != [])
    }

    @Test("In the storm, over kills and reboots, everything that is stored was said so", arguments: [2, 5, 9])
    func storm(_ seed: Int) throws {
        let rehearsal = try Rehearsal(.seeded(UInt64(seed)))
        let witness = TapWitness(keepsMessages: false)
        rehearsal.tapReader = { messages, _ in witness.hear(messages) }
        let report = try rehearsal.run()
        #expect(report.violations == [])
        let compared = try witness.compare(with: rehearsal.store)
        #expect(witness.problems == [])
        #expect(compared > 0)
    }
}
