import Bluetooth
import Capture
import Foundation
import Headsets
import Testing

@testable import eegsync

/// A directory with descriptors and captures, removed at the end.
private struct Workbench: ~Copyable {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "eegsync-headsets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory.appending(path: "headsets"), withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func write(_ name: String, _ text: String) throws -> String {
        let url = directory.appending(path: name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    /// Lines of a capture: packets of a counter and two instants of a sine, 100 a second; some are left out.
    func capture(leavingOut lost: Range<Int> = 0..<0, seconds: Int = 3) throws -> String {
        var lines = ""
        for packet in 0..<seconds * 100 where !lost.contains(packet) {
            var bytes = [UInt8(packet % 256)]
            for instant in 0..<2 {
                for channel in 0..<2 {
                    let phase = Double(packet * 2 + instant) / 200 * 2 * .pi * Double(channel + 1)
                    let value = UInt16(bitPattern: Int16((1000 * sin(phase)).rounded()))
                    bytes += [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)]
                }
            }
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            lines += "\(Double(packet) / 100)\tFE01\t\(hex)\n"
        }
        return try write("capture.txt", lines)
    }

    static let descriptor = """
        descriptor: 1
        model: bench
        name: Bench
        recognise: {name_prefixes: [Bench]}
        gatt: {services: [FE00], characteristics: {data: FE01}}
        timing: {packet_period_milliseconds: 10}
        streams:
          - {name: eeg, sampling_frequency_hertz: 200, counter: {samples_per_count: 2}, channels: [A, B], scale: 0.1}
        sources:
          - characteristic: data
            packets:
              - counter: {at: 0, type: u8}
                samples: {stream: eeg, at: 1, type: i16le, instants: 2}
        """
}

@Suite struct HeadsetsCommandTests {
    @Test func listShowsAllModelsWithWhereTheyComeFrom() throws {
        let bench = try Workbench()
        let own = try bench.write("headsets/bench.yaml", Workbench.descriptor)
        _ = try bench.write("headsets/second.yaml", Workbench.descriptor)
        _ = try bench.write("headsets/wrong.yaml", "model: 3")
        let config = bench.directory.appending(path: "eegsync.yaml").path
        let run = try ProgramRun(["headsets", "list", "--config", config, "--json"])
        #expect(run.exitCode == 0, "\(run.errors)")
        let models = try #require(try run.json()["models"] as? [[String: Any]])
        let names = models.compactMap { $0["model"] as? String }
        #expect(Array(names.prefix(HeadsetCatalog.builtIn.models.count)) == HeadsetCatalog.builtIn.models)
        #expect(names.contains("bench") && names.contains("openearable-exg") && !names.contains("cleio-template"))
        #expect(models.first { $0["model"] as? String == "bench" }?["origin"] as? String == own)
        let refused = try #require(try run.json()["refused"] as? [[String: Any]])
        let reasons = refused.compactMap { $0["reason"] as? String }
        #expect(reasons.contains("the model bench is described by \(own)"))
        #expect(reasons.contains { $0.contains("facts to be filled in") })
        #expect(refused.count == 3)
        #expect(try ProgramRun(["headsets"]).output.contains("Not used: shipped cleio-template.yaml"))
    }

    @Test func showPrintsFactsOrTheDescriptorItself() throws {
        let show = try ProgramRun(["headsets", "show", "openbci-nus"])
        #expect(show.output.contains("6e400003-b5a3-f393-e0a9-e50e24dcca9e") && show.output.contains("mod 256, counts samples"))
        let source = try ProgramRun(["headsets", "show", "cleio-template", "--source"])
        #expect(source.output.contains("!fill-in"))
        let ganglion = try ProgramRun(["headsets", "show", "ganglion"])
        #expect(ganglion.output.contains("impedance of    Ch1, Ch2, Ch3, Ch4, reference"))
        #expect(try ProgramRun(["headsets", "show", "muse", "--source"]).exitCode == 66)
        #expect(try !ProgramRun(["headsets", "show", "unicorn"]).output.contains("SETTING"))
    }

    @Test func showPrintsWhatAPersonMaySet() throws {
        let show = try ProgramRun(["headsets", "show", "hermes"])
        let line = try #require(show.output.split(separator: "\n").first { $0.hasPrefix("gain ") })
        for word in ["1 2 4 6 8 12 24", " 12 ", "8 channels", "Amplification of the channels"] { #expect(line.contains(word)) }
        let json = try ProgramRun(["headsets", "show", "explore", "--json"]).json()
        #expect(json["tells_identity_in_status"] as? Bool == false, "a key that other programs read")
        let settings = try #require(json["settings"] as? [[String: Any]])
        #expect(settings.map { $0["name"] as? String } == ["sampling_frequency"])
        #expect(settings.first?["values"] as? [String] == ["250", "500", "1000"])
        #expect(settings.first?["unit"] as? String == "Hz" && settings.first?["usual"] == nil)
        #expect(try ProgramRun(["headsets", "show", "nothing"]).exitCode == 66)
    }

    @Test func channelsThatAreReadInDifferentWaysHaveLinesOfTheirOwn() throws {
        let explore = try ProgramRun(["headsets", "show", "explore"]).output
        #expect(explore.contains(/X +× −0.152 uT\n/) && explore.contains(/Y Z +× 0.152 uT\n/), "\(explore)")
        #expect(explore.contains(/light +× 0.2442 lx\n/), "\(explore)")
        let ganglion = try ProgramRun(["headsets", "show", "ganglion"]).output
        #expect(ganglion.contains("9.9502 Hz") && ganglion.contains("query status "), "\(ganglion)")
    }

    @Test func aModelThatIsSeveralKindsSaysSo() throws {
        #expect(try ProgramRun(["headsets", "show", "muse"]).output.contains("its characteristics say"))
        #expect(try !ProgramRun(["headsets", "show", "ganglion"]).output.contains("its characteristics say"))
    }

    @Test func aTemplateIsNoModelAndSaysHowItBecomesOne() throws {
        let show = try ProgramRun(["headsets", "show", "cleio-template"])
        #expect(show.exitCode == 66 && show.errors.contains("--source > mine.yaml"), "\(show.errors)")
    }

    @Test func modelsFitANarrowTerminal() {
        let facts = HeadsetListFacts(HeadsetLibrary(directories: []))
        let lines = facts.lines(style: .plain, columns: 80)
        #expect(lines.allSatisfy { $0.displayWidth <= 80 }, "\(lines)")
        #expect(lines.contains { $0.contains("magnetometer,") && !$0.contains("explore") })
    }

    @Test func checkSaysWhyACaptureCannotBeReadAndWhatToDo() throws {
        let bench = try Workbench()
        let path = try bench.write("bench.yaml", Workbench.descriptor)
        let absent = try ProgramRun(["headsets", "check", path, "--against", "/absent.btsnoop"])
        #expect(absent.exitCode == 66)
        #expect(absent.output.contains("/absent.btsnoop cannot be read: No such file or directory."), "\(absent.output)")
        #expect(absent.output.contains("What you can do: check the path"))
        let directory = try ProgramRun(["headsets", "check", path, "--against", "/", "--json"])
        #expect(directory.exitCode == 66)
        #expect((try directory.json()["capture_problem"] as? String)?.contains("a directory") == true)
        let bytes = try bench.write("bytes", "\u{1}\u{2}\u{3}")
        let bare = try ProgramRun(["headsets", "check", path, "--against", bytes])
        #expect(bare.exitCode == 65 && bare.output.contains("take a capture of the format"), "\(bare.output)")
    }

    @Test func checkRefusesWithLineColumnAndKey() throws {
        let bench = try Workbench()
        let path = try bench.write("wrong.yaml", Workbench.descriptor.replacing("scale:", with: "scael:"))
        let run = try ProgramRun(["headsets", "check", path])
        #expect(run.exitCode == 65)
        #expect(run.output.contains("\(path):8:99  streams[0].scael\n    unknown key; did you mean 'scale'?"), "\(run.output)")
        let json = try ProgramRun(["headsets", "check", path, "--json"])
        #expect((try json.json()["problems"] as? [[String: Any]])?.count == 2)
        #expect(try ProgramRun(["headsets", "check", "/absent.yaml"]).exitCode == 66)
        let template = try bench.write("cleio.yaml", try ProgramRun(["headsets", "show", "cleio-template", "--source"]).output)
        let refused = try ProgramRun(["headsets", "check", template])
        #expect(refused.exitCode == 65 && refused.output.contains("facts still to be filled in"))
    }

    @Test func checkAgainstACaptureCountsAndDraws() throws {
        let bench = try Workbench()
        let path = try bench.write("bench.yaml", Workbench.descriptor)
        let capture = try bench.capture(leavingOut: 50..<53)
        let run = try ProgramRun(["headsets", "check", path, "--against", capture, "--json"])
        #expect(run.exitCode == 0, "\(run.errors)")
        let trial = try #require(try run.json()["trial"] as? [String: Any])
        let stream = try #require((trial["streams"] as? [[String: Any]])?.first)
        #expect(stream["samples"] as? Int == 594 && stream["lost"] as? Int == 6)
        #expect(abs((stream["measured_frequency"] as? Double ?? 0) - 200) < 0.5)
        #expect(trial["discarded_bytes"] as? Int == 0)
        let text = try ProgramRun(["headsets", "check", path, "--against", capture])
        let plot = text.output.unicodeScalars.count { (0x2801...0x28FF).contains($0.value) }
        #expect(text.output.contains(" 100 ") && text.output.contains(" uV ") && plot > 100, "\(text.output)")
        // The wrong width: what does not fit is told.
        let wrong = try bench.write(
            "wrong.yaml", Workbench.descriptor.replacing("- counter:", with: "- length: 10\n        counter:"))
        let misfit = try ProgramRun(["headsets", "check", wrong, "--against", capture])
        #expect(misfit.exitCode == 65 && misfit.output.contains("fit nothing and were dropped"), "\(misfit.output)")
        // A stated frequency that the capture denies.
        let slow = try bench.write("slow.yaml", Workbench.descriptor.replacing("hertz: 200", with: "hertz: 250"))
        let denied = try ProgramRun(["headsets", "check", slow, "--against", capture])
        #expect(denied.output.contains("another sampling frequency"))
    }

    @Test func aScaleWithANegativeOffsetIsASubtraction() throws {
        let show = try ProgramRun(["headsets", "show", "muse"])
        #expect(show.output.contains("× 0.488281 uV − 1000 uV") && !show.output.contains("+ -"), "\(show.output)")
    }

    @Test func aDescribedModelsChannelsAreCountedAndItsSerialPortNeedsNoWord() throws {
        let bench = try Workbench()
        _ = try bench.write(
            "headsets/bench.yaml", Workbench.descriptor.replacing("{data: FE01}}", with: "{data: FE01}, required: [data]}"))
        _ = try bench.write(
            "headsets/port.yaml",
            Workbench.descriptor.replacing("model: bench", with: "model: port")
                .replacing("{services: [FE00], characteristics: {data: FE01}}", with: "{services: [1101]}")
                .replacing("characteristic: data", with: "characteristic: serial_port"))
        func load(_ entries: String) throws -> Configuration {
            let config = try bench.write("eegsync.yaml", "database: /data/eeg.sqlite\nheadsets:\n\(entries)")
            return try ConfigurationFile.load(path: config)
        }
        let own = try load("  - {name: own, model: bench, montage: [C3, C4]}\n")
        #expect(own.headsets.first?.montage?.names == ["C3", "C4"])
        let refused = #expect(throws: ConfigurationError.self) {
            try load("  - {name: own, model: bench, montage: [C3, C4, Cz]}\n")
        }
        #expect(String(describing: refused).contains("there are 3 names for 2 channels"), "\(String(describing: refused))")
        let port = try load("  - {name: port, model: port, identifiers: [\"20:68:9D:00:13:24\"]}\n")
        #expect(port.headsets.first?.identifiers.map(\.addressType) == [.classic])
        #expect(port.hasSerialPorts)
    }

    @Test func aDescribedModelIsConfiguredAndReplayed() throws {
        let bench = try Workbench()
        _ = try bench.write("headsets/bench.yaml", Workbench.descriptor)
        let database = try RecordedDatabase()
        let config = try bench.write(
            "eegsync.yaml",
            "database: \(database.path)\nheadsets:\n  - {name: own, model: bench, identifiers: [\"00:55:DA:B0:13:24\"]}\n")
        let headset = try #require(try ConfigurationFile.load(path: config).headsets.first)
        #expect(headset.descriptor?.model == "bench" && headset.profile?.model == "bench")
        let replay = try ProgramRun(
            ["replay", try bench.capture(leavingOut: 50..<53), "--model", "bench", "--config", config, "--json"])
        #expect(replay.exitCode == 0, "\(replay.errors)")
        #expect(try replay.json()["rows"] as? Int == 594)
        let missing = try replay.json()["missing"] as? [[String: Any]] ?? []
        #expect(missing.map { $0["samples"] as? Int } == [6])
        _ = try bench.write("headsets/bench.yaml", "model: bench")
        #expect(throws: ConfigurationError.self) { try ConfigurationFile.load(path: config) }
        let run = try ProgramRun(["recordings", "--config", config])
        #expect(run.exitCode == 78 && run.errors.contains("eegsync headsets check"), "\(run.errors)")
    }
}

@Suite struct SignalPlotTests {
    @Test func aRampRisesFromTheLowestDotToTheHighest() {
        let lines = SignalPlot.lines((0..<8).map(Double.init), in: 0...7, rows: 2, columns: 4)
        #expect(lines.map(\.count) == [4, 4])
        #expect(lines[0].hasPrefix("  ") && lines[1].hasSuffix("  "), "\(lines)")
    }

    @Test func whatIsMissingIsBlankAndWhatIsFlatIsALine() {
        #expect(
            SignalPlot.lines([1, 1, nil, nil, 1, 1], in: 0...2, rows: 1, columns: 3)[0].map { $0 == " " } == [
                false, true, false,
            ])
        #expect(Set(SignalPlot.lines([5, 5, 5, 5], in: 5...5, rows: 1, columns: 2)[0]).count == 1)
        #expect(SignalPlot.lines([], in: 0...1, rows: 1, columns: 3) == ["   "])
    }

    @Test func timesStandWhereTheyBelong() {
        #expect(SignalPlot.timeLine(seconds: 4, columns: 40) == "0 s       1 s       2 s       3 s")
    }
}
