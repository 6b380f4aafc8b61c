import Bluetooth
import Foundation
import Synchronization

/// Writes marks one after the other, by a thread of its own, as `eegsync mark` does: who may not write the database asks the
/// control service. Whoever receives markers is never held up.
///
/// A mark that has no answer, because the program that writes it has ended, is given to the next one; that one knows whether it
/// was written.
final class MarkWriter: Sendable {
    /// Marks that wait at most; what comes beyond is said and counted.
    private static let waitingMaximum = 10_000
    /// How long the program that writes stays without anything to do, in seconds.
    private static let idleSeconds = 60

    private struct Waiting {
        var marks: [MarkLine] = []
        /// Including the one that is being written.
        var unwrittenCount = 0
        var droppedCount = 0
        /// Somebody waits for the end of it: no pause is long any more.
        var isFinishing = false
    }

    private let waiting = Mutex(Waiting())
    private let added = DispatchSemaphore(value: 0)
    /// Ends a pause that has begun before anybody waited for the end.
    private let finishing = DispatchSemaphore(value: 0)
    private let program: URL
    private let arguments: [String]
    private let firstRetry: MarkRetry
    private let log: @Sendable (String) -> Void

    /// - Parameter log: says what could not be written, and why.
    convenience init(_ options: DatabaseOptions, log: @escaping @Sendable (String) -> Void) {
        self.init(
            program: URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath(),
            arguments: ["mark", "--lines"] + (options.config.map { ["--config", $0] } ?? [])
                + (options.database.map { ["--database", $0] } ?? []),
            log: log)
    }

    /// - Parameters:
    ///   - program: answers each line of its standard input as `eegsync mark --lines` does.
    ///   - retry: what becomes of each mark's failures.
    init(
        program: URL, arguments: [String] = [], retry: MarkRetry = MarkRetry(), log: @escaping @Sendable (String) -> Void
    ) {
        (self.program, self.arguments, firstRetry, self.log) = (program, arguments, retry, log)
        let thread = Thread { @Sendable [self] in work() }
        thread.name = "eegsync-marks"
        thread.start()
    }

    /// Has a mark written.
    func write(_ mark: MarkLine) {
        let isFirstDropped = waiting.withLock { waiting in
            guard waiting.marks.count >= Self.waitingMaximum else {
                waiting.marks.append(mark)
                waiting.unwrittenCount += 1
                return false
            }
            waiting.droppedCount += 1
            return waiting.droppedCount == 1
        }
        if isFirstDropped { return log("\(Self.waitingMaximum) marks wait to be written; more are dropped until some are") }
        added.signal()
    }

    /// Has a text written as the mark of an instant.
    func write(_ text: String, at time: MonotonicTime) {
        guard !text.allSatisfy(\.isWhitespace) else { return }
        write(MarkLine(text: text, boottime: time.nanoseconds))
    }

    private func work() {
        var child: MarkChild?
        while true {
            guard added.wait(timeout: .now() + .seconds(Self.idleSeconds)) == .success else {
                child = nil
                continue
            }
            let (mark, droppedCount) = waiting.withLock { waiting in
                defer { waiting.droppedCount = 0 }
                return (waiting.marks.isEmpty ? nil : waiting.marks.removeFirst(), waiting.droppedCount)
            }
            if droppedCount > 0 { log("\(droppedCount) marks were dropped") }
            if let mark {
                write(mark, by: &child)
                waiting.withLock { $0.unwrittenCount -= 1 }
            }
        }
    }

    /// Waits until all marks are written, but no longer than so many seconds; says how many are not. What could not be written
    /// is tried at once, and then each second: the reason may have been taken away meanwhile.
    func finish(within seconds: Double) {
        waiting.withLock { $0.isFinishing = true }
        finishing.signal()
        let pause = 0.02
        for _ in 0..<Int(seconds / pause) where waiting.withLock({ $0.unwrittenCount > 0 }) {
            Thread.sleep(forTimeInterval: pause)
        }
        let count = waiting.withLock { $0.unwrittenCount }
        if count > 0 { log("\(count) marks were not written") }
    }

    /// Writes a mark, however long that takes.
    private func write(_ mark: MarkLine, by child: inout MarkChild?) {
        var retry = firstRetry
        while true {
            child = child ?? MarkChild(program, arguments: arguments)
            let answer = child?.answer(to: mark)
            if let answer, answer.mayBeTriedAgain != true {
                if let problem = answer.problem { log("\(mark.quoted) is not marked: \(problem)") }
                return
            }
            let problem = answer.map { $0.problem ?? "" } ?? child?.end() ?? "the program that writes marks cannot be started"
            if answer == nil { child = nil }
            let isFinishing = waiting.withLock { $0.isFinishing }
            let next = retry.next(after: problem, isAnswer: answer != nil, isFinishing: isFinishing)
            if next.isNew { log("\(mark.quoted) is not marked yet: \(problem)") }
            _ = finishing.wait(timeout: .now() + next.pauseSeconds)
        }
    }
}

/// When a mark is tried again, and whether anything new is to be said of it.
struct MarkRetry: Hashable {
    /// Before it is tried again, in seconds; where the program that writes has ended instead of answering, twice as long each
    /// time, for starting it takes more than asking it.
    static let pauseMinimum = 1.0
    /// So soon it is noticed at the latest that a person has corrected a configuration.
    static let pauseMaximum = 60.0

    private var said: String?
    /// How often in a row there was no answer.
    private var endCount = 0

    /// - Parameter endCount: how often in a row there was no answer before.
    init(endCount: Int = 0) { self.endCount = endCount }

    /// What follows a failure.
    ///
    /// - Parameters:
    ///   - isAnswer: true where the program that writes has said so itself.
    ///   - isFinishing: true where little time is left for it.
    /// - Returns: true for a problem that was not said last, and the pause.
    mutating func next(
        after problem: String, isAnswer: Bool, isFinishing: Bool = false
    ) -> (isNew: Bool, pauseSeconds: Double) {
        let isNew = said != problem
        said = problem
        endCount = isAnswer ? 0 : endCount + 1
        let pause = Self.pauseMinimum * Double(1 << min(max(0, endCount - 1), 10))
        return (isNew, min(pause, isFinishing ? Self.pauseMinimum : Self.pauseMaximum))
    }
}

/// `eegsync mark --lines` in a process of its own, with its input and output on one socket.
private final class MarkChild {
    private let process = Process()
    private let socket: Int32
    private let answers: LineReader
    /// What it says to people: where it cannot begin, the reason, which would stand in the journal with each start.
    private let errors: UnsafeMutablePointer<FILE>?

    /// How many characters of it are said.
    private static let reasonMaximum = 600

    /// - Returns: nil where it cannot be started.
    init?(_ program: URL, arguments: [String]) {
        var ends: [Int32] = [-1, -1]
        // A socket, unlike a pipe, can be written to without a signal when nobody reads.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return nil }
        socket = ends[0]
        answers = LineReader(descriptor: socket, byteMaximum: 65_536)
        errors = tmpfile()
        let other = FileHandle(fileDescriptor: ends[1], closeOnDealloc: false)
        // Held by the program alone, so that its end is the end of what can be read.
        defer { close(ends[1]) }
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = other
        process.standardOutput = other
        if let errors { process.standardError = FileHandle(fileDescriptor: fileno(errors), closeOnDealloc: false) }
        guard (try? process.run()) != nil else { return nil }
    }

    deinit {
        close(socket)
        if let errors { fclose(errors) }
    }

    /// Ends it where it gave no answer.
    ///
    /// - Returns: how it had ended, and what it said of that.
    func end() -> String {
        // Whether its last mark was written, the next one knows.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        let way = process.terminationReason == .exit ? "exit code" : "signal"
        // Its last words: it may have run for hours.
        let said = errors.map { ChildProgram.text($0, isEnd: true) } ?? ""
        let words = said.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        let reason = words.joined(separator: " ").prefix(Self.reasonMaximum)
        return "the program that writes marks has ended with \(way) \(process.terminationStatus)"
            + (reason.isEmpty ? "" : ": \(reason)")
    }

    /// Gives it a mark, and waits for the answer; nil where there is none.
    func answer(to mark: MarkLine) -> MarkLines.Answer? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard var line = try? JSONEncoder().encode(mark) else { return nil }
        line.append(UInt8(ascii: "\n"))
        let sent = line.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent == line.count, let answer = answers.next() else { return nil }
        return try? decoder.decode(MarkLines.Answer.self, from: Data(answer))
    }
}
