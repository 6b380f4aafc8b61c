import Foundation
import Testing

@testable import eegsync

/// The built program, with a simulated radio and a file of answers.
@Suite struct SetupCommandTests {
    private static let text = """
        # mine
        central:
          kind: simulation
          seed: 3
          headsets: [{name: a, model: buffered-eeg, serial: "SIM-0001"}, {name: b, model: buffered-eeg}]
        headsets:
          - name: example
            model: muse

        """

    private func setUp(_ database: RecordedDatabase, _ answers: String, _ more: String...) throws -> ProgramRun {
        let file = database.directory.appendingPathComponent("answers.yaml").path
        try answers.write(toFile: file, atomically: true, encoding: .utf8)
        let configuration = database.directory.appendingPathComponent("eegsync.yaml").path
        return try ProgramRun(
            ["setup", "--config", configuration, "--answers", file, "--seconds", "2", "--test-seconds", "2"] + more)
    }

    @Test func answersLeadToAConfigurationThatNamesAndBinds() throws {
        let database = try RecordedDatabase()
        let file = try database.configure(Self.text)
        let before = try String(contentsOfFile: file, encoding: .utf8)
        let answers = "headsets: [{name: bed-1, advertises: a}]\n"
        let refused = try setUp(database, answers)
        #expect(refused.exitCode == 73, "\(refused.errors)")
        #expect(refused.errors.contains("+   - name: \"bed-1\"") && refused.errors.contains("-   - name: example"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        let run = try setUp(database, answers + "change_configuration: true\n", "--json")
        #expect(run.exitCode == 0, "\(run.errors)")
        let json = try run.json()
        let headset = try #require((json["headsets"] as? [[String: Any]])?.first)
        #expect(headset["serial_number"] as? String == "SIM-0001" && headset["name"] as? String == "bed-1")
        let test = try #require((json["tests"] as? [[String: Any]])?.first)
        let stream = try #require((test["streams"] as? [[String: Any]])?.first)
        #expect((stream["samples"] as? Int ?? 0) > 400 && stream["missing"] as? Int == 0, "\(test)")
        let written = try ConfigurationFile.load(path: file)
        #expect(written.headsets.map(\.name) == ["bed-1"] && written.headsets.first?.serialNumber == "SIM-0001")
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("# mine"))
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o640)
        // Nothing that was tested is stored.
        #expect(!FileManager.default.fileExists(atPath: database.path))
    }

    /// An address that changes is not written, and then the serial number alone says which one a name is.
    @Test func aHeadsetThatOnlyItsSerialNumberNamesKeepsItsName() throws {
        let database = try RecordedDatabase()
        let text = Self.text.replacingOccurrences(
            of: "- name: example\n    model: muse", with: "- name: bed-1\n    model: buffered-eeg\n    serial: SIM-0001")
        let file = try database.configure(text)
        let refused = try setUp(database, "headsets: [{name: bed-1, advertises: b}]\nchange_configuration: true\n")
        #expect(refused.exitCode == 65, "\(refused.errors)")
        #expect(refused.errors.contains("'bed-1' has the serial number SIM-0001"), "\(refused.errors)")
        let run = try setUp(database, "headsets: [{name: bed-1, advertises: a}]\nchange_configuration: true\n")
        #expect(run.exitCode == 0, "\(run.errors)")
        let written = try ConfigurationFile.load(path: file)
        #expect(written.headsets.map(\.name) == ["bed-1"] && written.headsets.first?.serialNumber == "SIM-0001")
    }

    @Test func answersThatDoNotFitChangeNothing() throws {
        let database = try RecordedDatabase()
        let file = try database.configure(Self.text)
        let before = try String(contentsOfFile: file, encoding: .utf8)
        for (answers, code, words) in [
            ("headsets: [{name: x, model: cyton}]", 69, "is not in range"),
            ("headsets: [{name: x, model: buffered-eeg}]", 69, "any of 2"),
            ("headsets: [{nam: x}]", 65, "did you mean 'name'"), ("headsets: []", 65, "no headset is named"),
        ] {
            let run = try setUp(database, answers)
            #expect(run.exitCode == Int32(code) && run.errors.contains(words), "\(answers): \(run.errors)")
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
        #expect(try ProgramRun(["setup", "--config", file]).exitCode == 64)
    }
}
