import Bluetooth
import Foundation
import Storage
import Testing

@testable import eegsync

/// `Deploy/eegsync.service` against the program that it runs.
@Suite struct UnitTests {
    private static func file(_ path: String) throws -> String {
        let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: top.appendingPathComponent(path), encoding: .utf8)
    }

    /// The codes of the unit's text after which systemd does not start it again.
    private static func preventingCodes(_ unit: String) -> [Int32] {
        let lines = unit.split(separator: "\n").filter { $0.hasPrefix("RestartPreventExitStatus=") }
        return lines.flatMap { $0.drop { $0 != "=" }.dropFirst().split(separator: " ").compactMap { Int32($0) } }
    }

    private static let lasting = Failure.Code.allCases.filter(\.lasts).map(\.rawValue).sorted()

    @Test func itIsStartedAgainUnlessOnlyAPersonCanMendTheCause() throws {
        let unit = try Self.file("Deploy/eegsync.service")
        #expect(unit.contains("\nRestart=always\n"))
        #expect(Self.preventingCodes(unit) == Self.lasting)
        // The comparison bites.
        let without = unit.replacingOccurrences(of: "=64 ", with: "=")
        #expect(Self.preventingCodes(without) == Self.lasting.filter { $0 != 64 })
    }

    @Test func theServiceThatNotifiesPeopleCanDoNothingToTheRecording() throws {
        let unit = try Self.file("Deploy/eegsync-alerts.service")
        #expect(Self.preventingCodes(unit) == Self.lasting)
        for line in [
            "ExecStart=/usr/local/bin/eegsync alerts run", "User=eegsync-alerts", "SupplementaryGroups=eegsync",
            "ProtectSystem=strict", "StateDirectory=eegsync-alerts", "CapabilityBoundingSet=", "AmbientCapabilities=",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
        ] { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        #expect(!unit.contains("ReadWritePaths") && !unit.contains("AF_BLUETOOTH"))
        // The network is allowed there, and only there.
        #expect(try Self.file("Deploy/eegsync.service").contains("\nIPAddressDeny=any\n"))
    }

    @Test func theServiceThatShipsHasTheNetworkAndNothingElse() throws {
        let unit = try Self.file("Deploy/eegsync-ship.service")
        #expect(Self.preventingCodes(unit) == Self.lasting)
        for line in [
            "ExecStart=/usr/local/bin/eegsync ship", "User=eegsync", "Restart=always", "ProtectSystem=strict",
            "ProtectHome=yes",
            "ReadWritePaths=/var/lib/eegsync", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "AmbientCapabilities=",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "PrivateDevices=yes",
        ] { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        #expect(unit.contains("PGPASSFILE=/etc/eegsync/ship/pgpass") && !unit.contains("PGPASSWORD"))
        #expect(!unit.contains("AF_BLUETOOTH") && !unit.contains("CAP_"))
    }

    @Test func theServiceForPhonesHasNoMoreRightsThanItNeeds() throws {
        let unit = try Self.file("Deploy/eegsync-companion.service")
        #expect(Self.preventingCodes(unit) == Self.lasting)
        for line in [
            "ExecStart=/usr/local/bin/eegsync companion run", "User=eegsync-companion",
            "SupplementaryGroups=eegsync eegsync-record", "ProtectSystem=strict", "StateDirectory=eegsync-companion",
            "PrivateNetwork=yes", "CapabilityBoundingSet=", "AmbientCapabilities=", "RestrictAddressFamilies=AF_UNIX",
        ] { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        #expect(!unit.contains("ReadWritePaths") && !unit.contains("AF_BLUETOOTH"))
    }

    @Test func theServiceThatServesThePageCanDoNothingToTheRecording() throws {
        let unit = try Self.file("Deploy/eegsync-serve.service")
        #expect(Self.preventingCodes(unit) == Self.lasting)
        for line in [
            "ExecStart=/usr/local/bin/eegsync serve", "User=eegsync-serve", "SupplementaryGroups=eegsync",
            "ProtectSystem=strict", "CacheDirectory=eegsync-serve", "CapabilityBoundingSet=", "AmbientCapabilities=",
            "RestrictAddressFamilies=AF_UNIX AF_INET", "IPAddressDeny=any", "IPAddressAllow=localhost",
        ] { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        #expect(!unit.contains("ReadWritePaths") && !unit.contains("AF_BLUETOOTH") && !unit.contains("StateDirectory"))
    }

    @Test func theServiceOfFiguresReadsAndIsReachedByThisMachineAlone() throws {
        let unit = try Self.file("Deploy/eegsync-metrics.service")
        #expect(Self.preventingCodes(unit) == Self.lasting)
        for line in [
            "ExecStart=/usr/local/bin/eegsync metrics --listen 127.0.0.1:9580", "DynamicUser=yes",
            "SupplementaryGroups=eegsync", "ProtectSystem=strict", "CapabilityBoundingSet=", "AmbientCapabilities=",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6", "IPAddressDeny=any", "IPAddressAllow=localhost",
        ] { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        for right in ["ReadWritePaths", "StateDirectory", "AF_BLUETOOTH", "CAP_"] { #expect(!unit.contains("\n\(right)")) }
        // It is in the package and in the installation.
        #expect(try Self.file("Deploy/layout").contains(" eegsync-metrics.service "))
    }

    @Test func theServiceOfLabStreamingLayerReadsAndMarks() throws {
        let unit = try Self.file("Deploy/eegsync-lsl.service")
        // A library that is missing comes no sooner when it is looked for each second.
        #expect(Self.preventingCodes(unit) == (Self.lasting + [Failure.Code.unavailable.rawValue]).sorted())
        for line in [
            "ExecStart=/usr/local/bin/eegsync lsl", "DynamicUser=yes", "SupplementaryGroups=eegsync eegsync-record",
            "ProtectSystem=strict", "CapabilityBoundingSet=", "AmbientCapabilities=",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
        ] { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        for right in ["ReadWritePaths", "StateDirectory", "AF_BLUETOOTH", "CAP_"] { #expect(!unit.contains("\n\(right)")) }
        #expect(try Self.file("Deploy/layout").contains(" eegsync-lsl.service "))
    }

    @Test func theServiceOfMarkersOnlyMarks() throws {
        let unit = try Self.file("Deploy/eegsync-markers.service")
        #expect(Self.preventingCodes(unit) == Self.lasting)
        for line in [
            "ExecStart=/usr/local/bin/eegsync markers", "DynamicUser=yes", "Group=eegsync-record",
            "RuntimeDirectory=eegsync-markers", "ProtectSystem=strict", "CapabilityBoundingSet=", "AmbientCapabilities=",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
        ] { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        for right in ["ReadWritePaths", "StateDirectory", "AF_BLUETOOTH", "CAP_"] { #expect(!unit.contains("\n\(right)")) }
        #expect(try Self.file("Deploy/layout").contains(" eegsync-markers.service "))
    }

    @Test func theDocumentationNamesTheSameCodes() throws {
        let codes = Self.lasting.map(String.init)
        let list = codes.dropLast().joined(separator: ", ") + " and " + (codes.last ?? "")
        #expect(try Self.file("Sources/eegsync/eegsync.docc/Errors.md").contains("every exit but \(list),"))
        let daemon = try Self.file("Sources/eegsync/eegsync.docc/RunningTheDaemon.md")
        let paragraph = try #require(
            daemon.components(separatedBy: "\n\n").first { $0.hasPrefix("The unit does not restart after") }
        ).replacingOccurrences(of: "\n", with: " ")
        for code in codes { #expect(paragraph.contains("\(code) "), "\(code) is not named") }
    }

    /// What ends the daemon and waits for a person must not be tried ten times a second. Another process that holds the
    /// database goes away without a person, and a file that cannot be opened may be one for want of descriptors.
    @Test(arguments: [
        StorageError.cannotOpen(path: "/a", reason: "r"), .newerSchema(path: "/a", unknownMigrations: ["m9"]),
        .corrupt(path: "/a", detail: "d"), .readOnly(detail: "d"), .inUse(path: "/a", pid: 7), .busy(detail: "d"),
        .diskFull(detail: "d"), .constraint(detail: "d"), .sqlite(code: 10, detail: "d"),
    ])
    func errorsOfTheDatabaseThatLastAreNotTriedAgain(error: StorageError) {
        let waits: Bool
        switch error {
        case .inUse, .cannotOpen: waits = false
        // While it runs the daemon waits for a disk that is read-only; at its start only a person helps.
        case .readOnly: waits = true
        default: waits = error.disposition == .waitForOperator
        }
        #expect(Failure(error).code.lasts == waits)
    }

    @Test func theProgramExitsWithTheseCodes() throws {
        let directory = try RecordedDatabase()
        let wrong = directory.directory.appendingPathComponent("wrong.yaml").path
        try "database: relative".write(toFile: wrong, atomically: true, encoding: .utf8)
        for (arguments, code) in [(["run", "--fly"], Int32(64)), (["run", "--config", wrong], 78)] {
            #expect(try ProgramRun(arguments).exitCode == code)
            #expect(Self.lasting.contains(code))
        }
    }

    /// What the unit runs after each end of the process, as sh(1) gets it.
    private static func afterEnd() throws -> [String] {
        let unit = try file("Deploy/eegsync.service").replacingOccurrences(of: "\\\n", with: "")
        return unit.split(separator: "\n").filter { $0.hasPrefix("ExecStopPost=-/bin/sh -c '") }.map { line in
            String(line.dropFirst("ExecStopPost=-/bin/sh -c '".count).dropLast()).replacingOccurrences(of: "$$", with: "$")
        }
    }

    /// Runs that after an end; returns whether the next start would wait.
    private func waits(after result: String, in directory: TestDirectory) throws -> Bool {
        try? FileManager.default.removeItem(atPath: directory.path("slept"))
        for script in try Self.afterEnd() {
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            // No test sleeps.
            shell.arguments = ["-c", "sleep() { touch slept; }; " + script]
            shell.environment = [
                "RUNTIME_DIRECTORY": directory.url.path, "SERVICE_RESULT": result, "EXIT_CODE": "killed", "EXIT_STATUS": "SEGV",
                "PATH": "/usr/bin:/bin",
            ]
            shell.standardError = FileHandle.nullDevice
            try shell.run()
            shell.waitUntilExit()
        }
        #expect(directory.text("last-end") == "\(result) killed SEGV\n")
        return FileManager.default.fileExists(atPath: directory.path("slept"))
    }

    @Test func processesThatDieBeforeTheyCanCountAreCountedByTheUnit() throws {
        let directory = try TestDirectory()
        #expect(try (0..<5).map { _ in try waits(after: "core-dump", in: directory) } == [false, false, true, true, true])
        // One that comes as far as to count its start.
        PreviousEnd.noteCounted(environment: ["RUNTIME_DIRECTORY": directory.url.path])
        #expect(try waits(after: "core-dump", in: directory) == false)
        for _ in 0..<3 { _ = try waits(after: "exit-code", in: directory) }
        // A person ends it in order.
        #expect(try waits(after: "success", in: directory) == false)
        #expect(try waits(after: "core-dump", in: directory) == false)
    }
}
