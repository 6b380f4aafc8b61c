import ArgumentParser
import Bluetooth
import Foundation
import Storage

extension Record {
    /// `eegsync record start`.
    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start a recording.",
            discussion: """
                With --for the recording ends by itself. The end is written with it, and outlives kill -9 and a reboot: until \
                the machine reboots the clock that counts from its boot decides, which nobody sets, afterwards UTC. To stop it \
                before is up to you.

                With --wait the command ends when the first samples are stored: exit code 0. Where none are within \
                --wait-seconds it says why not: 75 where eegsync works on it, 69 where only a person can change it. The \
                recording stays wanted in each case.

                EXAMPLES
                  eegsync record start left
                  eegsync record start left --for 8h --wait
                  eegsync record start left --label "night 3" --subject P07 --task sleep
                  eegsync record start left --subject P07 --session 2 --run 1 --operator JB --set cap=M
                """)

        @Argument(help: "The headset's name in the configuration.")
        var headset: String

        @Option(name: .customLong("for"), help: ArgumentHelp("End it after so long: 90s, 30min, 8h, 3d.", valueName: "time"))
        var length: RecordingLength?

        @Flag(help: "End only when the first samples are stored.")
        var wait = false

        @Option(help: ArgumentHelp("How long --wait waits (1 ... 86400).", valueName: "seconds"))
        var waitSeconds: Int = 60

        @OptionGroup var details: RecordingDetailOptions

        @Option(help: "The headset's model, where no configuration says it; `eegsync headsets list` shows all of them.")
        var model: String?

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if !(1...86_400).contains(waitSeconds) { throw ValidationError("--wait-seconds must be 1 ... 86400.") }
        }

        func run() async throws {
            let path = try options.databasePath()
            let model = try options.model(
                of: headset, stated: model, database: path, consequence: "no recording was started.")
            let store = try options.openForControl(creates: true)
            let now = HostClock.now
            let end = length.map { now + $0.duration }
            let recording = try store.startRecording(
                headset: headset, model: model, details: details.stated + zone, until: end, at: now)
            var facts = RecordFacts(
                recording: recording.rawValue, headset: headset, desiredState: "recording",
                daemonPid: DaemonPresence.pid(database: path), isNamed: options.configuration(of: path) != nil)
            facts.endsUnixNanoseconds = end.map { $0.nanoseconds + HostClock.offset().offsetNanoseconds }
            facts.ends = facts.endsUnixNanoseconds.map(Quantity.utc)
            if wait {
                let first = FirstSamples(
                    recording: recording, headset: headset, database: path, configuration: options.configuration(of: path),
                    limit: .seconds(waitSeconds))
                facts.waitedSeconds = try await first.wait(since: now).inSeconds
            }
            try facts.print(asJSON: output.json, clock: times.clock)
        }

        /// The machine's time zone, where a person names no other.
        private var zone: [(field: RecordingField, value: String?)] {
            details.timeZone == nil ? [(.timeZone, TimeZone.current.identifier)] : []
        }
    }
}

/// How long a recording is to last: `90s`, `30min`, `8h`, `3d`; a second to a year.
struct RecordingLength: ExpressibleByArgument, Hashable {
    static let maximum = Duration.seconds(366 * 86_400)

    let duration: Duration

    init?(argument: String) {
        guard !argument.hasPrefix("-"), let duration = PastTime.span(argument), duration > .zero, duration <= Self.maximum
        else {
            return nil
        }
        self.duration = duration
    }
}
