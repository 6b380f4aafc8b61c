import Bluetooth
import Foundation
import Testing

@testable import Alerts
@testable import eegsync

/// The file that memory is kept in.
@Suite struct AlertMemoryFileTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)")

    private func file() throws -> AlertMemoryFile {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return AlertMemoryFile(directory: directory.path)
    }

    @Test func itIsReadBackAsItWasAndBelongsToItsOwner() throws {
        let file = try file()
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(try file.load() == nil)
        let now = AlertInstant(time: .boot, unixNanoseconds: 5)
        var memory = AlertMemory(origin: "a", boot: "b", at: now)
        memory.arrange(for: ["phone"])
        memory.queues[0].add(.test(id: "x", machine: "pi", at: now))
        try file.keep(memory)
        #expect(try file.load() == memory)
        let mode = try FileManager.default.attributesOfItem(atPath: directory.path + "/alerts.json")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["alerts.json"])
    }

    @Test func aDamagedFileIsNamed() throws {
        let file = try file()
        defer { try? FileManager.default.removeItem(at: directory) }
        var memory = AlertMemory(origin: "a", boot: "b", at: AlertInstant(time: .boot, unixNanoseconds: 5))
        memory.version = 2
        let newer = String(decoding: try JSONEncoder().encode(memory), as: UTF8.self)
        for text in ["", "{", "{\"version\": 1}", "[1]", newer] {
            try Data(text.utf8).write(to: directory.appendingPathComponent("alerts.json"))
            #expect(throws: FileReason.self) { try file.load() }
        }
    }

    @Test func oneProcessHasTheDirectory() throws {
        let file = try file()
        defer { try? FileManager.default.removeItem(at: directory) }
        let lock = try file.lock()
        #expect { try file.lock() } throws: { ($0 as? Failure)?.code == .temporary }
        try lock.close()
        try file.lock().close()
    }

    @Test func theServiceManagerSaysWhereItIs() {
        let environment = ["STATE_DIRECTORY": "/var/lib/private/eegsync-alerts"]
        #expect(AlertMemoryFile(directory: nil, environment: environment).directory == "/var/lib/private/eegsync-alerts")
        #expect(AlertMemoryFile(directory: nil, environment: [:]).directory == "/var/lib/eegsync-alerts")
        #expect(AlertMemoryFile(directory: "/x", environment: environment).directory == "/x")
    }
}
