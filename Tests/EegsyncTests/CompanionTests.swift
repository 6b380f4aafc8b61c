import Bluetooth
import Foundation
import Storage
import Testing

@testable import eegsync

/// The service for phones: its bytes, what is notified when, and who may command.
struct CompanionTests {
    private static let phone = PeripheralIdentifier(address: 0xF000_0000_0001, type: .random)

    private static func headset(_ name: String = "left", seconds: Double? = 3, battery: Double? = 81.4) -> StatusFacts.Headset {
        StatusFacts.Headset(
            name: name, model: "muse", isWanted: true, state: "streaming", severity: .good, sentence: "streams",
            batteryPercent: battery,
            streams: [
                StatusFacts.Stream(
                    name: "eeg", view: "eeg_1", samplingFrequency: 256, rowsPerSecond: 256, rows: 1000, missing: 70, gaps: 3,
                    missingByDesign: 6, gapsByDesign: 1, recovered: 0, hasOpenGap: false, newestRowSeconds: seconds,
                    signals: [])
            ])
    }

    private static func status(_ headsets: [StatusFacts.Headset] = [headset()]) -> CompanionStatus {
        var status = CompanionStatus(problem: "")
        (status.severity, status.sentence, status.headsets) = (.good, "left streams.", headsets.map(CompanionHeadset.init))
        return status
    }

    /// The values that were notified of a characteristic.
    private static func notified(_ companion: inout Companion, _ uuid: BluetoothUUID) -> [[UInt8]] {
        companion.takeRequests().compactMap { request in
            guard case .updateValue(let value, uuid) = request else { return nil }
            return value
        }
    }

    @Test("The bytes are those of the page")
    func bytes() {
        let status = Self.status()
        #expect(status.value == [1, 1, 0, 1] + Array("left streams.".utf8))
        let record: [UInt8] =
            [0, 1, 1, 81] + [3, 0, 0, 0] + [64, 0, 0, 0] + [2, 0, 0, 0] + [9] + Array("streaming".utf8) + [4]
            + Array("left".utf8)
        #expect(status.record(of: 0) == record)
        #expect(status.headsetsValue == [UInt8(record.count)] + record)
        let unknown = CompanionHeadset(Self.headset(seconds: nil, battery: nil)).record(index: 3)
        #expect(unknown.prefix(8) == [3, 1, 1, 255, 255, 255, 255, 255])
    }

    @Test("What is too long is cut between characters, and whole records alone are read")
    func lengths() {
        #expect("aäb".utf8(atMost: 2) == Array("a".utf8))
        var status = Self.status((0..<40).map { Self.headset("headset-\($0)") })
        status.sentence = String(repeating: "ä", count: 400)
        #expect(status.value.count == 512 && status.headsetsValue.count <= 512)
        var rest = status.headsetsValue[...]
        while let length = rest.first { rest = rest.dropFirst(1 + Int(length)) }
        #expect(rest.isEmpty)
    }

    @Test("Notifies what changed, once, and everything to who begins to listen")
    func notifications() {
        var companion = Companion(name: "eegsync pi")
        companion.update(Self.status())
        #expect(Self.notified(&companion, CompanionService.status).isEmpty)
        companion.take(.didSubscribe(CompanionService.headsets, maximumLength: 20), at: .boot) { _ in false }
        #expect(Self.notified(&companion, CompanionService.headsets) == [Array(Self.status().record(of: 0).prefix(20))])
        for seconds in [4.0, 12, 19.5] { companion.update(Self.status([Self.headset(seconds: seconds)])) }
        #expect(Self.notified(&companion, CompanionService.headsets).isEmpty)
        companion.update(Self.status([Self.headset(seconds: 31)]))
        companion.update(Self.status([Self.headset(seconds: 33)]))
        companion.update(Self.status([Self.headset(seconds: 41)]))
        #expect(Self.notified(&companion, CompanionService.headsets).map { $0[4] } == [31, 41])
        companion.take(.didUnsubscribe(CompanionService.headsets), at: .boot) { _ in false }
        companion.update(Self.status([Self.headset(battery: 5)]))
        #expect(Self.notified(&companion, CompanionService.headsets).isEmpty)
    }

    @Test("Advertises the status byte, anew only when it is another one")
    func advertisement() {
        var companion = Companion(name: "eegsync a machine with a very long name")
        #expect(companion.takeRequests() == [.publish(CompanionService.published)])
        companion.update(Self.status())
        guard case .startAdvertising(let first) = companion.takeRequests().first else {
            Issue.record("nothing is advertised")
            return
        }
        #expect(first.localName?.utf8.count == 26 && first.manufacturerData.first?.data == [0x99, 0x84, 1])
        companion.update(Self.status([Self.headset(battery: 3)]))
        #expect(companion.takeRequests().isEmpty)
        var paused = Self.status()
        (paused.severity, paused.isPaused) = (.idle, true)
        companion.update(paused)
        guard case .startAdvertising(let second) = companion.takeRequests().first else {
            Issue.record("the change is not advertised")
            return
        }
        #expect(second.manufacturerData.first?.data.last == 0x80)
    }

    @Test("Only a phone that a person has paired may command, and only what it may")
    func commands() {
        var companion = Companion(name: "eegsync")
        _ = companion.takeRequests()
        var now = MonotonicTime(nanoseconds: 5)
        func order() -> [String]? {
            let order = companion.takeOrder()
            if let order { companion.finish(order, code: 0, text: "", at: .boot) }
            return order?.arguments
        }
        func write(_ value: [UInt8], allowed: Bool = true, from phone: PeripheralIdentifier? = Self.phone) -> PeripheralRequest?
        {
            let number = RequestNumber(rawValue: 1)
            let uuid = CompanionService.control
            companion.take(.didReceiveWrite(number, value, to: uuid, from: phone), at: now) { $0 == Self.phone && allowed }
            return companion.takeRequests().first
        }
        func refusal(_ error: ATTError) -> PeripheralRequest { .respond(RequestNumber(rawValue: 1), .failure(error)) }
        let record = [1] + Array("left".utf8)
        #expect(write(record, allowed: false) == refusal(.insufficientAuthorization))
        #expect(write(record, from: nil) == refusal(.insufficientAuthorization))
        #expect(order() == nil)
        #expect(write(record) == .respond(RequestNumber(rawValue: 1), .success([])))
        #expect(order() == ["record", "start", "left"])
        for text in ["--database", "a b", "", "left\n"] {
            #expect(write([1] + Array(text.utf8)) == refusal(.valueNotAllowed), "\(text)")
        }
        #expect(write([3, 0x1B]) == refusal(.valueNotAllowed) && write([3, 0xFF]) == refusal(.valueNotAllowed))
        #expect(write([9]) == refusal(.requestNotSupported) && write([]) == refusal(.invalidAttributeValueLength))
        #expect(order() == nil)
        now = MonotonicTime(nanoseconds: 1_234_567_890)
        _ = write([3] + Array("--at lights out".utf8))
        now = MonotonicTime(nanoseconds: 9_999_999_999)
        // Of the instant at which it was written, however long it has waited.
        let mark = ["mark", "--boottime", "1234567890", "--", "--at lights out"]
        #expect(order() == mark)
    }

    @Test("Commands are carried out one after the other, and who sends too many is asked to wait")
    func chain() {
        var companion = Companion(name: "eegsync")
        _ = companion.takeRequests()
        func write(_ text: String) -> PeripheralRequest? {
            let (number, uuid) = (RequestNumber(rawValue: 1), CompanionService.control)
            let event = PeripheralEvent.didReceiveWrite(number, [3] + Array(text.utf8), to: uuid, from: Self.phone)
            companion.take(event, at: .boot) { _ in true }
            return companion.takeRequests().first
        }
        let accepted = PeripheralRequest.respond(RequestNumber(rawValue: 1), .success([]))
        let refused = PeripheralRequest.respond(RequestNumber(rawValue: 1), .failure(.procedureAlreadyInProgress))
        #expect(write("first") == accepted)
        var present = companion.takeOrder()
        let second = companion.takeOrder()
        #expect(present?.command == .mark("first") && second == nil)
        let texts = (0..<Companion.waitingMaximum).map { "mark \($0)" }
        for text in texts { #expect(write(text) == accepted) }
        #expect(write("too many") == refused)
        let overtaking = companion.takeOrder()
        #expect(overtaking == nil, "the first one has not ended")
        var carriedOut: [PhoneCommand] = []
        while let order = present {
            companion.finish(order, code: 0, text: "", at: .boot)
            present = companion.takeOrder()
            if let present { carriedOut.append(present.command) }
        }
        #expect(carriedOut == texts.map(PhoneCommand.mark))
        #expect(write("again") == accepted)
    }

    @Test("A mark that was written while a start was carried out is in the recording that it has started")
    func markBehindAStart() {
        func milliseconds(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count * 1_000_000) }
        for code in [0, 66] as [Int32] {
            var companion = Companion(name: "eegsync")
            func write(_ value: [UInt8], at time: MonotonicTime) {
                let (number, uuid) = (RequestNumber(rawValue: 1), CompanionService.control)
                companion.take(.didReceiveWrite(number, value, to: uuid, from: Self.phone), at: time) { _ in true }
            }
            write([1] + Array("left".utf8), at: milliseconds(1000))
            let start = companion.takeOrder()
            write([3] + Array("go".utf8), at: milliseconds(1060))
            if let start { companion.finish(start, code: code, text: "", at: milliseconds(1300)) }
            let mark = companion.takeOrder()
            // What was not started has no beginning to wait for.
            let time = code == 0 ? "1300000000" : "1060000000"
            #expect(mark?.arguments == ["mark", "--boottime", time, "--", "go"])
            if let mark { companion.finish(mark, code: 0, text: "", at: milliseconds(1500)) }
            write([3] + Array("later".utf8), at: milliseconds(1400))
            let later = companion.takeOrder()
            #expect(later?.time == milliseconds(1400))
        }
    }

    @Test("The end of the terminal is an interruption of what must be closed")
    func hangup() async throws {
        let isWanted = try await Interruption.run(alsoByHangup: true) { interruption in
            kill(getpid(), SIGHUP)
            while !interruption.isWanted { await Task.yield() }
            return interruption.isWanted
        }
        #expect(isWanted)
    }

    @Test("Where nobody has paired, it is said what keeps a phone that is paired already from it")
    func remedyOfPairing() {
        let failure = CompanionCommand.Pair.nobodyPaired
        #expect(failure.code == .temporary && failure.remedy.contains("bluetoothctl remove ADDRESS"))
        #expect(failure.remedy.contains("have the phone forget this machine"))
    }

    @Test("What became of a command is notified")
    func results() {
        var companion = Companion(name: "eegsync")
        companion.take(.didSubscribe(CompanionService.control, maximumLength: nil), at: .boot) { _ in true }
        let stop = Companion.Order(command: .stop("left"), phone: Self.phone, time: .boot)
        companion.finish(stop, code: 66, text: "no\u{1B} such", at: .boot)
        let value = Self.notified(&companion, CompanionService.control).first
        #expect(value?.prefix(2) == [2, 66] && value?.contains(0x1B) == false)
    }

    @Test("The file of phones holds each once, and none that is damaged")
    func phones() throws {
        let folder = try TestDirectory()
        let phones = CompanionPhones(path: folder.path("phones"))
        #expect(!phones.contains(Self.phone))
        for _ in 0..<2 { try phones.add(Self.phone) }
        #expect(folder.text("phones") == "F0:00:00:00:00:01/random\n" && phones.contains(Self.phone))
        try folder.write("nonsense\nF0:00:00:00:00:02/random\n", to: "phones")
        #expect(phones.all.map(\.description) == ["F0:00:00:00:00:02/random"])
        try phones.removeAll()
        #expect(phones.all.isEmpty)
        #expect(throws: Failure.self) { try CompanionPhones(path: "/absent/phones").add(Self.phone) }
    }

    @Test("The sentence is that of the status")
    func sentence() throws {
        let database = try RecordedDatabase()
        try database.record()
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let status = CompanionStatus(try StatusFacts(store: store, configuration: nil, now: HostClock.now))
        #expect(status.severity == .waiting && status.sentence == "left waits for eegsync run, which does not run.")
        #expect(status.headsets.map(\.missing) == [200] && status.headsets.map(\.batteryPercent) == [81])
        try ControlStore(path: database.path, hostBoot: try HostBoot.current()).pause(at: HostClock.now)
        let paused = CompanionStatus(try StatusFacts(store: store, configuration: nil, now: HostClock.now))
        #expect(paused.isPaused && paused.sentence == "Paused: nothing is recorded.")
    }
}
