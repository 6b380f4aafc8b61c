import Bluetooth
import Capture
import Headsets
import Rehearsal
import Storage
import Testing

/// What is in a capture is in the database: every sample, at its time, whatever the capture leaves out.
struct ReplayExactnessTests {
    private static let start: Int64 = 1_700_000_000_000_000_000

    /// A replay, and what it stored.
    private struct Replayed {
        let store: AcquisitionStore
        let report: ReplayRun.Report

        init(
            _ pieces: [Capture.Piece], _ profile: any HeadsetProfile, given: [Capture.Piece] = [], haveTimes: Bool = true
        ) throws {
            store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "replay"))
            report = try ReplayRun(Capture(pieces: pieces).contents, profile: profile, given: given).run(
                into: store, wanted: ReplayRun.Wanted(headset: "replay"), startUnixNanoseconds: ReplayExactnessTests.start)
            #expect(report.isComplete)
            if haveTimes { #expect(try store.audit(recording: report.recording).findings == []) }
        }

        var sums: [AuditReport.StreamSums] { get throws { try store.audit(recording: report.recording).streams } }

        /// The rows of a stream: n, and the first channel.
        func rows(_ name: String, bank: Int = 0) throws -> [(n: Int64, value: Int32)] {
            let reader = try store.reader(of: report.recording)
            let stream = try #require(
                reader.contents.streams.first { $0.description.name == name && $0.description.bank == bank })
            let width = stream.description.channels.count
            var rows: [(Int64, Int32)] = []
            try reader.forEachChunk(of: stream.id, in: 0...Int64.max, rowsPerChunk: 1000) { chunk in
                for (row, n) in chunk.n.enumerated() { rows.append((n, chunk.values[row * width])) }
            }
            return rows
        }
    }

    /// Frames of a Cyton, five in a piece, each piece at the time of its last frame; the first channel counts them.
    private static func cyton(_ numbers: Range<Int>, at seconds: Double = 0) -> [Capture.Piece] {
        stride(from: numbers.lowerBound, to: numbers.upperBound, by: 5).map { first in
            let frames = (first..<min(first + 5, numbers.upperBound)).map { number in
                CytonFrame(number: UInt8(truncatingIfNeeded: number), eeg: [Int32(number), 1, 2, 3, 4, 5, 6, 7]).encoded()
            }
            let elapsed = seconds + Double(first - numbers.lowerBound) / CytonProfile.frameFrequency
            return Capture.Piece(
                time: .nanoseconds(Int64(elapsed * 1e9)), characteristic: .serialPort, value: frames.flatMap { $0 })
        }
    }

    @Test("Without its dialogue a Cyton's capture is stored from the first frame on")
    func noDialogue() throws {
        let replayed = try Replayed(Self.cyton(0..<5000), CytonProfile())
        #expect(try replayed.rows("eeg").map(\.value) == (0..<5000).map { Int32($0) })
        #expect(replayed.report.discardedByteCount == 0)
        #expect(!replayed.report.isDescribed)
    }

    @Test("A Daisy's dialogue makes two banks, wherever it stands", arguments: [0, 0.5])
    func daisy(seconds: Double) throws {
        let dialogue = Capture.Piece(
            time: .milliseconds(Int64(seconds * 1000)), characteristic: .serialPort, value: Array("16$$$".utf8))
        let first = Capture.Piece(time: .zero, characteristic: .serialPort, value: [])
        let replayed = try Replayed(
            [first, dialogue] + Self.cyton(1..<3001, at: seconds + 0.1), CytonProfile())
        #expect(try replayed.rows("eeg").map(\.value) == stride(from: 1, to: 3001, by: 2).map { Int32($0) })
        #expect(try replayed.rows("eeg", bank: 1).map(\.value) == stride(from: 2, to: 3001, by: 2).map { Int32($0) })
        #expect(try replayed.sums.allSatisfy { $0.missing == 0 })
        #expect(replayed.report.isDescribed)
    }

    @Test("What a person says of the headset counts as if it had said so; half an instant is said to be left out")
    func given() throws {
        let given = Capture.Piece(time: .zero, characteristic: .serialPort, value: Array("16$$$".utf8))
        let replayed = try Replayed(Self.cyton(0..<3000), CytonProfile(), given: [given])
        #expect(try replayed.rows("eeg").count == 1500)
        #expect(try replayed.rows("eeg", bank: 1).count == 1499)
        #expect(replayed.report.discardedByteCount == CytonFrame.length)
    }

    @Test(
        "After a pause of any length everything is stored, and the gap is as long as the pause",
        arguments: [2.1, 3.3, 5.6, 7.9, 20, 86_400, 31_536_000])
    func pause(seconds: Double) throws {
        let dialogue = Capture.Piece(time: .zero, characteristic: .serialPort, value: Array("16$$$".utf8))
        let pieces = [dialogue] + Self.cyton(1..<3001, at: 0.1) + Self.cyton(3001..<6001, at: 12.1 + seconds)
        let replayed = try Replayed(pieces, CytonProfile())
        // What the headset said before the pause holds behind it.
        #expect(try replayed.rows("eeg").map(\.value) == stride(from: 1, to: 6001, by: 2).map { Int32($0) })
        #expect(try replayed.rows("eeg", bank: 1).map(\.value) == stride(from: 2, to: 6001, by: 2).map { Int32($0) })
        let gaps = try replayed.store.gaps(of: replayed.report.recording)
        #expect(gaps.map(\.cause) == ["silence", "silence"])
        for gap in gaps { #expect(abs(Double(gap.count ?? 0) - seconds * 125) <= 6) }
    }

    @Test("An Explore's capture is stored from the first packet on, before it has told what it is")
    func explore() throws {
        let pieces = (0..<200).map { number in
            let instants = (0..<10).map { instant in (0..<8).map { Int32((number * 10 + instant) * 8 + $0) } }
            let packet = ExplorePacket(
                kind: .eeg8, number: UInt8(number & 0xFF), ticks: UInt64(number) * 4000,
                content: ExplorePacket.content(ofInstants: instants, frequencyCode: 6))
            return Capture.Piece(
                time: .milliseconds(40 * number), characteristic: ExploreService.explorePro.data, value: packet.encoded())
        }
        let pause = pieces.count / 2
        let late = pieces[pause...].map {
            Capture.Piece(time: $0.time + .seconds(20), characteristic: $0.characteristic, value: $0.value)
        }
        for pieces in [pieces, pieces[..<pause] + late] {
            let replayed = try Replayed(pieces, ExploreProfile())
            #expect(try replayed.rows("eeg").map(\.value) == (0..<2000).map { Int32($0 * 8) })
            #expect(replayed.report.discardedByteCount == 0)
        }
    }

    @Test("The time of a sample is that of its notification")
    func times() throws {
        let replayed = try Replayed(Self.cyton(0..<5000), CytonProfile())
        let summary = try #require(try replayed.store.recordings().first)
        let first = try #require(summary.startUnixNanoseconds)
        // Five frames came at once, the last of them when they arrived.
        #expect(abs(first + 16_000_000 - Self.start) < 2_000_000)
    }

    @Test("Where the capture tells that a link ended, the headset counts anew behind it")
    func links() throws {
        var pieces = Self.cyton(0..<1000)
        var later = Self.cyton(1037..<2037, at: 5)
        later[0].beginsLink = true
        pieces += later
        let replayed = try Replayed(pieces, CytonProfile())
        #expect(try replayed.rows("eeg").map(\.value) == (Array(0..<1000) + Array(1037..<2037)).map { Int32($0) })
        let gaps = try replayed.store.gaps(of: replayed.report.recording)
        #expect(gaps.map(\.cause) == ["linkLost"])
        #expect(abs((gaps.first?.count ?? 0) - 250) <= 6)
    }

    @Test("Any number of samples may come at one instant")
    func burst() throws {
        let pieces = Self.cyton(0..<200_000).map {
            Capture.Piece(time: .zero, characteristic: $0.characteristic, value: $0.value)
        }
        // Nothing can be said of the times.
        let replayed = try Replayed(pieces, CytonProfile(), haveTimes: false)
        #expect(try replayed.sums.first?.rows == 200_000)
    }

    @Test("One of several characteristics that is silent does not cost the others anything")
    func vital() throws {
        let pieces = (0..<600).map { number in
            let value = [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] + [UInt8](repeating: 0x80, count: 18)
            return Capture.Piece(
                time: .microseconds(46_875 * Int64(number)), characteristic: MuseService.eeg[number < 100 ? number % 2 : 0],
                value: value)
        }
        let replayed = try Replayed(pieces, MuseProfile())
        #expect(try replayed.rows("eeg").count == 7200)
    }
}
