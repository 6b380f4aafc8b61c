import Bluetooth
import Headsets
import Rehearsal
import Storage
import Testing

@testable import Acquisition

/// What an engine records of what its links were made with.
struct EngineProvenanceTests {
    @Test("Each link has its facts; another firmware is said, in the recording and to whoever logs")
    func firmware() throws {
        let test = try EngineUnderTest()
        var said: [String] = []
        test.driver.reported = { report, _ in
            if case .firmwareChanged(let headset, let from, let to) = report { said.append("\(headset) \(from) \(to)") }
        }
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(20), until: .streaming)
        try test.run(.seconds(3))
        test.script.change { $0.breaksLink = true }
        try test.run(.seconds(10))
        var provenance = try test.store.provenance(of: recording)
        #expect(provenance.stretches.map(\.linkCount) == [2])
        #expect(provenance.latest?.firmwareRevision == "1.0" && provenance.latest?.model == "buffered-eeg")
        #expect(said.isEmpty)

        test.script.change { ($0.firmware, $0.breaksLink) = ("1.1\u{0}rest", true) }
        try test.run(.seconds(10))
        provenance = try test.store.provenance(of: recording)
        #expect(provenance.stretches.map(\.linkCount) == [2, 1])
        #expect(provenance.stretches.map(\.facts.firmwareRevision) == ["1.0", "1.1"])
        #expect(said == ["left 1.0 1.1"])
        let contents = try test.store.reader(of: recording).contents
        #expect(contents.annotations.map(\.description) == ["Firmware changed from 1.0 to 1.1"])
        #expect(try test.store.audit().holds)
    }

    @Test("The next process knows the firmware of the last link")
    func resumed() throws {
        let test = try EngineUnderTest()
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(20), until: .streaming)
        try test.run(.seconds(3))
        #expect(try test.store.resumeState(of: recording).firmwareRevision == "1.0")
    }
}
