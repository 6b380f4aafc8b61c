import Bluetooth
import Foundation
import Headsets
import Storage
import Synchronization
import Tap
import Testing

@testable import Acquisition

/// The tap's local socket, with real readers.
@Suite(.timeLimit(.minutes(3))) struct TapServerTests {
    /// A path in a directory of its own, and the server there.
    private final class Bench {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-tap-\(UUID().uuidString)")
        let server: TapServer
        private let woken = DispatchSemaphore(value: 0)
        private(set) var dropped: (count: Int, total: UInt64) = (0, 0)
        private(set) var droppedBefore: [UInt64] = []

        init(capacity: Int) throws {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            server = try TapServer(path: directory.appendingPathComponent("tap").path, capacity: capacity)
            server.start { [woken] in woken.signal() }
        }

        deinit {
            server.stop()
            try? FileManager.default.removeItem(at: directory)
        }

        /// Waits until something has become of a reader, and greets those that came.
        func takeNews() {
            woken.wait()
            for news in server.takeNews() {
                switch news {
                case .joined(let reader, let before):
                    droppedBefore.append(before)
                    let hello = TapHello(program: "test", droppedReaders: before)
                    server.greet(reader, with: [TapMessage(number: 0, at: .boot, content: .hello(hello))])
                case .emptied: break
                case .dropped(let count, let total): dropped = (dropped.count + count, total)
                }
            }
        }
    }

    /// A message of 32 kB.
    private static func message(_ number: UInt64) -> TapMessage {
        let rows = SampleRows(
            stream: StreamID(rawValue: 1), channelCount: 8, firstN: Int64(number) * 1000,
            values: [Int32](repeating: Int32(number), count: 8_000))
        return TapMessage(
            number: number, at: .boot, content: .samples(TapSamples(rows: rows, time: nil, arrival: nil, isLate: false)))
    }

    @Test func aReaderThatStopsIsDroppedAndCountedWhileFortyNineGetEverything() throws {
        let bench = try Bench(capacity: 256 << 10)
        let readers = try (0..<50).map { _ in try TapConnection(path: bench.server.path) }
        while bench.droppedBefore.count < 50 { bench.takeNews() }
        var decoders = [TapDecoder](repeating: TapDecoder(), count: 50)
        for index in 0..<49 {
            #expect(try readers[index].next(&decoders[index])?.number == 0)
        }
        var number: UInt64 = 0
        func publishToAll() throws {
            number += 1
            bench.server.publish([Self.message(number)])
            for index in 0..<49 {
                let got = try readers[index].next(&decoders[index])
                #expect(got == Self.message(number))
            }
        }
        // The last one stops reading; far before that many its own buffer and the shared one are full.
        while bench.dropped.count == 0, number < 100 {
            try publishToAll()
            if bench.server.hasNews { bench.takeNews() }
        }
        #expect(bench.dropped.count == 1 && bench.dropped.total == 1)
        for _ in 0..<20 { try publishToAll() }
        // What it has got is whole and in order, and then it ends.
        var expected: UInt64 = 0
        while let got = try readers[49].next(&decoders[49]) {
            #expect(got.number == expected)
            expected += 1
        }
        #expect(expected > 1 && expected < number)
        // The next one hears of it.
        let next = try TapConnection(path: bench.server.path)
        while bench.droppedBefore.count < 51 { bench.takeNews() }
        var decoder = TapDecoder()
        #expect(try next.next(&decoder)?.content == .hello(TapHello(program: "test", droppedReaders: 1)))
    }

    @Test func theSocketIsForItsOwnerAndItsGroup() throws {
        let bench = try Bench(capacity: 1 << 20)
        var found = stat()
        try #require(stat(bench.server.path, &found) == 0)
        #expect(found.st_mode & 0o777 == 0o660)
    }

    @Test func whatAKilledProcessLeftIsReplacedAndNothingElse() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-tap-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("tap").path
        // Nobody listens at it any more, as after kill -9.
        _ = try TapServer(path: path)
        #expect(throws: TapConnectionError.nobodyListens(path: path)) { try TapConnection(path: path) }
        _ = try TapServer(path: path)
        let file = directory.appendingPathComponent("file").path
        try Data([1]).write(to: URL(fileURLWithPath: file))
        #expect(throws: TapServerError.inTheWay(file)) { try TapServer(path: file) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data([1]))
        let long = "/" + String(repeating: "x", count: 120)
        #expect(throws: TapServerError.pathTooLong(long)) { try TapServer(path: long) }
        #expect(throws: TapConnectionError.nobodyListens(path: path + "-absent")) { try TapConnection(path: path + "-absent") }
    }

    /// The live acquisition: what its poll thread assembles comes to a reader, and then that it is stored.
    @Test func theServiceServesItsReaders() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-tap-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "test"))
        var settings = AcquisitionService.Settings(
            headsets: [KnownHeadset(name: "left", profile: BufferedEEGProfile())], seed: 1,
            readClock: { ClockOffsetRecord(at: .boot, offsetNanoseconds: 1, stepNanoseconds: 0, isSynchronised: true) })
        settings.limits.commitInterval = .milliseconds(40)
        let server = try TapServer(path: directory.appendingPathComponent("tap").path)
        settings.tap = server
        let service = AcquisitionService(
            store: store, settings: settings, makeCentral: { _ in ScriptedCentral(HeadsetScript()) })
        try store.control.startRecording(headset: "left", model: "buffered-eeg", at: .boot)
        let reading = Task.detached {
            let connection = try TapConnection(path: server.path)
            var (decoder, said, stored) = (TapDecoder(), Set<Int64>(), 0)
            while stored < 100, let message = try connection.next(&decoder) {
                switch message.content {
                case .samples(let samples):
                    #expect(samples.arrival != nil && samples.time != nil)
                    for row in 0..<samples.rows.rowCount { said.insert(samples.rows.firstN + Int64(row)) }
                case .committed(let commit):
                    for run in commit.rows {
                        for n in run.firstN..<run.firstN + run.count where said.contains(n) { stored += 1 }
                    }
                default: break
                }
            }
            return stored
        }
        let run = Task { try await service.run() }
        #expect(try await reading.value >= 100)
        await service.shutDown()
        try await run.value
        #expect(!FileManager.default.fileExists(atPath: server.path))
    }
}
