import Foundation
import Testing

@testable import Reconnection

/// Every state x every event once: the table in the documentation is what the machine does.
struct StateTableTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/eegsync/eegsync.docc/ReconnectionPipeline.md")
    private static let beginMark = "<!-- state table begin -->"
    private static let endMark = "<!-- state table end -->"

    /// A list by state; events that change nothing are left out.
    static func table() -> String {
        var lines = ["| state | event | next state |", "|---|---|---|"]
        for state in MachineUnderTest.stateNames {
            let start = MachineUnderTest.inState(state)
            for (name, event) in start.everyEvent {
                var test = start
                if case .deadlineReached = event { test.reachDeadline() } else { test.fire(event) }
                let next = test.machine.state.name
                if next != state { lines.append("| `\(state)` | \(name) | `\(next)` |") }
            }
        }
        return lines.joined(separator: "\n")
    }

    @Test("The table in the documentation is the machine's")
    func documentedTable() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let begin = try #require(text.range(of: Self.beginMark))
        let end = try #require(text.range(of: Self.endMark))
        let documented = text[begin.upperBound..<end.lowerBound].trimmingCharacters(in: .whitespacesAndNewlines)
        let table = Self.table()
        if ProcessInfo.processInfo.environment["EEGSYNC_WRITE_DOCUMENTATION"] == "1" {
            let updated = text[..<begin.upperBound] + "\n" + table + "\n" + text[end.lowerBound...]
            try String(updated).write(to: Self.page, atomically: true, encoding: .utf8)
            return
        }
        #expect(
            documented == table,
            "The page is stale: run the tests once with EEGSYNC_WRITE_DOCUMENTATION=1 and look at the difference.")
    }

    @Test("Every state is reached, and every state can be left but for a stop")
    func everyState() {
        for state in MachineUnderTest.stateNames {
            #expect(MachineUnderTest.inState(state).machine.state.name == state)
            #expect(Self.table().contains("| `\(state)` |"))
        }
    }
}
