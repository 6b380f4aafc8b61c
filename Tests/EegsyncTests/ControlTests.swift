import ArgumentParser
import Foundation
import Glibc
import Testing

@testable import eegsync

/// What the control service is asked, by whom, and what it does for them. `Tests/Package/rights` has the users and the socket.
@Suite struct ControlTests {
    private func request(_ arguments: [String], environment: [String: String] = [:]) -> ControlRequest {
        ControlRequest(arguments: arguments, environment: environment, database: "/d", hasFile: false)
    }

    @Test(arguments: [
        (["mark", "x", "--database", "/d"], ["mark", "x"]),
        (["mark", "--config=/c", "x", "--json"], ["mark", "x", "--json"]),
        (["--config", "/c", "mark", "x", "--database"], ["mark", "x"]),
        (["mark", "--", "--database", "/d"], ["mark", "--", "--database", "/d"]),
    ]) func theDatabaseIsLeftToTheService(given: [String], asked: [String]) {
        #expect(request(given).arguments == asked)
    }

    @Test func nothingOfTheEnvironmentIsPassedOnThatALibraryWouldOpen() {
        let environment = [
            "TERM": "xterm", "TZ": "Europe/Berlin", "LANG": "/tmp/evil", "LD_PRELOAD": "/tmp/x.so", "HOME": "/root",
            "COLUMNS": "80", "LC_ALL": "../../x", "EEGSYNC_DATABASE": "/other",
        ]
        let kept = request(["mark", "x"], environment: environment)
        #expect(kept.environment == ["TERM": "xterm", "TZ": "Europe/Berlin", "COLUMNS": "80"])
        #expect(kept.problem == nil)
    }

    /// Requests that somebody has written without this program.
    @Test(arguments: [
        (["LD_PRELOAD": "x"], "it sets LD_PRELOAD"), (["TZ": "/etc/shadow"], "the value of TZ"),
        (["TZ": ":x"], "the value of TZ"),
        (["EEGSYNC_CONTROL_FILE": "0"], "it sets EEGSYNC_CONTROL_FILE"),
    ]) func aRequestThatSaysMoreIsRefused(environment: [String: String], reason: String) {
        var forged = request(["mark", "x"])
        forged.environment = environment
        #expect(forged.problem?.contains(reason) == true)
    }

    @Test func argumentsHaveBounds() {
        #expect(request(["mark", "a\0b"]).problem?.contains("zero byte") == true)
        #expect(request(Array(repeating: "x", count: 257)).problem == "it has 257 arguments")
    }

    @Test func rightsAreThoseOfGroups() {
        let numbers: [String: gid_t] = ["eegsync-record": 7, "eegsync-admin": 8]
        func may(_ right: ControlRight, _ groups: [gid_t], user: uid_t = 1000) -> Bool {
            right.isHeld(user: user, groups: groups, owner: 99) { numbers[$0] }
        }
        #expect(!may(.record, []) && !may(.record, [6]) && may(.record, [6, 7]) && may(.record, [8]))
        #expect(!may(.administer, [7]) && may(.administer, [7, 8]))
        for right in ControlRight.allCases {
            #expect(may(right, [], user: 0) && may(right, [], user: 99))
            // A machine without the groups gives nobody anything.
            #expect(!right.isHeld(user: 1000, groups: [0, 7, 8], owner: 99) { _ in nil })
            #expect(right.refusal().code == .noPermission && right.refusal().remedy.contains(right.group))
        }
    }

    /// The boundary of rights: what is run for others. A new name here is a decision.
    @Test(
        arguments: [
            (["record", "start", "left"], ControlRight.record), (["record", "stop", "left"], .record), (["pause"], .record),
            (["resume"], .record), (["mark", "x"], .record), (["marks", "edit", "1", "--text", "x"], .record),
            (["marks", "delete", "1"], .record), (["marks", "import", "1", "x.csv"], .record),
            (["recordings", "edit", "1", "--label", "x"], .record),
            (["headsets", "adopt", "left", "C0:EE:60:00:02:01"], .record),
            (["headsets", "rename", "a", "b"], .administer), (["refit"], .administer),
        ] as [([String], ControlRight)])
    func commandsThatWriteAreRun(arguments: [String], right: ControlRight) throws {
        let command = try #require(try Eegsync.parseAsRoot(arguments) as? any ControlledCommand)
        #expect(type(of: command).right == right)
        #expect(command.isWriting)
    }

    @Test(arguments: [
        ["run"], ["export", "1", "-o", "/etc/x.edf"], ["demo"], ["downgrade"], ["manifest", "1", "-o", "/x"], ["status"],
        ["alerts", "run"], ["control"], ["replay", "/etc/shadow", "--model", "muse"],
    ]) func noOtherCommandIs(arguments: [String]) throws {
        #expect(try !(Eegsync.parseAsRoot(arguments) is any ControlledCommand))
    }

    @Test func aDryRunOnlyReads() throws {
        let command = try #require(try Eegsync.parseAsRoot(["refit", "--dry-run"]) as? any ControlledCommand)
        #expect(!command.isWriting)
    }

    /// What is no request gets an answer, and nothing is run; whoever sends it.
    @Test(arguments: ["", "\n", "{}\n", "GET / HTTP/1.1\r\n\r\n", String(repeating: "x", count: 70_000) + "\n"])
    func nonsenseIsNoRequest(text: String) throws {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { send(pair[0], $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
        shutdown(pair[0], Int32(SHUT_WR))
        #expect(ControlService(socket: pair[1]).run() == Failure.Code.usage.rawValue)
        for descriptor in pair { close(descriptor) }
    }
}
