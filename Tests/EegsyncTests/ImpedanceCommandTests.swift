import Bluetooth
import Foundation
import Headsets
import Storage
import Testing

@testable import eegsync

/// `eegsync impedance` without a daemon, with a simulated radio on the real clock.
@Suite struct ImpedanceCommandTests {
    private let database: RecordedDatabase
    private let configuration: String

    init() throws {
        database = try RecordedDatabase()
        configuration = try database.configure(
            """
            central: {kind: simulation, seed: 1, headsets: [{name: g, model: ganglion}, {name: m, model: muse}]}
            headsets: [{name: left, model: ganglion, montage: [Fp1, Fp2, O1, O2]}, {name: right, model: muse}]
            """)
    }

    private func impedance(_ arguments: [String]) throws -> ProgramRun {
        try ProgramRun(["impedance", "--config", configuration] + arguments)
    }

    @Test func electrodesHaveTheirNamesAndNumbers() throws {
        let run = try impedance(["left", "--seconds", "3", "--json"])
        #expect(run.exitCode == 0, "\(run.errors)")
        let electrodes = try run.json()["electrodes"] as? [[String: Any]] ?? []
        #expect(electrodes.map { $0["electrode"] as? String } == ["Fp1", "Fp2", "O1", "O2", "reference"])
        #expect(electrodes.map { $0["kilohms"] as? Double } == [7, 14, 21, 28, 35])
        #expect((try run.json()["other_reading"] as? [String: Any])?["factor"] as? Double == 0.5)
        #expect(!FileManager.default.fileExists(atPath: database.path), "it stores nothing")
    }

    @Test func whatCannotBeMeasuredIsSaid() throws {
        let none = try impedance(["right", "--seconds", "1"])
        #expect(none.exitCode == Failure.Code.unavailable.rawValue)
        #expect(none.errors.contains("a headset of model muse measures no impedances"))
        #expect(try impedance(["nobody"]).exitCode == Failure.Code.noInput.rawValue)
        #expect(try impedance(["left", "--seconds", "0"]).exitCode == Failure.Code.usage.rawValue)
    }

    @Test func theTableAlignsAndShowsTheDispute() throws {
        let measurement = try #require(GanglionProfile().impedance)
        var facts = ImpedanceFacts(headset: "left", daemonPid: nil, measurement)
        for (index, kilohms) in [9.0, 1234, 10].enumerated() {
            let electrode = index == 1 ? "reference" : "Ch1"
            let value = ImpedanceRecord(
                recording: RecordingID(rawValue: 1), at: .boot, electrode: electrode, kilohms: kilohms)
            facts.take(value, after: .seconds(index))
        }
        #expect(
            facts.lines(style: .plain) == [
                "ELECTRODE  IMPEDANCE  OPENBCI GUI   LOWEST  HIGHEST  VALUES",
                "Ch1            10 kΩ         5 kΩ     9 kΩ    10 kΩ       2",
                "reference    1234 kΩ       617 kΩ  1234 kΩ  1234 kΩ       1",
                "", "IMPEDANCE is the headset's number. The OpenBCI GUI shows it × 0.5.",
            ])
    }
}
