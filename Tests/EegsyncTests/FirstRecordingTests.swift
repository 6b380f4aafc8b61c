import Foundation
import Testing

@testable import eegsync

/// The page FirstRecording: the symptoms that it explains are the program's own words. Its commands are run by
/// `Tests/Readme/check`.
@Suite struct FirstRecordingTests {
    private static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: top.appendingPathComponent(path), encoding: .utf8)
    }

    /// The first cells of the table below a heading, without their backticks.
    private static func symptoms(_ page: String) -> [String] {
        let section = page.components(separatedBy: "\n## It does not reconnect\n").last ?? ""
        return section.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
            String($0.dropFirst(3).prefix { $0 != "`" })
        }
    }

    private static func program() throws -> String {
        let sources = top.appendingPathComponent("Sources/eegsync")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        var text = ""
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "swift" { text += try String(contentsOf: file, encoding: .utf8) }
        }
        return text
    }

    @Test func eachSymptomIsSaidByTheProgram() throws {
        let symptoms = Self.symptoms(try Self.file("Sources/eegsync/eegsync.docc/FirstRecording.md"))
        #expect(symptoms.count >= 15)
        let program = try Self.program()
        for symptom in symptoms { #expect(program.contains(symptom), "nobody says: \(symptom)") }
        // The comparison bites.
        #expect(!program.contains("is nowhere to be " + "found"))
    }

    @Test func theUnitLooksWhereTheProgramDoes() throws {
        let unit = try Self.file("Deploy/eegsync-provision.service")
        for path in ProvisionedFile.usualPaths { #expect(unit.contains("\nConditionPathExists=|\(path)\n")) }
        #expect(unit.contains("\nExecStart=/usr/local/bin/eegsync configuration provision\n"))
        #expect(unit.contains("\nBefore=eegsync.service ") && !unit.contains("RequiredBy"))
        // Where it may write is where the program writes.
        #expect(unit.contains("\nReadWritePaths=-/boot /etc/eegsync\n"))
        #expect(Configuration.defaultPath.hasPrefix("/etc/eegsync/"))
    }
}
