import Bluetooth
import Storage
import Testing

@testable import Acquisition

/// What a headset says beside samples: counted, and sampled within a bound.
struct LinkMessagesTests {
    private let now = MonotonicTime(nanoseconds: 5)
    private let later = MonotonicTime(nanoseconds: 9)
    private let headset = HeadsetID(rawValue: 1)

    @Test("What is said again is counted on its row")
    func repeated() {
        var messages = LinkMessages()
        messages.note(.message, "hello", at: now)
        #expect(messages.hasNew)
        #expect(messages.take(of: headset, linkBegan: now).map(\.count) == [1])
        #expect(!messages.hasUnwritten)
        messages.note(.message, "hello", at: later)
        messages.note(.refused, "hello", at: later)
        let taken = messages.take(of: headset, linkBegan: now)
        #expect(taken.map(\.number) == [0, 1] && taken.map(\.count) == [2, 1])
        #expect(taken[0].first == now && taken[0].last == later)
    }

    @Test("However much is said, nothing is dropped silently, and the rows are bounded")
    func bounded() {
        var messages = LinkMessages()
        for number in 0..<10_000 {
            messages.note(.message, "text \(number)", at: now)
            messages.note(.refused, "command \(number)", at: now)
            messages.noteUndecodable(3, of: [UInt8](repeating: UInt8(number % 251), count: 512), at: now)
        }
        messages.note(.message, String(repeating: "x", count: 100_000), at: now)
        let taken = messages.take(of: headset, linkBegan: now)
        #expect(taken.count == 2 * (LinkMessages.textMaximum + 1) + LinkMessages.sampleMaximum + 1)
        for kind in HeadsetMessageRecord.Kind.allCases {
            let rows = taken.filter { $0.kind == kind }
            #expect(rows.reduce(0) { $0 + $1.count } == (kind == .message ? 10_001 : 10_000))
            #expect(rows.count { $0.text == nil && $0.bytes == nil } == 1)
        }
        #expect(taken.filter { $0.kind == .undecodable }.reduce(0) { $0 + $1.byteCount } == 30_000)
        #expect(taken.allSatisfy { ($0.bytes?.count ?? 0) <= LinkMessages.sampleLength })
    }
}
