import Foundation
import GRDB
import Testing

@testable import Storage
@testable import eegsync

/// `eegsync merge`, as scripts run it.
@Suite struct MergeCommandTests {
    /// Two demos of one headset, in directories of their own.
    private static func demos() throws -> (directory: RecordedDatabase, here: String, other: String) {
        let directory = try RecordedDatabase()
        let paths = try [11, 12].map { seed in
            let path = directory.directory.appendingPathComponent("demo\(seed)").path
            let demo = try ProgramRun(["demo", "--directory", path, "--seconds", "40", "--seed", "\(seed)"])
            #expect(demo.exitCode == 0, "\(demo.errors)")
            return path + "/eegsync.sqlite"
        }
        return (directory, paths[0], paths[1])
    }

    @Test func anotherDatabaseComesInOnce() throws {
        let (directory, here, other) = try Self.demos()
        let rehearsed = try ProgramRun(["merge", other, "--database", here, "--dry-run"])
        #expect(rehearsed.exitCode == 0 && rehearsed.output.contains("Nothing was changed"), "\(rehearsed.errors)")
        let merged = try ProgramRun(["merge", other, "--database", here, "--json"])
        #expect(merged.exitCode == 0, "\(merged.errors)")
        let recording = try #require((try merged.json()["recordings"] as? [[String: Any]])?.first)
        #expect(recording["outcome"] as? String == "taken" && recording["recording"] as? Int == 2)
        #expect(try merged.json()["is_nothing_new"] as? Bool == false)
        let again = try ProgramRun(["merge", other, "--database", here])
        #expect(again.exitCode == 0 && again.output.contains("Nothing new"), "\(again.output)")
        let audit = try ProgramRun(["audit", "--database", here])
        #expect(audit.exitCode == 0, "\(audit.output)")
        // Under another number: what names it differs, and no sample does.
        let files = try [(here, "2"), (other, "1")].map { database, number in
            let file = directory.directory.appendingPathComponent("\(number).csv").path
            let export = try ProgramRun(["export", number, "--database", database, "-o", file])
            #expect(export.exitCode == 0, "\(export.errors)")
            return try Data(contentsOf: URL(fileURLWithPath: file))
        }
        #expect(files[0] == files[1])
    }

    @Test func anExportOfWhatCameInIsTheSameByteByByte() throws {
        let (directory, _, other) = try Self.demos()
        let here = directory.directory.appendingPathComponent("here.sqlite").path
        try ControlStore(path: here, hostBoot: try HostBoot.current()).close()
        #expect(try ProgramRun(["merge", other, "--database", here]).exitCode == 0)
        for format in ["edf", "csv", "xdf"] {
            let files = try [("here", here), ("there", other)].map { name, database in
                let folder = directory.directory.appendingPathComponent("\(name)-\(format)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let file = folder.appendingPathComponent("file.\(format)")
                let export = try ProgramRun(["export", "1", "--database", database, "-o", file.path])
                #expect(export.exitCode == 0, "\(export.errors)")
                return try Data(contentsOf: file)
            }
            #expect(files[0] == files[1], "\(format)")
        }
    }

    @Test func whatDiffersIsKeptAsideAndSaid() throws {
        let (directory, here, other) = try Self.demos()
        let copy = directory.directory.appendingPathComponent("copy.sqlite").path
        #expect(try ProgramRun(["export", "1", "--database", other, "-o", copy]).exitCode == 0)
        // A row that another program has changed is found by the audit, before anything comes in.
        let queue = try DatabaseQueue(path: copy)
        try queue.write { db in try db.execute(sql: "UPDATE sample SET c1 = c1 + 1 WHERE n = 100") }
        try queue.close()
        let refused = try ProgramRun(["merge", copy, "--database", here])
        #expect(refused.exitCode == 65 && refused.errors.contains("audit"), "\(refused.errors)")
        #expect(try ProgramRun(["merge", here, "--database", here]).exitCode == 64)
        #expect(try ProgramRun(["merge", copy + "-not", "--database", here]).exitCode == 66)
        #expect(try ProgramRun(["merge", directory.path, "--database", copy + "-not"]).exitCode == 66)
        // Nobody records meanwhile.
        let daemon = try AcquisitionStore(path: here, hostBoot: try HostBoot.current())
        #expect(try ProgramRun(["merge", other, "--database", here]).exitCode == 75)
        try daemon.close()
    }

    @Test func eachErrorHasItsExitCode() {
        let errors: [(MergeError, Int32)] = [
            (.sameDatabase(path: "/a"), 64), (.olderSchema(path: "/a"), 65), (.foreignSchema(path: "/a", detail: "d"), 65),
            (.damaged(path: "/a", detail: "d"), 65), (.auditFails(path: "/a", findings: ["f"]), 65),
            (.goesOn(recording: 1), 65),
            (.contradiction(path: "/a", recording: "u", detail: "d"), 65),
        ]
        for (error, code) in errors {
            let failure = Failure(error)
            #expect(failure.code.rawValue == code)
            #expect(!failure.consequence.isEmpty && !failure.remedy.isEmpty)
        }
    }

    @Test func differencesAreSaidInSentences() throws {
        let facts = try JSONSerialization.jsonObject(with: Data(MergeFacts.example.json().utf8)) as? [String: Any]
        #expect(facts?["agrees"] as? Bool == false)
        let stream = ((facts?["recordings"] as? [[String: Any]])?.first?["streams"] as? [[String: Any]])?.first
        #expect(stream?["rows_differing"] as? Int == 2 && stream?["rows_unproven"] as? Int == 30)
        let text = MergeFacts.example.lines(style: .plain).joined(separator: "\n")
        #expect(text.contains("2 samples of recording 3, eeg differ (n 150 to 180)"), "\(text)")
        #expect(text.contains("30 rows of recording 3, eeg from n 400 on were left"), "\(text)")
        #expect(text.contains("The headset left is left-2 here: another headset here has that name."), "\(text)")
        #expect(text.contains("1 correction of recording 3 came in withdrawn (12)"), "\(text)")
        #expect(text.contains("Recordings 3 and 1 have 200 samples of eeg of left-2 in common"), "\(text)")
    }

    @Test func whatATwinHadIsSaid() throws {
        var facts = MergeFacts.example
        facts.twins = [
            MergeFacts.Twin(
                recording: 3, otherRecording: 1, headset: "left", stream: "eeg", samplesShared: 0, samplesDiffering: 0,
                filledRecording: 1, rowsTaken: 1090, valuesFilled: 5, gapsClosed: 1),
            MergeFacts.Twin(
                recording: 3, otherRecording: 1, headset: "left", stream: "ppg", samplesShared: 7, samplesDiffering: 0,
                filledRecording: 1, contradiction: "arithmetic: a hole"),
        ]
        let text = facts.lines(style: .plain).joined(separator: "\n")
        let filled = "1,090 samples and 5 values of single channels that eeg of recording 1 lacked"
        #expect(text.contains(filled + " came in from recording 3; 1 gap closed."), "\(text)")
        #expect(!text.contains("0 samples of eeg") && text.contains("7 samples of ppg of left in common"), "\(text)")
        let refused = "Nothing came in to ppg of recording 1 from recording 3: its audit would not hold (arithmetic: a hole)."
        #expect(text.contains(refused), "\(text)")
        facts.isDryRun = true
        #expect(facts.lines(style: .plain).contains(filled + " would come in from recording 3; 1 gap closed."))
        let json = try JSONSerialization.jsonObject(with: Data(facts.json().utf8)) as? [String: Any]
        let twin = (json?["twins"] as? [[String: Any]])?.first
        #expect(twin?["filled_recording"] as? Int == 1 && twin?["rows_taken"] as? Int == 1090)
        #expect(twin?["values_filled"] as? Int == 5 && twin?["gaps_closed"] as? Int == 1)
    }

    /// The report of the storage, as the command says it.
    @Test func aTwinThatCouldNotBeFilledIsNoSuccess() {
        var report = MergeReport()
        #expect(MergeFacts(report, file: "o", database: "h", isDryRun: false).agrees)
        var twin = TwinComparison(recording: 2, other: 1, headset: "left", stream: "eeg", bank: 1)
        twin.fill = TwinFill(recording: 1, rows: 9, values: 0, gapsClosed: 1)
        report.twins = [twin]
        let filled = MergeFacts(report, file: "o", database: "h", isDryRun: false)
        #expect(filled.agrees && !filled.isNothingNew)
        #expect(filled.twins.first?.stream == "eeg-2" && filled.twins.first?.rowsTaken == 9)
        report.twins[0].fill = TwinFill(recording: 1, contradiction: "a hole")
        let refused = MergeFacts(report, file: "o", database: "h", isDryRun: false)
        #expect(!refused.agrees && refused.isNothingNew && refused.twins.first?.contradiction == "a hole")
    }
}

extension MergeFacts {
    /// A merge in which everything happened.
    fileprivate static var example: MergeFacts {
        var facts = MergeFacts(MergeReport(), file: "other.sqlite", database: "here.sqlite", isDryRun: false)
        facts.agrees = false
        facts.isNothingNew = false
        facts.recordings = [
            Recording(
                outcome: "taken", uuid: "u", recording: 3, recordingThere: 1, headset: "left-2", headsetThere: "left",
                isNewHeadset: true, isNothingNew: false, annotations: 1, annotationsContradicted: [12],
                streams: [
                    Stream(
                        stream: "eeg", rowsTaken: 10, valuesFilled: 0, rowsEqual: 5, rowsDiffering: 2, firstDifferingN: 150,
                        lastDifferingN: 180, rowsKeptAside: 2, gapsClosed: 0, unprovenFromN: 400, rowsUnproven: 30)
                ])
        ]
        facts.twins = [
            Twin(
                recording: 3, otherRecording: 1, headset: "left-2", stream: "eeg", samplesShared: 200, samplesDiffering: 1,
                firstDifferingN: 250, lastDifferingN: 250)
        ]
        return facts
    }
}
