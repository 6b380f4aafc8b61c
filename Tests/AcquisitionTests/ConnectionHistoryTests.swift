import Bluetooth
import Headsets
import Storage
import Testing

@testable import Acquisition

/// What repeats is counted; what tells of a return is not.
struct ConnectionHistoryTests {
    private static let headset = HeadsetID(rawValue: 1)

    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private static func attempt(_ outcome: String, at seconds: Int64, detail: String? = nil) -> ConnectionAttemptRecord {
        ConnectionAttemptRecord(
            headset: headset, layer: "scan", identifier: nil, began: time(seconds), ended: time(seconds), outcome: outcome,
            cause: nil, detail: detail)
    }

    private static func event(_ state: String, at seconds: Int64) -> ConnectionEventRecord {
        ConnectionEventRecord(headset: headset, at: time(seconds), state: state)
    }

    @Test("A hundred thousand attempts in vain are one row, which is written once a minute")
    func attempts() throws {
        var history = ConnectionHistory()
        var written: [Change] = []
        for number in 0..<100_000 {
            let now = Int64(number)
            written += history.ended(Self.attempt("nothingFound", at: now), isReturn: false)
            written += history.takeDue(at: Self.time(now))
        }
        #expect(written.count <= 2 + 100_000 / 60)
        #expect(written.first == .connectionAttempt(Self.attempt("nothingFound", at: 0)))
        for change in written.dropFirst() {
            guard case .connectionAttempt(let attempt) = change, let repetition = attempt.repetition else {
                Issue.record("\(change) is a row of its own")
                return
            }
            // The row that is counted on is the first, and each count is what had happened by then.
            #expect(attempt.began == Self.time(0) && Self.time(Int64(repetition.count - 1)) == repetition.last)
        }
    }

    @Test("What is told before a return is written with it, and the same begins anew afterwards")
    func returns() {
        var history = ConnectionHistory()
        _ = history.ended(Self.attempt("silent", at: 1), isReturn: false)
        #expect(history.ended(Self.attempt("silent", at: 2), isReturn: false).isEmpty)
        #expect(history.deadline == Self.time(62))
        let success = Self.attempt("streaming", at: 3)
        #expect(history.ended(success, isReturn: true) == [.connectionAttempt(success)])
        #expect(history.ended(success, isReturn: true) == [.connectionAttempt(success)], "no return is counted on another")
        var counted = Self.attempt("silent", at: 1)
        counted.repetition = Repetition(count: 2, last: Self.time(2))
        let streaming = Self.event("streaming", at: 3)
        #expect(
            history.entered(streaming, isReturn: true) == [.connectionAttempt(counted), .connectionEvent(streaming)])
        #expect(history.deadline == nil)
        #expect(history.ended(Self.attempt("silent", at: 9), isReturn: false).count == 1)
    }

    @Test("Each return to streaming is a row, however many there are; a state that comes and goes without one is counted")
    func states() {
        var history = ConnectionHistory()
        var rows = 0
        for number in 0..<1000 {
            rows += history.entered(Self.event("streaming", at: Int64(number)), isReturn: true).count
            rows += history.entered(Self.event("searching", at: Int64(number)), isReturn: false).count
        }
        #expect(rows == 2000)
        rows = 0
        for number in 0..<1000 {
            rows += history.entered(Self.event("searching", at: Int64(number)), isReturn: false).count
            rows += history.entered(Self.event("establishing", at: Int64(number)), isReturn: false).count
        }
        // The first `searching` of them follows the last return above.
        #expect(rows == 2 * ConnectionHistory.eventRows - 1)
    }

    @Test("Other people's headsets, whose addresses change for ever, take a bounded number of rows")
    func kinds() {
        var history = ConnectionHistory()
        let rows = (0..<10_000).reduce(0) { sum, number in
            sum + history.ended(Self.attempt("otherHeadset", at: Int64(number), detail: "\(number)"), isReturn: false).count
        }
        #expect(rows == ConnectionHistory.kindLimit + 1)
    }
}

/// How long a return took, as far as it can be known.
struct ReturnTimingTests {
    private static func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    private static func lost() -> ReturnTiming {
        var timing = ReturnTiming(cause: nil, began: time(1))
        timing.noteLoss(.linkLost, lastSample: time(100), at: time(102))
        return timing
    }

    private static func record(_ timing: ReturnTiming, at seconds: Double) -> StreamingReturnRecord {
        timing.record(
            HeadsetID(rawValue: 1), RecordingID(rawValue: 1), layer: "scan", firstSample: time(seconds))
    }

    @Test("A headset that is heard all the time and comes late was in reach since it was heard first")
    func late() {
        var timing = Self.lost()
        for second in stride(from: 110.0, through: 129, by: 5) { timing.noteSign(at: Self.time(second)) }
        timing.notePrepared(at: Self.time(130))
        let record = Self.record(timing, at: 131)
        #expect(record.firstSample - record.heard == .seconds(21) && record.firstSample - record.able == .seconds(31))
        #expect(record.cause == .linkLost && record.lost == Self.time(102))
    }

    @Test("One that was heard once, and again after a long silence, was away in between")
    func away() {
        var timing = Self.lost()
        timing.noteSign(at: Self.time(103))
        timing.noteSign(at: Self.time(200))
        timing.notePrepared(at: Self.time(201))
        #expect(Self.record(timing, at: 202).heard == Self.time(200))
    }

    @Test("A link to an address that nobody knew counts once it is the headset's")
    func unknownAddress() {
        var timing = Self.lost()
        timing.noteLink(isUp: true, isKnown: false, at: Self.time(110))
        timing.noteLink(isUp: false, isKnown: false, at: Self.time(112))
        timing.noteLink(isUp: true, isKnown: false, at: Self.time(150))
        timing.noteLink(isUp: true, isKnown: false, at: Self.time(151))
        timing.notePrepared(at: Self.time(152))
        #expect(Self.record(timing, at: 153).heard == Self.time(150))
    }

    @Test("Without an adapter nobody is in reach, and nothing can be had")
    func adapter() {
        var timing = Self.lost()
        timing.noteSign(at: Self.time(103))
        timing.noteAdapter(isOn: false, at: Self.time(104))
        timing.noteAdapter(isOn: true, at: Self.time(160))
        timing.noteLink(isUp: true, isKnown: true, at: Self.time(161))
        timing.notePrepared(at: Self.time(162))
        let record = Self.record(timing, at: 163)
        #expect(record.able == Self.time(160) && record.heard == Self.time(161))
    }
}
