import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// Random links, losses, restarts and commits, against what a reader of the database may expect.
struct StreamPropertyTests {
    @Test(
        "Whatever happens, what was delivered and committed is stored once at its place, and the rest is ledgered",
        arguments: HeadsetUnderTest.Kind.allCases, Array(UInt64(1)...15))
    func anything(kind: HeadsetUnderTest.Kind, seed: UInt64) {
        var headset = HeadsetUnderTest(kind: kind, seed: seed)
        for step in 0..<400 {
            headset.step()
            let problems = headset.test.database.problems
            guard problems.isEmpty else {
                Issue.record("\(kind), seed \(seed), step \(step): \(problems[0])")
                return
            }
        }
        headset.disconnect()
        headset.commit()
        let problems = headset.problems()
        #expect(problems.isEmpty, "\(kind), seed \(seed): \(problems.prefix(3))")
    }

    @Test("Once the link holds, everything that the memory still has is read", arguments: UInt64(1)...15)
    func liveness(seed: UInt64) {
        var headset = HeadsetUnderTest(kind: .buffered, seed: seed)
        for _ in 0..<400 { headset.step() }
        headset.test.hasRoom = true
        headset.connect()
        for _ in 0..<4 { headset.packet() }
        var reads = 0
        while headset.readMemory(blocks: 4), reads < 1000 { reads += 1 }
        headset.commit()
        #expect(reads < 1000)
        #expect(headset.test.stream.settledN == headset.test.stream.nextN)
        #expect(headset.problems().isEmpty)
    }

    @Test("The expectations bite: a stream that loses, shifts or repeats a row is found out", arguments: 0..<4)
    func bites(defect: Int) {
        var headset = HeadsetUnderTest(kind: .buffered, seed: 3)
        headset.connect()
        for _ in 0..<50 { headset.packet() }
        headset.commit()
        #expect(headset.problems().isEmpty)
        switch defect {
        case 0: headset.test.restart()
        case 1:
            headset.test.plantedDefect = { batch in
                batch.samples.append(
                    SampleRows(stream: StreamID(rawValue: 1), channelCount: 2, firstN: 0, values: [8, 9]))
            }
        case 2: headset.test.take(index: nil, truth: 1)
        default:
            headset.test.plantedDefect = { batch in
                batch.changes.append(
                    .ledger(
                        .open(
                            stream: StreamID(rawValue: 1), firstN: 5, channel: 0, count: 2, cause: .silence,
                            noticed: .boot)))
            }
        }
        for _ in 0..<50 { headset.packet() }
        headset.commit()
        #expect(!headset.problems().isEmpty)
    }
}
