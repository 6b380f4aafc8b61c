import Foundation
import Glibc
import Testing

@testable import eegsync

@Suite struct PasskeyFileTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-pin-\(UUID().uuidString)")
        .path
    private var path: String { directory + "/left.pin" }

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    private func write(_ text: String, mode: mode_t = 0o600) throws {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, mode)
    }

    private func reason(_ file: PasskeyFile) -> String? {
        do throws(FileReason) {
            _ = try file.passkey()
            return nil
        } catch { return error.words }
    }

    @Test func oneLineOfDigitsIsAPasskey() throws {
        try write("# of the left headset\n004711\n")
        #expect(try PasskeyFile(path: path).passkey() == 4711)
    }

    @Test(arguments: ["", "# none\n", "1234567\n", "12 34\n", "１２３\n", "1\n2\n"])
    func anythingElseIsNone(text: String) throws {
        try write(text)
        #expect(reason(PasskeyFile(path: path)) == "it does not hold one line of 1 to 6 digits")
    }

    @Test func aFileThatOthersReadIsRefused() throws {
        try write("4711\n", mode: 0o640)
        #expect(reason(PasskeyFile(path: path))?.contains("others than its owner may read it") == true)
        #expect(reason(PasskeyFile(path: directory + "/none"))?.contains("No such file") == true)
    }

    @Test func aNameIsACredentialOfTheService() throws {
        try write("4711\n", mode: 0o440)
        #expect(try PasskeyFile(path: "left.pin", credentials: directory).passkey() == 4711)
        #expect(reason(PasskeyFile(path: "left.pin", credentials: nil))?.contains("no credentials") == true)
    }

    private func parse(_ headset: String) throws -> Configuration {
        try ConfigurationParser.parse(
            "database: /a\nheadsets: [\(headset)]\n", file: "c", models: ["thinkgear"])
    }

    @Test func theConfigurationNamesIt() throws {
        let found = try parse("{name: a, model: thinkgear, passkey_file: /etc/eegsync/left.pin}")
        #expect(found.headsets.map(\.passkeyFile) == ["/etc/eegsync/left.pin"])
        #expect(found.passkeyProblems.count == 1)
        #expect(try parse("{name: a, model: thinkgear, passkey_file: left.pin}").headsets[0].passkeyFile == "left.pin")
        for wrong in ["passkey_file: ../x", "passkey_file: a/b", "passkey: 4711, passkey_file: /x"] {
            #expect(throws: ConfigurationError.self) { try parse("{name: a, model: thinkgear, \(wrong)}") }
        }
    }
}
