import Acquisition
import Bluetooth
import Foundation
import Headsets
import Storage
import Tap
import Testing

@testable import eegsync

/// `eegsync tap`, the built program, beside a tap that says what a test wants.
@Suite(.timeLimit(.minutes(2))) struct TapCommandTests {
    private static let contents: [TapContent] = [
        .headset(
            TapHeadset(
                recording: RecordingID(rawValue: 3), headset: HeadsetID(rawValue: 1), name: "left", model: "muse")),
        .clock(
            ClockOffsetRecord(
                at: .boot, offsetNanoseconds: 1_772_406_000_000_000_000, stepNanoseconds: 0, isSynchronised: true)),
        .stream(
            NewStream(
                id: StreamID(rawValue: 5), recording: RecordingID(rawValue: 3), position: 0,
                description: StreamDescription(
                    name: "eeg", samplingFrequency: 256, counterModulus: nil,
                    channels: ["TP9", "AF7"].map {
                        ChannelDescription(name: $0, scale: 0.5, rawMinimum: 0, rawMaximum: 4095)
                    }))),
        .samples(
            TapSamples(
                rows: SampleRows(
                    stream: StreamID(rawValue: 5), channelCount: 2, firstN: 100, values: [1, 2, 3, 4], missingChannels: [0, 2]),
                time: TapTime(
                    first: MonotonicTime(nanoseconds: 7_000_000_000), periodNanoseconds: 3_906_250,
                    uncertaintyNanoseconds: nil),
                arrival: nil, isLate: false)),
        .gap(
            TapGap(
                entry: .open(
                    stream: StreamID(rawValue: 5), firstN: 102, channel: 0, count: nil, cause: .linkLost, noticed: .boot),
                time: nil)),
        .committed(TapCommit(through: 4, rows: [.init(stream: StreamID(rawValue: 5), firstN: 100, count: 2)])),
    ]

    /// Runs the command beside a tap that says everything and ends.
    private func run(_ arguments: String...) throws -> ProgramRun {
        let directory = try TestDirectory()
        let server = try TapServer(path: directory.path("tap"))
        server.start { [server] in
            for case .joined(let reader, let dropped) in server.takeNews() {
                let hello = TapMessage(
                    number: 0, at: .boot, content: .hello(TapHello(program: "1.2.3", droppedReaders: dropped)))
                server.greet(reader, with: [hello])
                server.publish(
                    Self.contents.enumerated().map { index, content in
                        TapMessage(number: UInt64(index + 1), at: MonotonicTime(nanoseconds: 8_000_000_000), content: content)
                    })
                server.stop()
            }
        }
        return try ProgramRun(["tap", "--socket", server.path, "--utc"] + arguments)
    }

    @Test func eachMessageIsALine() throws {
        let run = try run()
        #expect(run.exitCode == 75, "\(run.errors)")
        #expect(run.errors.contains("the tap at") && run.errors.contains("What you can do:"))
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 7, "\(run.output)")
        #expect(run.output.contains("2026-03-01 23:00:08.000 UTC  left eeg  n 100 ... 101: 3 -\n"), "\(run.output)")
        #expect(run.output.contains("left eeg  missing: from n 102 on (linkLost)\n"))
        #expect(run.output.contains("2 rows committed, everything said up to 4 is stored\n"))
    }

    @Test func eachMessageIsADocumentForPrograms() throws {
        let lines = try run("--json").output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(
            lines.map { $0["kind"] as? String } == ["hello", "headset", "clock", "stream", "samples", "gap", "committed"])
        let samples = lines[4]
        #expect(samples["n"] as? Int == 100 && samples["stream"] as? String == "eeg" && samples["headset"] as? String == "left")
        #expect(samples["time_unix_nanoseconds"] as? Int == 1_772_406_007_000_000_000)
        let rows = try #require(samples["rows"] as? [[Any]])
        #expect(rows[0] as? [Int] == [1, 2] && rows[1][0] as? Int == 3 && rows[1][1] is NSNull)
        #expect((lines[6]["committed"] as? [[String: Int]])?.first == ["stream_id": 5, "first_n": 100, "count": 2])
    }

    @Test func aHeadsetCanBeChosen() throws {
        #expect(try run("left").output.split(separator: "\n").count == 7)
        // What concerns no headset is said all the same.
        #expect(try run("right").output.split(separator: "\n").count == 3)
    }

    @Test func whereNobodyListensItSaysSo() throws {
        let run = try ProgramRun(["tap", "--socket", "/absent/tap"])
        #expect(run.exitCode == 69)
        #expect(run.errors.contains("nobody offers a tap at /absent/tap"))
    }

    @Test func theTapIsInTheRuntimeDirectoryElseBesideTheDatabase() throws {
        #expect(
            TapLocation.path(of: "/d/x.sqlite", environment: ["RUNTIME_DIRECTORY": "/run/eegsync:/b"]) == "/run/eegsync/tap")
        #expect(TapLocation.path(of: "/d/x.sqlite", environment: [:]) == "/d/x.sqlite-tap")
        #expect(TapLocation.readerPath(of: "/absent/x", environment: [:]) == "/run/eegsync/tap")
        #expect(TapLocation.readerPath(of: nil, environment: ["EEGSYNC_TAP": "/t"]) == "/t")
        let directory = try TestDirectory()
        try directory.write("", to: "x-tap")
        #expect(TapLocation.readerPath(of: directory.path("x"), environment: [:]) == directory.path("x-tap"))
    }
}
