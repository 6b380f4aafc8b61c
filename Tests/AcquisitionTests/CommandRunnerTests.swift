import Bluetooth
import Headsets
import Testing

@testable import Acquisition

/// Sequences of commands.
struct CommandRunnerTests {
    private static let control = BluetoothUUID(UInt16(0x1234))
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test("Each step waits for the one before: an answer, a pause, nothing")
    func sequence() {
        var runner = CommandRunner(
            steps: [
                .write([1], to: Self.control, type: .withoutResponse), .write([2], to: Self.control, type: .withResponse),
                .wait(.milliseconds(50)), .read(Self.control),
            ], attempt: Attempt(number: 3))
        #expect(runner.next(at: Self.start) == .write([1], to: Self.control, type: .withoutResponse))
        #expect(runner.next(at: Self.start) == .write([2], to: Self.control, type: .withResponse))
        #expect(runner.next(at: Self.start) == .wait)
        #expect(runner.deadline == nil)
        runner.answered()
        #expect(runner.next(at: Self.start) == .wait)
        #expect(runner.deadline == Self.start + .milliseconds(50))
        #expect(runner.next(at: Self.start + .milliseconds(49)) == .wait)
        #expect(runner.next(at: Self.start + .milliseconds(50)) == .read(Self.control))
        #expect(runner.deadline == nil)
        #expect(runner.next(at: Self.start + .seconds(9)) == .wait)
        runner.answered()
        #expect(runner.next(at: Self.start + .seconds(9)) == .completed)
        #expect(runner.attempt == Attempt(number: 3))
    }

    @Test("A sequence without steps is completed at once, and stays so")
    func empty() {
        var runner = CommandRunner(steps: [], attempt: Attempt(number: 1))
        #expect(runner.next(at: Self.start) == .completed)
        runner.answered()
        #expect(runner.next(at: Self.start) == .completed)
    }

    @Test("A reply is waited for; what comes otherwise is sent where it is a refusal, or where there is none")
    func replies() {
        func write(_ byte: UInt8) -> CommandStep { .write([byte], to: Self.control, type: .withoutResponse) }
        func sent(_ byte: UInt8) -> CommandRunner.Action { .write([byte], to: Self.control, type: .withoutResponse) }
        let steps = [write(1), .awaitReply(timeout: .milliseconds(200), otherwise: [write(2)]), write(3)]
        let late = Self.start + .milliseconds(200)
        let cases: [(isRefusal: Bool?, expected: [CommandRunner.Action])] = [
            (false, [sent(3), .completed]), (true, [sent(2), sent(3), .completed]), (nil, [sent(2), sent(3), .completed]),
        ]
        for (isRefusal, expected) in cases {
            var runner = CommandRunner(steps: steps, attempt: Attempt(number: 1))
            // The answer to something that was asked before.
            runner.replied(isRefusal: true)
            #expect(runner.next(at: Self.start) == sent(1))
            #expect(runner.next(at: Self.start) == .wait)
            #expect(runner.deadline == late)
            if let isRefusal { runner.replied(isRefusal: isRefusal) }
            let now = isRefusal == nil ? late : Self.start
            #expect(expected.map { _ in runner.next(at: now) } == expected, "\(isRefusal as Any)")
        }
    }

    @Test("A pause at the end holds the completion back")
    func pauseAtTheEnd() {
        var runner = CommandRunner(steps: [.wait(.seconds(1))], attempt: Attempt(number: 1))
        #expect(runner.next(at: Self.start) == .wait)
        #expect(runner.next(at: Self.start + .seconds(1)) == .completed)
    }
}
