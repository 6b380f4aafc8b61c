import Testing

@testable import Storage
@testable import eegsync

/// How `eegsync gaps` lists the ledger.
@Suite struct GapsTests {
    private func gap(_ stream: String, at firstN: Int64, _ cause: String, count: Int64? = 1) -> GapSummary {
        GapSummary(
            stream: stream, bank: 0, firstN: firstN, count: count, channel: 0, cause: cause, meaning: "as it says",
            recovered: 0, durationSeconds: count.map { Double($0) / 200 }, missing: count,
            certainty: count == nil ? "unknown" : "counted")
    }

    @Test func whatAHeadsetNeverSendsIsOneLineForAsLongAsNothingElseIsMissing() {
        let facts = GapsFacts(
            recording: 1,
            gaps: [
                gap("eeg", at: 200, "notSent"), gap("eeg", at: 401, "notSent"), gap("eeg", at: 602, "notSent"),
                gap("eeg", at: 700, "linkLost", count: 30), gap("eeg", at: 740, "linkLost", count: 5),
                gap("eeg", at: 1000, "notSent"), gap("eeg", at: 1201, "notSent", count: nil),
            ])
        let lines = facts.lines(style: .plain)
        let rows = lines.dropFirst().prefix { !$0.isEmpty }
        #expect(rows.count == 5, "\(lines)")
        #expect(rows.first?.contains("notSent, 3 times") == true && rows.first?.contains("  3  ") == true, "\(lines)")
        #expect(rows.count { $0.hasSuffix("linkLost") } == 2)
        #expect(rows.last?.contains("still open") == true)
        #expect(lines.contains { $0.hasPrefix("7 gaps, ") }, "\(lines)")
    }
}
