import Bluetooth
import Foundation
import Headsets
import Page
import Testing

@testable import Storage
@testable import eegsync

/// What the page is answered of a headset that is away, of too many rows, and while nobody looks.
@Suite struct PageAnswersTests {
    private let database: RecordedDatabase
    private let directory: TestDirectory
    private let cache: PageCache
    private let recording = RecordingID(rawValue: 1)
    private let stream = StreamID(rawValue: 1)

    init() throws {
        database = try RecordedDatabase()
        try database.record()
        directory = try TestDirectory()
        cache = PageCache(root: directory.url.path, database: database.path)
    }

    private func reading() throws -> PageReading {
        PageReading(try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current()))
    }

    private func routes() throws -> PageRoutes {
        PageRoutes(reading: try reading(), cache: cache, control: nil, configuration: { nil })
    }

    private func bytes(_ response: PageResponse) -> Data {
        if case .bytes(let bytes) = response.content { bytes } else { Data() }
    }

    private func json(_ routes: PageRoutes, _ path: String) async throws -> [String: Any] {
        let document = bytes(await routes.respond(PageRequest(path: path)))
        return try JSONSerialization.jsonObject(with: document) as? [String: Any] ?? [:]
    }

    /// The document of a frame.
    private func about(_ response: PageResponse) throws -> [String: Any] {
        let data = bytes(response)
        try #require(response.status == 200, "\(String(decoding: data, as: UTF8.self))")
        let length = data.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return try JSONSerialization.jsonObject(with: data[4..<(4 + length)]) as? [String: Any] ?? [:]
    }

    private func commit(_ changes: [Change]) throws {
        let store = try database.acquisitionStore()
        var batch = WriteBatch(number: 2)
        batch.changes = changes
        try store.commit(batch)
        try store.close()
    }

    @Test(arguments: ["/api/now", "/api/recordings", "/api/recordings/1/streams"])
    func theTimeOfThisMachineIsSaid(path: String) async throws {
        let before = Date()
        let now = try #require(try await json(try routes(), path)["now_ms"] as? Double)
        let ends = [before, Date()].map { $0.timeIntervalSince1970 * 1000 }
        #expect(now >= ends[0] - 1 && now <= ends[1] + 1)
    }

    @Test func anEmptyDocumentStaysOne() throws {
        let timed = PageReading.timed(Data("{}".utf8))
        let object = try JSONSerialization.jsonObject(with: timed) as? [String: Any]
        #expect(object?.keys.sorted() == ["now_ms"])
    }

    @Test func aGapThatLastsIsOpen() async throws {
        func gap() async throws -> [String: Any] {
            let headset = try #require((try await json(try routes(), "/api/now")["headsets"] as? [[String: Any]])?.first)
            return try #require(headset["last_gap"] as? [String: Any])
        }
        let closed = try await gap()
        #expect(closed["is_open"] as? Bool == false)
        #expect(closed["duration_seconds"] as? Double == 1)
        try commit([
            .ledger(
                .open(stream: stream, firstN: 2500, channel: 0, count: nil, cause: .linkLost, noticed: HostClock.now))
        ])
        let open = try await gap()
        #expect(open["is_open"] as? Bool == true)
        #expect(open["duration_seconds"] == nil)
    }

    /// Wide streams are several of one name: the page draws a line for each.
    @Test func gapsAreThoseOfTheirBank() async throws {
        let (second, start) = (StreamID(rawValue: 2), HostClock.now - .seconds(10))
        let channel = ChannelDescription(name: "X1", scale: 0.5, rawMinimum: -2048, rawMaximum: 2047)
        try commit([
            .stream(
                NewStream(
                    id: second, recording: recording, position: 1,
                    description: StreamDescription(
                        name: "eeg", bank: 1, samplingFrequency: 250, counterModulus: 65_536, channels: [channel]))),
            .epoch(EpochRecord(stream: second, number: 0, bootIdentifier: 7, firstN: 0, firstIndex: 0, began: start)),
            .segment(
                SegmentRecord(
                    stream: second, firstN: 0, lastN: 99, epoch: 0, referenceN: 0, referenceTime: start,
                    periodNanoseconds: 4_000_000, residualNanoseconds: 1e6, observationCount: 100)),
            .ledger(.open(stream: second, firstN: 10, channel: 0, count: 20, cause: .linkLost, noticed: start)),
        ])
        let routes = try routes()
        let gaps = try #require(try await json(routes, "/api/recordings/1")["gaps"] as? [[String: Any]])
        let counts = gaps.map { "\($0["stream"] ?? ""): \($0["count"] ?? ""), \($0["recovered"] ?? "")" }.sorted()
        #expect(counts == ["eeg-2: 20, 0", "eeg: 250, 50"])
        let streams = try #require(
            try await json(routes, "/api/recordings/1/streams")["streams"] as? [[String: Any]])
        #expect(streams.compactMap { $0["name"] as? String } == ["eeg", "eeg-2"])
    }

    @Test func marksComeWhileNoRowsDo() async throws {
        let request = PageRequest(path: "/api/recordings/1/newest", query: ["stream": "1", "after": "2499"])
        let before = try about(try await routes().respond(request))
        #expect(before["count"] as? Int == 0)
        #expect((before["marks"] as? [Any])?.isEmpty == true)
        try commit([
            .annotation(
                AnnotationRecord(
                    recording: recording, onset: HostClock.now, durationSeconds: nil, description: "eyes closed",
                    source: "operator"))
        ])
        let answer = try about(try await routes().respond(request))
        #expect(answer["count"] as? Int == 0)
        #expect((answer["marks"] as? [[String: Any]])?.map { $0["text"] as? String } == ["eyes closed"])
    }

    /// Whoever asks may say any number.
    @Test(arguments: [Int64.min, -1, 0, .max]) func anyNumberIsAnswered(after: Int64) async throws {
        let query = ["stream": "1", "after": String(after)]
        let routes = try routes()
        let answer = try about(await routes.respond(PageRequest(path: "/api/recordings/1/newest", query: query)))
        #expect(answer["count"] as? Int != nil)
    }

    @Test func rowsThatAreLeftOutAreSaid() async throws {
        let reading = try reading()
        let pictures = SignalPictures(reading: reading, cache: nil)
        let signals = SignalRoutes(
            reading: reading, pictures: pictures, live: DatabaseLiveSource(reading: reading), rowsMaximum: 1000)
        let recording = recording
        let start = try await reading.run { store in
            StreamTimeline(try store.timeSegments(of: StreamID(rawValue: 1))).unixNanoseconds(of: 0) ?? 0
        }
        // The first thousand rows are there, and those from 1200 on.
        for (seconds, isComplete) in [(Int64(4), true), (5, false), (20, false)] {
            let time = start..<(start + seconds * 1_000_000_000)
            let answer = try about(await signals.respond(.rows(stream: 1, time), recording: recording))
            #expect(answer["count"] as? Int == 1000)
            #expect(answer["is_complete"] as? Bool == isComplete, "\(seconds) s")
        }
    }

    @Test func whereNothingCanBeKeptPicturesAreWhatThereIs() async throws {
        try directory.write("no directory", to: "file")
        let nowhere = PageCache(root: directory.path("file"), database: database.path)
        let routes = PageRoutes(reading: try reading(), cache: nowhere, control: nil, configuration: { nil })
        let streams = try await json(routes, "/api/recordings/1/streams")
        let start = try #require((streams["streams"] as? [[String: Any]])?.first?["start_ms"] as? Double)
        let query = ["stream": "1", "from_ms": "\(start - 1)", "to_ms": "\(start + 9_999)", "columns": "10"]
        let answer = try about(await routes.respond(PageRequest(path: "/api/recordings/1/columns", query: query)))
        #expect(answer["count"] as? Int == 10)
    }

    @Test func whileNobodyLooksNothingIsRead() async throws {
        let routes = try routes()
        let stray = try #require(cache.directory) + "/\(UUID().uuidString).json"
        func isThereAfterTidying() async throws -> Bool {
            try Data().write(to: URL(fileURLWithPath: stray))
            await routes.tidy(isMinute: true)
            return FileManager.default.fileExists(atPath: stray)
        }
        // At the start what an earlier process has left goes.
        #expect(try await !isThereAfterTidying())
        #expect(try await isThereAfterTidying())
        _ = await routes.respond(PageRequest(path: "/api/now"))
        #expect(try await !isThereAfterTidying())
    }
}
