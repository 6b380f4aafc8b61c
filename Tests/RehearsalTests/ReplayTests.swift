import Bluetooth
import Capture
import Headsets
import Rehearsal
import Simulation
import Storage
import Testing

/// Captures, played through the whole acquisition.
struct ReplayTests {
    /// One second of a ThinkGear headset: 512 raw frames and the frame of powers.
    private static func second(_ number: Int, damagingPower: Bool = false, damagingRaw: Set<Int> = []) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<512 {
            var frame = ThinkGearFrame.raw(Int16(number * 512 + index)).encoded()
            if damagingRaw.contains(index) { frame[5] ^= 0x10 }
            bytes += frame
        }
        var power = ThinkGearFrame.power(
            poorSignal: 0, power: (0..<8).map { UInt32(number * 8 + $0) }, attention: UInt8(number), meditation: 50
        ).encoded()
        if damagingPower { power[10] ^= 1 }
        return bytes + power
    }

    private static func replay(_ capture: Capture, into given: AcquisitionStore? = nil) throws -> (
        ReplayRun.Report, AcquisitionStore
    ) {
        let store = try given ?? AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "replay"))
        let run = ReplayRun(capture.contents, profile: ThinkGearProfile())
        let report = try run.run(
            into: store, wanted: ReplayRun.Wanted(headset: "replay"), startUnixNanoseconds: 1_700_000_000_000_000_000)
        return (report, store)
    }

    private static func sums(_ store: AcquisitionStore, _ recording: RecordingID) throws -> [String: AuditReport.StreamSums] {
        let audit = try store.audit(recording: recording)
        #expect(audit.findings == [])
        return Dictionary(uniqueKeysWithValues: audit.streams.map { ($0.name, $0) })
    }

    @Test("Everything that was captured is stored, and the recording ends with it")
    func complete() throws {
        let (report, store) = try Self.replay(Capture(byteStream: (0..<5).flatMap { Self.second($0) }))
        #expect(report.isComplete)
        let sums = try Self.sums(store, report.recording)
        #expect(sums["eeg"]?.rows == 2560)
        #expect(sums["power"]?.rows == 5)
        #expect(sums["esense"]?.rows == 5)
        #expect(try store.gaps(of: report.recording).isEmpty)
        let summary = try #require(try store.recordings().first)
        #expect(summary.state == .stopped)
        let start = try #require(summary.startUnixNanoseconds)
        #expect(abs(start - 1_700_000_000_000_000_000) < 50_000_000)
    }

    @Test("Damaged frames are ledgered where they were: before the first good one, in between, and after the last")
    func damage() throws {
        let bytes = (0..<6).flatMap { number in
            Self.second(number, damagingPower: [0, 3, 4].contains(number), damagingRaw: number == 2 ? [7, 8, 100] : [])
        }
        // A few good raw frames behind the last power frame, whose damage only they can show.
        let tail = (0..<3).flatMap { ThinkGearFrame.raw(Int16($0)).encoded() }
        let (report, store) = try Self.replay(
            Capture(byteStream: bytes + Self.second(6, damagingPower: true) + tail))
        let sums = try Self.sums(store, report.recording)
        // Seven seconds and the tail, less three.
        #expect(sums["eeg"]?.rows == 3584)
        #expect(sums["eeg"]?.missing == 3)
        for name in ["power", "esense"] {
            #expect(sums[name]?.rows == 3, "\(name)")
            #expect(sums[name]?.missing == 4, "\(name)")
            let gaps = try store.gaps(of: report.recording).filter { $0.stream == name }
            #expect(gaps.map(\.firstN) == [0, 3, 6], "\(name)")
            #expect(gaps.allSatisfy { $0.cause == "packetDamaged" })
        }
        #expect(try store.gaps(of: report.recording).filter { $0.stream == "eeg" }.map(\.firstN) == [1031, 1124])
    }

    @Test("A headset that sends its signal quality (code 02) alone loses none")
    func partialRows() throws {
        let frames = (0..<5).flatMap { number in
            Array((0..<512).flatMap { ThinkGearFrame.raw(Int16($0)).encoded() })
                + ThinkGearFrame(payload: [0x02, UInt8(number)]).encoded()
        }
        let (report, store) = try Self.replay(Capture(byteStream: frames))
        let sums = try Self.sums(store, report.recording)
        #expect(sums["esense"]?.rows == 5)
        #expect(try store.gaps(of: report.recording).filter { $0.channel == 1 }.isEmpty)
        #expect(try store.gaps(of: report.recording).filter { $0.channel == 2 }.map { $0.count } == [5])
    }

    @Test("A pause that is longer than a headset is ever silent becomes a gap")
    func pause() throws {
        var capture = Capture(byteStream: (0..<3).flatMap { Self.second($0) })
        let later = Capture(byteStream: (3..<10).flatMap { Self.second($0) })
        for piece in later.pieces {
            capture.pieces.append(
                Capture.Piece(
                    time: piece.time + .seconds(13), characteristic: piece.characteristic, value: piece.value))
        }
        let (report, store) = try Self.replay(capture)
        let sums = try Self.sums(store, report.recording)
        // Ten seconds without samples, and whatever passes until the link is up again.
        let missing = try #require(sums["eeg"]?.missing)
        #expect((5000...6000).contains(missing))
        #expect(try store.gaps(of: report.recording).first { $0.stream == "eeg" }?.cause == "silence")
    }

    @Test("A replay that was interrupted is ended by the next one, once a person has stopped it")
    func interrupted() throws {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "replay"))
        try store.control.startRecording(headset: "replay", model: "thinkgear", at: .boot)
        let capture = Capture(byteStream: Self.second(0))
        #expect(throws: StorageError.self) { try Self.replay(capture, into: store) }
        try store.control.stopRecording(headset: "replay", at: .boot)
        #expect(try Self.replay(capture, into: store).0.isComplete)
        #expect(try store.recordings().map(\.state) == [.stopped, .stopped])
    }
}
