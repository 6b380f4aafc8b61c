import ArgumentParser
import Bluetooth
import Foundation
import Glibc
import KernelBluetooth
import Storage
import Synchronization
import Testing

@testable import eegsync

@Suite struct MarkersTests {
    private static func line(_ text: String) throws(MarkLineError) -> MarkLine { try MarkLine(Array(text.utf8)) }

    private static func refusal(_ bytes: [UInt8]) -> String? {
        do {
            _ = try MarkLine(bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func aLineIsATextOrAnObject() throws {
        #expect(try Self.line("face left\r") == MarkLine(text: "face left"))
        let full = try Self.line(
            #" {"text": "Pfiff ♪", "headset": "left", "duration_seconds": 0.5, "seconds_ago": 0.25, "boottime": 2000000000}"#)
        #expect(full.text == "Pfiff ♪" && full.headset == "left" && full.durationSeconds == 0.5)
        // Of an instant that is said, so long before it; of one that is not, before the arrival.
        #expect(full.placed(MonotonicTime(nanoseconds: 5)).boottime == 1_750_000_000)
        let late = try Self.line(#"{"text": "a", "seconds_ago": 0.004}"#).placed(MonotonicTime(nanoseconds: 10_000_000))
        #expect(late.boottime == 6_000_000 && late.secondsAgo == nil)
    }

    @Test(arguments: [
        (#"{"text": "a", "duraton": 1}"#, "duraton"), (#"{"text": "  "}"#, "empty"), (#"{"headset": "left"}"#, "text"),
        (#"{"text": "a", "duration_seconds": -1}"#, "duration"), (#"{"text": "a", "seconds_ago": 3601}"#, "seconds_ago"),
        (#"{"text": "a", "boottime": -1}"#, "boottime"), (#"{"text": 1}"#, "JSON"), (#"{"text": "a""#, "JSON"),
        (#"{"text": "a", "duration_seconds": 1e400}"#, "JSON"), ("", "empty"),
        (String(repeating: "a", count: MarkLine.byteMaximum + 1), "4096"),
    ])
    func whatIsNoMarkIsRefused(text: String, word: String) {
        #expect(Self.refusal(Array(text.utf8))?.contains(word) == true, "\(Self.refusal(Array(text.utf8)) ?? "accepted")")
    }

    @Test func whatIsNoTextIsRefused() { #expect(Self.refusal([0x61, 0xFF, 0xC0])?.contains("UTF-8") == true) }

    @Test(arguments: [
        Array("h\0i\0".utf8), Array("a\0 b".utf8), [0, 0x61], Array(#"{"text": "a\u0000b"}"#.utf8),
        Array(#"{"text": "a", "headset": "l\u0000r"}"#.utf8), Array("{\0\"\0t\0".utf8),
    ])
    func whatIsUTF16IsRefusedAndNotCut(line: [UInt8]) {
        #expect(Self.refusal(line) == "it holds a zero byte; a line is UTF-8, not UTF-16")
    }

    @Test(arguments: ["face\0", "face\0\0\0", "face\r\0", #"{"text": "face\u0000"}"#, "{\"text\": \"face\"}\0"])
    func theZeroByteAtTheEndOfAStringOfCIsNoneOfTheText(line: String) throws {
        #expect(try Self.line(line) == MarkLine(text: "face"))
        let message = MarkerSocket.Message(bytes: Array(line.utf8), arrival: MonotonicTime(nanoseconds: 1))
        #expect(try message.marks.map { try $0.get().text } == ["face"])
    }

    @Test func aMessageThatIsTooLongIsTakenUpToItsLastWholeLine() throws {
        var message = MarkerSocket.Message(bytes: Array("one\ntwo\nthr".utf8), arrival: MonotonicTime(nanoseconds: 1))
        message.isCut = true
        #expect(try message.marks.prefix(2).map { try $0.get().text } == ["one", "two"] && message.marks.count == 3)
        #expect(throws: MarkLineError.self) { try message.marks.last?.get() }
        message.bytes = Array("one".utf8)
        #expect(message.marks.count == 1)
    }

    @Test func refusedLinesAreSaidEachMinute() {
        let said = Mutex<[String]>([])
        var refused = RefusedLines { line in said.withLock { $0.append(line) } }
        let error = MarkLineError("test")
        for second in 0..<15 { refused.note(error, from: "a", at: MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)) }
        refused.sayRest(at: MonotonicTime(nanoseconds: 59_000_000_000))
        #expect(said.withLock(\.count) == 10)
        refused.sayRest(at: MonotonicTime(nanoseconds: 60_000_000_000))
        #expect(said.withLock(\.last) == "5 further lines are refused")
        refused.note(error, from: "a", at: MonotonicTime(nanoseconds: 61_000_000_000))
        refused.sayRest(at: nil)
        #expect(said.withLock(\.count) == 12 && said.withLock(\.last) == "a line from a is refused: test")
    }

    /// What one program hands to another is longer than what came: it is JSON, and controls take six bytes there.
    @Test func whatWasAcceptedIsWrittenHoweverLongItIsAsJSON() throws {
        let database = try RecordedDatabase()
        #expect(
            try ProgramRun(
                ["record", "start", "left", "--model", "muse"], environment: ["EEGSYNC_DATABASE": database.path]
            ).exitCode == 0)
        let text = String(repeating: "\u{1}/\"\u{7F}", count: MarkLine.byteMaximum / 4)
        #expect(text.utf8.count == MarkLine.byteMaximum)
        let mark = try Self.line(text).placed(HostClock.now)
        let handed = Array(try JSONEncoder().encode(mark))
        #expect(handed.count > MarkLine.byteMaximum && handed.count < MarkLine.handedByteMaximum)
        let lines = MarkLines(store: try DatabaseOptions.parse(["--database", database.path]).openForControl())
        let answer = lines.answer(handed, at: HostClock.now)
        #expect(answer.problem == nil && answer.annotations.count == 1)
        let longer = Array(try JSONEncoder().encode(MarkLine(text: text + "a")))
        #expect(lines.answer(longer, at: HostClock.now).problem?.contains("its text has more than 4096 bytes") == true)
        #expect(mark.quoted.unicodeScalars.count == 85 && MarkLine(text: "beep").quoted == "\"beep\"")
    }

    @Test func aProgramThatCannotWriteIsStartedEverMoreRarelyAndItsReasonIsSaidOnce() {
        var retry = MarkRetry()
        let ends = (0..<9).map { _ in retry.next(after: "exit code 78", isAnswer: false) }
        #expect(ends.map(\.pauseSeconds) == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        #expect(ends.map(\.isNew) == [true] + Array(repeating: false, count: 8))
        // What answers is asked each second, and a new reason is said.
        let answers = (0..<3).map { _ in retry.next(after: "the disk is full", isAnswer: true) }
        #expect(answers.map(\.pauseSeconds) == [1, 1, 1] && answers.map(\.isNew) == [true, false, false])
        let night = (0..<10_000).map { _ in retry.next(after: "exit code 78", isAnswer: false) }
        #expect(night.first?.isNew == true && night.first?.pauseSeconds == 1 && night.last?.pauseSeconds == 60)
        #expect(night.count(where: \.isNew) == 1)
        #expect(retry.next(after: "exit code 78", isAnswer: false, isFinishing: true).pauseSeconds == 1)
    }

    /// What was corrected is tried before the end, however long the pause in which it was corrected.
    @Test func theEndOfAPauseIsNotWaitedForAtTheEnd() throws {
        let directory = try TestDirectory()
        let program = try directory.write(
            """
            #!/bin/sh
            [ -e '\(directory.path("corrected"))' ] || exit 78
            while read -r line; do
                echo "$line" >> '\(directory.path("marks"))'
                echo '{"annotations":[1],"recordings":[1]}'
            done

            """, to: "program", mode: 0o755)
        let said = Mutex<[String]>([])
        let hasFailed = DispatchSemaphore(value: 0)
        // The next pause is the longest one, a minute.
        let writer = MarkWriter(program: URL(fileURLWithPath: program), retry: MarkRetry(endCount: 10)) { line in
            said.withLock { $0.append(line) }
            hasFailed.signal()
        }
        writer.write("beep", at: MonotonicTime(nanoseconds: 1))
        writer.write("boop", at: MonotonicTime(nanoseconds: 2))
        let failure = hasFailed.wait(timeout: .now() + 60)
        #expect(failure == .success)
        try directory.write("", to: "corrected")
        writer.finish(within: 20)
        let words = said.withLock { $0 }
        #expect(words.count == 1 && words.first?.contains("is not marked yet") == true, "\(words)")
        #expect(directory.text("marks")?.split(separator: "\n").count == 2)
    }

    @Test func whyNothingCanBeWrittenIsSaidWithTheMark() throws {
        let database = try RecordedDatabase()
        let file = try database.configure("headsets: 7")
        let process = Process()
        let errors = Pipe()
        process.executableURL = try ProgramRun.program
        process.arguments = ["markers", "--udp", "127.0.0.1:0", "--config", file]
        process.environment = [:]
        process.standardError = errors
        try process.run()
        let reader = LineReader(descriptor: errors.fileHandleForReading.fileDescriptor, byteMaximum: 4096)
        let greeting = String(decoding: try #require(reader.next()), as: UTF8.self)
        let port = try #require(
            greeting.split(separator: ":").compactMap { $0.split(separator: " ").first }.compactMap { UInt16($0) }.first)
        Self.sendUDP("beep\n", port: port)
        let said = String(decoding: try #require(reader.next()), as: UTF8.self)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        // One line, and not the three that the writing program has for people.
        let reason = "\"beep\" is not marked yet: the program that writes marks has ended with exit code 78"
        #expect(said.contains(reason), "\(said)")
        #expect(said.contains(file) && said.contains("What you can do"), "\(said)")
    }

    @Test func eachLineOfAMessageIsAMarkOfItsOwn() throws {
        let text = "beep\nbeep\n\n \r\n{\"text\": \"c\", \"boottime\": 7}\n\0"
        let message = MarkerSocket.Message(bytes: Array(text.utf8), arrival: MonotonicTime(nanoseconds: 100))
        let marks = message.marks
        #expect(marks.count == 3)
        // The same words twice are two marks, and not one that came twice.
        #expect(try marks[0].get().boottime == 100 && marks[1].get().boottime == 101)
        // What another machine's clock says is of no use here.
        #expect(throws: MarkLineError.self) { try marks[2].get() }
    }

    /// Sends what a stimulus program sends.
    private static func send(_ text: String, family: Int32, to address: UnsafeRawBufferPointer) {
        let sender = socket(family, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(sender) }
        let bytes = Array(text.utf8)
        guard let base = address.baseAddress else { return }
        let sent = sendto(
            sender, bytes, bytes.count, 0, base.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
        #expect(sent == bytes.count, "\(String(cString: strerror(errno)))")
    }

    private static func sendUDP(_ text: String, port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        withUnsafeBytes(of: &address) { send(text, family: AF_INET, to: $0) }
    }

    private static func sendLocally(_ text: String, path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        withUnsafeBytes(of: &address) { send(text, family: AF_UNIX, to: $0) }
    }

    @Test(arguments: ["udp", "local"])
    func theInstantIsThatOfTheKernelAndNotThatOfTheReading(kind: String) throws {
        let database = try RecordedDatabase()
        let path = database.directory.appendingPathComponent("markers").path
        let taking =
            try kind == "udp" ? MarkerSocket(udp: #require(ListenAddress(argument: "127.0.0.1:0"))) : MarkerSocket(path: path)
        var clock = ArrivalClock(mostAge: 30_000_000_000)
        clock.readClocks()
        let send = { (text: String) in
            if kind == "udp" {
                Self.sendUDP(text, port: ListenAddress.port(of: taking.descriptor))
            } else {
                Self.sendLocally(text, path: path)
            }
        }
        // A kernel in which nobody wanted stamps begins with them a little later, and stamps at the reading until then.
        for _ in 0..<1000 {
            send("ready")
            let sent = HostClock.now
            while HostClock.now.nanoseconds - sent.nanoseconds < 1_000_000 {}
            let message = try #require(taking.next(&clock))
            if message.arrival.nanoseconds < sent.nanoseconds + 500_000 { break }
        }
        let before = HostClock.now
        send("beep")
        let after = HostClock.now
        // Whoever reads may be busy: five milliseconds and more of work.
        while HostClock.now.nanoseconds - after.nanoseconds < 5_000_000 {}
        let message = try #require(taking.next(&clock))
        #expect(message.bytes == Array("beep".utf8))
        // Between the two readings of this clock; a millisecond is what it may be off by.
        #expect(message.arrival.nanoseconds > before.nanoseconds - 1_000_000)
        #expect(message.arrival.nanoseconds < after.nanoseconds + 1_000_000)
        #expect(taking.next(&clock) == nil)
    }

    @Test func aPathIsTakenFromTheDeadAndNotFromTheLiving() throws {
        let database = try RecordedDatabase()
        let path = database.directory.appendingPathComponent("markers").path
        do {
            let living = try MarkerSocket(path: path)
            #expect(throws: Failure.self) { try MarkerSocket(path: path) }
            #expect(living.name == path)
        }
        #expect(access(path, F_OK) != 0, "the end of the socket leaves nothing behind")
        let dead = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(dead, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        close(dead)
        #expect(access(path, F_OK) == 0)
        _ = try MarkerSocket(path: path)
        // A file of somebody's stays, whatever it holds.
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: Failure.self) { try MarkerSocket(path: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test func aLineThatComesTwiceIsWrittenOnce() throws {
        let database = try RecordedDatabase()
        let started = try ProgramRun(
            ["record", "start", "left", "--model", "muse"], environment: ["EEGSYNC_DATABASE": database.path])
        #expect(started.exitCode == 0, "\(started.errors)")
        let options = try DatabaseOptions.parse(["--database", database.path])
        let lines = MarkLines(store: try options.openForControl())
        let now = HostClock.now
        let line = Array(#"{"text": "beep", "boottime": \#(now.nanoseconds)}"#.utf8)
        let first = lines.answer(line, at: now)
        #expect(first.problem == nil && first.recordings == [1] && first.annotations.count == 1)
        #expect(lines.answer(line, at: now) == first)
        #expect(lines.answer(Array("beep".utf8), at: now + .milliseconds(1)).annotations != first.annotations)
        #expect(
            lines.answer(Array(#"{"text": "a", "headset": "right"}"#.utf8), at: now).problem == "no recording of right ran then"
        )
        #expect(lines.answer([0xFF], at: now).problem?.contains("UTF-8") == true)
    }

    @Test func aProgramMarksThroughStandardInput() throws {
        let database = try RecordedDatabase()
        let environment = ["EEGSYNC_DATABASE": database.path]
        #expect(try ProgramRun(["record", "start", "left", "--model", "muse"], environment: environment).exitCode == 0)
        let input = Pipe()
        let long = String(repeating: "b", count: 9000)
        try input.fileHandleForWriting.write(contentsOf: Data("first\n\n\(long)\n{\"text\": \"last\"}".utf8))
        try input.fileHandleForWriting.close()
        let run = try ProgramRun(["mark", "--lines"], environment: environment, input: input)
        #expect(run.exitCode == 0, "\(run.errors)")
        let answers = try run.output.split(separator: "\n").map {
            try JSONDecoder().decode(MarkLines.Answer.self, from: Data($0.utf8))
        }
        #expect(answers.map { $0.annotations.count } == [1, 0, 1])
        #expect(answers[1].problem?.contains("4096") == true)
        let marks = try ProgramRun(["marks", "list", "1", "--json"], environment: environment).output
        #expect(marks.contains("\"first\"") && marks.contains("\"last\""))
        #expect(try ProgramRun(["mark", "--lines", "text"], environment: environment).exitCode == 64)
        #expect(try ProgramRun(["mark"], environment: environment).exitCode == 64)
    }

    @Test func markersOfUDPAndOfAPathAreWrittenUntilTheLast() throws {
        let database = try RecordedDatabase()
        let environment = ["EEGSYNC_DATABASE": database.path]
        #expect(try ProgramRun(["record", "start", "left", "--model", "muse"], environment: environment).exitCode == 0)
        let path = database.directory.appendingPathComponent("markers").path
        let process = Process()
        let errors = Pipe()
        process.executableURL = try ProgramRun.program
        process.arguments = ["markers", "--udp", "127.0.0.1:0", "--socket", path]
        process.environment = environment
        process.standardError = errors
        try process.run()
        let reader = LineReader(descriptor: errors.fileHandleForReading.fileDescriptor, byteMaximum: 4096)
        let greeting = String(decoding: try #require(reader.next()), as: UTF8.self)
        let port = try #require(
            greeting.split(separator: ":").compactMap { $0.split(separator: " ").first }.compactMap { UInt16($0) }.first)
        for number in 0..<20 {
            Self.sendUDP("udp \(number)\n", port: port)
            Self.sendLocally("{\"text\": \"local \(number)\"}", path: path)
        }
        Self.sendUDP("{\"text\": 1}", port: port)
        process.terminate()
        var said: [String] = []
        while let line = reader.next() { said.append(String(decoding: line, as: UTF8.self)) }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && process.terminationReason == .exit)
        #expect(said.count == 1 && said.first?.contains("is refused") == true, "\(said)")
        let marks = try ProgramRun(["marks", "list", "1", "--json"], environment: environment).output
        for number in 0..<20 {
            #expect(marks.components(separatedBy: "\"udp \(number)\"").count == 2)
            #expect(marks.components(separatedBy: "\"local \(number)\"").count == 2)
        }
    }

    @Test func theConfigurationSaysWhere() throws {
        let text = """
            database: /d.sqlite
            headsets: [{name: left, model: muse}]
            markers: {udp: 127.0.0.1:9581, socket: /run/eegsync-markers/socket}
            """
        let markers = try parse(text).markers
        #expect(markers?.udp == ListenAddress(argument: "127.0.0.1:9581") && markers?.socket == "/run/eegsync-markers/socket")
        #expect(throws: ConfigurationError.self) {
            try parse(text.replacingOccurrences(of: "127.0.0.1:9581", with: "localhost"))
        }
        #expect(throws: ConfigurationError.self) {
            try parse(text.replacingOccurrences(of: "/run", with: "run"))
        }
        let nowhere = try ProgramRun(["markers"])
        #expect(nowhere.exitCode == 64 && nowhere.errors.contains("--udp"))
    }
}
