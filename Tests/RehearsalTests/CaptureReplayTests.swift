import Acquisition
import Bluetooth
import Capture
import Headsets
import Simulation
import Storage
import Testing

@testable import Rehearsal

/// A headset is recorded and captured at once; a replay of the capture stores the same rows.
struct CaptureReplayTests {
    private static let unixOffset: Int64 = 1_700_000_000_000_000_000

    /// A recording in virtual time with a capture over some of it, asked for through the database.
    private struct Recorded {
        var store: AcquisitionStore
        var recording: RecordingID
        var capture: [UInt8]
        var chunks: [CaptureChunk]
    }

    private static func record(
        _ specification: HeadsetSpecification, _ profile: any HeadsetProfile, capturing seconds: ClosedRange<Int>
    ) throws -> Recorded {
        let world = SimulatedWorld(seed: 3, headsets: [specification], start: MonotonicTime(nanoseconds: 60_000_000_000))
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "captured"))
        let recording = try store.control.startRecording(headset: "left", model: profile.model, at: world.now)
        let driver = try VirtualDriver(
            in: world, store: store, seed: 1, unixNanosecondsAtBoot: Self.unixOffset,
            lookUp: { KnownHeadset(name: $0.headsetName, profile: profile) })
        let start = world.now
        driver.advance(world, to: start + .seconds(seconds.lowerBound))
        let capture = try store.control.start(CaptureID.self, headset: "left", at: world.now, until: world.now + .seconds(3600))
        driver.advance(world, to: start + .seconds(seconds.upperBound))
        try store.control.stop(capture)
        driver.advance(world, to: world.now + .seconds(3))
        let (chunks, isComplete) = try store.control.takeCapture(capture)
        #expect(isComplete)
        #expect(try store.control.takeCapture(capture).chunks.isEmpty)
        try store.control.stopRecording(recording, at: world.now)
        #expect(driver.finish(world, within: .seconds(60)))
        return Recorded(
            store: store, recording: recording, capture: SnoopFormat.header + chunks.flatMap(\.records), chunks: chunks)
    }

    /// The rows of the stream with a name: n, the channels that are missing, and the values.
    private static func rows(_ store: AcquisitionStore, _ recording: RecordingID, _ name: String) throws -> [[Int64]] {
        let reader = try store.reader(of: recording)
        let stream = try #require(reader.contents.streams.first { $0.description.name == name })
        let width = stream.description.channels.count
        var rows: [[Int64]] = []
        try reader.forEachChunk(of: stream.id, in: 0...Int64.max, rowsPerChunk: 1000) { chunk in
            for (row, n) in chunk.n.enumerated() {
                rows.append(
                    [n, Int64(chunk.missingChannels[row])] + chunk.values[(row * width)..<((row + 1) * width)].map(Int64.init))
            }
        }
        return rows
    }

    /// What the headset said that it is.
    private static func revisions(_ store: AcquisitionStore, _ recording: RecordingID) throws -> [String?] {
        let facts = try #require(try store.reader(of: recording).contents.provenance.latest)
        return [facts.modelNumber, facts.firmwareRevision, facts.hardwareRevision, facts.softwareRevision]
    }

    /// A replay of a capture into a store of its own.
    private static func replay(
        _ file: [UInt8], _ profile: any HeadsetProfile
    ) throws -> (store: AcquisitionStore, report: ReplayRun.Report) {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "replay"))
        let capture = try Capture(btsnoop: file, notifying: profile.dataCharacteristics)
        let report = try ReplayRun(capture.contents, profile: profile).run(
            into: store, wanted: ReplayRun.Wanted(headset: "replay"),
            startUnixNanoseconds: capture.startUnixNanoseconds ?? 0)
        #expect(report.isComplete)
        return (store, report)
    }

    @Test("A capture from the first packet on is replayed to the same rows", arguments: HeadsetCatalog.builtIn.models)
    func fromTheBeginning(model: String) throws {
        let profile = try HeadsetCatalog.builtIn.profile(model: model)
        let specification = try #require(HeadsetSpecification.headset(ofModel: model))
        let recorded = try Self.record(specification, profile, capturing: 0...30)
        #expect(recorded.chunks.reduce(0) { $0 + $1.packetCount } > 100)
        let (replayed, report) = try Self.replay(recorded.capture, profile)
        #expect(report.foreignPieceCount == 0)
        let original = try recorded.store.audit(recording: recorded.recording)
        let again = try replayed.audit(recording: report.recording)
        #expect(original.findings.isEmpty && again.findings.isEmpty)
        #expect(original.streams.map(\.name) == again.streams.map(\.name))
        #expect(try Self.revisions(replayed, report.recording) == Self.revisions(recorded.store, recorded.recording))
        for stream in again.streams {
            // The capture may begin with samples that came before the link was ready, and ends before the recording does.
            let first = try Self.rows(recorded.store, recorded.recording, stream.name).map { $0.dropFirst() }
            let second = try Self.rows(replayed, report.recording, stream.name).map { $0.dropFirst() }
            #expect(second.count > 5)
            let beginning = first.prefix(5)
            let start = try #require(second.indices.first { second[$0...].starts(with: beginning) }, "\(stream.name)")
            let isEarly = SimulatedModel.all.contains { $0.profile.model == model && $0.sendsBeforeItIsReady }
            let limit = isEarly ? Int(second.count / 10) : 0
            #expect(start <= limit, "\(stream.name)")
            let different = zip(first, second[start...]).first { $0 != $1 }
            #expect(different == nil, "\(stream.name)")
            #expect(first.count >= second.count - start, "\(stream.name)")
        }
    }

    @Test("A capture of a link that is up already begins with how it came about, and takes nothing from the recording")
    func inTheMiddle() throws {
        let profile = MuseProfile()
        let recorded = try Self.record(.muse(number: 1), profile, capturing: 20...30)
        let capture = try Capture(btsnoop: recorded.capture, notifying: profile.dataCharacteristics)
        #expect(capture.unmappedCount == 0)
        #expect((8...11).contains(capture.duration.inSeconds))
        let start = try #require(capture.startUnixNanoseconds)
        #expect((80...83).contains((start - Self.unixOffset) / 1_000_000_000))
        let audit = try recorded.store.audit(recording: recorded.recording)
        #expect(audit.findings.isEmpty)
        #expect(audit.streams.allSatisfy { $0.missing == 0 })
    }

    /// A headset that describes its streams in its status, or tells there how many channels it has, has to be captured from its
    /// connection on.
    @Test(
        "A capture of a link that is up already is replayed to the rows since then",
        arguments: HeadsetCatalog.builtIn.profiles.filter { !$0.streams.isEmpty && $0.model != "cyton" }.map(\.model))
    func replayedFromTheMiddle(model: String) throws {
        let profile = try HeadsetCatalog.builtIn.profile(model: model)
        let specification = try #require(HeadsetSpecification.headset(ofModel: model))
        let recorded = try Self.record(specification, profile, capturing: 20...30)
        let (replayed, report) = try Self.replay(recorded.capture, profile)
        // The numbers differ: those of the replay begin with it.
        let first = try Self.rows(recorded.store, recorded.recording, "eeg").map { $0.dropFirst() }
        let second = try Self.rows(replayed, report.recording, "eeg").map { $0.dropFirst() }
        #expect(second.count * 5 > first.count, "10 s of 33")
        let beginning = Array(second.prefix(50))
        let start = try #require(first.indices.first { first[$0...].starts(with: beginning) })
        let different = zip(first[start...], second).first { $0 != $1 }
        #expect(different == nil)
    }

    @Test("A headset that counts over its links counts over a pause of any length, and is never given up")
    func countedPause() throws {
        let profile = BufferedEEGProfile()
        let specification = try #require(HeadsetSpecification.headset(ofModel: profile.model))
        let recorded = try Self.record(specification, profile, capturing: 0...30)
        var capture = try Capture(btsnoop: recorded.capture, notifying: profile.dataCharacteristics)
        for index in capture.pieces.indices where capture.pieces[index].time > .seconds(10) {
            capture.pieces[index].time += .seconds(4_000_000)
        }
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "replay"))
        let report = try ReplayRun(capture.contents, profile: profile).run(
            into: store, wanted: ReplayRun.Wanted(headset: "replay"), startUnixNanoseconds: 0)
        let audit = try store.audit(recording: report.recording)
        #expect(report.isComplete && audit.findings.isEmpty)
        #expect(audit.streams.allSatisfy { $0.missing == 0 && $0.rows > 0 })
        let first = try Self.rows(recorded.store, recorded.recording, "eeg")
        let second = try Self.rows(store, report.recording, "eeg")
        #expect(second.count > 1000 && zip(first, second).allSatisfy { $0 == $1 })
    }

    @Test("Nobody's request, another boot's, or one whose time is over ends without costing a batch")
    func ends() throws {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "captured"))
        try store.control.startRecording(headset: "left", model: "muse", at: .boot)
        #expect(throws: StorageError.self) {
            try store.control.start(CaptureID.self, headset: "right", at: .boot, until: .boot)
        }
        let over = try store.control.start(CaptureID.self, headset: "left", at: .boot, until: .boot + .seconds(1))
        let removed = try store.control.start(CaptureID.self, headset: "left", at: .boot, until: .boot + .seconds(90))
        let now = MonotonicTime.boot + .seconds(30)
        var limits = AcquisitionLimits()
        limits.wishesInterval = nil
        let driver = try VirtualDriver(
            central: SimulatedWorld(seed: 1, headsets: [.muse(number: 1)]).makeCentral(), store: store, limits: limits,
            seed: 1, lookUp: { _ in nil }, readClock: { _ in nil })
        var completed: [[Change]] = []
        driver.willCommit = { batch in
            completed.append(batch.changes.filter { if case .completed = $0 { true } else { false } })
            guard completed.count == 1 else { return }
            // Whoever asked takes it away before the commit.
            try? store.control.remove(removed)
            batch.changes += [.capture(CaptureChunk(capture: removed, packetCount: 1, records: [1]))]
        }
        for second in 0..<3 { for _ in 0..<3 { driver.step(at: now + .seconds(second)) } }
        #expect(completed.first == [.completed(.capture(over))])
        #expect(try store.control.takeCapture(over).isComplete)
        let gone = try store.control.takeCapture(removed)
        #expect(gone.chunks.isEmpty && gone.isComplete)
        driver.handle(.wishesChanged, at: now + .seconds(4))
        for second in 4..<7 { for _ in 0..<3 { driver.step(at: now + .seconds(second)) } }
        let later = completed.dropFirst().flatMap { $0 }
        #expect(later.isEmpty)
        // A new request clears away what is of no use to anyone.
        _ = try store.control.start(CaptureID.self, headset: "left", at: now + .seconds(60), until: now + .seconds(90))
        let open: [CaptureRequest] = try store.openRequests()
        #expect(open.count == 1)
        let next: [CaptureRequest] = try store.reopened(hostBoot: HostBoot(uuid: "next")).openRequests()
        #expect(next.map(\.isWanted) == [false])
    }
}
