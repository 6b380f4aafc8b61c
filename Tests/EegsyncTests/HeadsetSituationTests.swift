import Bluetooth
import Headsets
import Storage
import Testing

@testable import eegsync

/// What is said of a headset that is wanted.
@Suite struct HeadsetSituationTests {
    private static func activity(_ state: String?, cause: String? = nil, detail: String? = nil) throws -> HeadsetActivity {
        let database = try RecordedDatabase()
        try database.record()
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        var activity = try #require(try store.headsets(at: HostClock.now).first { $0.name == "left" })
        (activity.state, activity.stateCause, activity.stateDetail) = (state, cause, detail)
        return activity
    }

    @Test func whatStreamsIsNotSaidToBeUnrecordedBecauseTheConfigurationDoesNotNameItAnyMore() throws {
        let streaming = try Self.activity("streaming")
        let unnamed = HeadsetSituation(streaming, isDaemonRunning: true, isConfigured: false)
        #expect(unnamed.severity == .good && unnamed.severity.exitCode == 0)
        #expect(unnamed.sentence.hasPrefix("streams, but the configuration does not name it"), "\(unnamed.sentence)")
        #expect(unnamed.remedy == "name it there, then: systemctl reload eegsync")
        #expect(HeadsetSituation(streaming, isDaemonRunning: true, isConfigured: true).sentence == "streams")
        // Where no process has it, nothing will.
        var around = HeadsetSituation.Surroundings(isDaemonRunning: true, isConfigured: false)
        around.isOutdated = true
        for situation in [
            HeadsetSituation(streaming, isDaemonRunning: false, isConfigured: false), HeadsetSituation(streaming, around),
            HeadsetSituation(try Self.activity("stopped"), isDaemonRunning: true, isConfigured: false),
        ] {
            #expect(situation.severity == .waiting, "\(situation)")
            #expect(situation.sentence.contains("the configuration names no such headset"), "\(situation)")
        }
    }

    @Test func anotherSerialNumberIsSaidWithWhatToDo() throws {
        let situation = HeadsetSituation(
            try Self.activity("quarantined", cause: "otherSerialNumber", detail: "SIM-1"), isDaemonRunning: true,
            isConfigured: true)
        #expect(situation.severity == .waiting)
        #expect(situation.sentence.contains("another serial number than SIM-1"), "\(situation.sentence)")
        #expect(situation.remedy?.contains("eegsync headsets rename") == true)
    }

    @Test(arguments: [
        "-x", ".", "..", "latest", "12", "", " ", "a b", "../x", "a\nb\u{1B}[31m", String(repeating: "x", count: 20_000),
    ])
    func whatIsNoNameOfAHeadsetIsRefused(name: String) throws {
        #expect(!Configuration.isHeadsetName(name))
        let database = try RecordedDatabase()
        let run = try ProgramRun(
            ["record", "start", "--model", "buffered-eeg", "--database", database.path, "--", name])
        #expect(run.exitCode == 64, "\(run.errors)")
        #expect(!run.errors.contains("\u{1B}"))
        // Who has configured one of the first five already goes on with it.
        let isConfigurable = Configuration.isPlainName(name)
        #expect(isConfigurable == ["-x", ".", "..", "latest", "12"].contains(name))
        #expect(problems(configuration(headset: "{name: '\(name)', model: buffered-eeg}")).isEmpty == isConfigurable)
    }

    @Test func aHeadsetThatHasSuchANameKeepsIt() throws {
        #expect(["left", "12a", "subject-01", "a.b", "latest-2"].allSatisfy(Configuration.isHeadsetName))
        let database = try RecordedDatabase()
        let store = try ControlStore(path: database.path, hostBoot: try HostBoot.current())
        try store.startRecording(headset: "12", model: "buffered-eeg", at: HostClock.now)
        try store.close()
        #expect(try ProgramRun(["record", "stop", "12", "--database", database.path]).exitCode == 0)
        let again = try ProgramRun(["record", "start", "12", "--model", "buffered-eeg", "--database", database.path])
        #expect(again.exitCode == 0, "\(again.errors)")
        let renamed = try ProgramRun(["headsets", "rename", "12", "left", "--database", database.path])
        #expect(renamed.exitCode == 0, "\(renamed.errors)")
        #expect(try ProgramRun(["headsets", "rename", "left", "13", "--database", database.path]).exitCode == 64)
    }
}
