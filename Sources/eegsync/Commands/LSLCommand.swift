import Acquisition
import ArgumentParser
import Bluetooth
import Foundation
import Storage
import Tap

/// `eegsync lsl`: what is recorded as streams of Lab Streaming Layer, and markers from there.
struct LSLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lsl",
        abstract: "Offer what is recorded as streams of Lab Streaming Layer, and take markers from there.",
        discussion: """
            An outlet for each stream of each headset that is recorded, with the time of every sample in LSL's clock, and one \
            for marks. What comes late from a headset's memory has an outlet of its own. It reads the daemon's tap and cannot \
            disturb it, and may be killed at any time: the same source_id comes back, and inlets go on.

            With --markers each marker of that stream becomes an annotation of the recordings that run, as `eegsync mark` \
            writes it, at the instant that LSL's time correction gives.

            Needs liblsl 1.14 or later. Runs until it is ended.

            EXAMPLES
              eegsync lsl
              eegsync lsl --markers PsychoPy
              eegsync lsl --markers "type='Markers' and hostname='lab-2'"
            """)

    @Option(
        help: ArgumentHelp(
            "Take markers from this stream: its name, or a predicate. May be given several times.", valueName: "stream"))
    var markers: [String] = []

    @Option(help: ArgumentHelp("The file of liblsl. Without it: where the system finds it.", valueName: "path"))
    var library: String?

    @Option(
        help: ArgumentHelp("The daemon's socket; see eegsync tap.", valueName: "path"))
    var socket: String?

    @OptionGroup var options: DatabaseOptions

    /// How soon the daemon is looked for again.
    private static let retrySeconds = 0.5

    func run() throws {
        let liblsl: LSLLibrary
        do throws(LSLError) { liblsl = try LSLLibrary(path: library) } catch { throw Failure(lsl: error) }
        let configured = (try? options.configurationIfPresent())?.lslMarkers ?? []
        let marker = MarkWriter(options, log: Self.say)
        for stream in markers.isEmpty ? configured : markers {
            LSLMarkers(liblsl, stream: stream, mark: { marker.write($0, at: $1) }, log: Self.say).start()
        }
        let path = socket ?? TapLocation.readerPath(of: try? options.databasePath())
        let options = options
        var publisher = LSLPublisher(
            makeOutlet: { (header, channelCount, isDouble) throws(LSLError) in
                try LSLOutlet(liblsl, header: header, channelCount: channelCount, isDouble: isDouble)
            },
            contents: { recording in
                guard let store = try? options.openReadOnly(), let reader = try? store.reader(of: recording) else { return nil }
                return reader.contents
            }, clock: { LSLClock(liblsl) })
        var isAway = false
        while true {
            do throws(TapConnectionError) {
                let connection = try TapConnection(path: path)
                isAway = false
                Self.say("reads the tap at \(path), liblsl \(liblsl.version / 100).\(liblsl.version % 100)")
                try follow(connection, &publisher)
            } catch {
                if case .nobodyListens = error {} else { throw Failure(tap: error) }
            }
            if !isAway { Self.say("the daemon does not run; waiting for it") }
            isAway = true
            Thread.sleep(forTimeInterval: Self.retrySeconds)
        }
    }

    private func follow(_ connection: TapConnection, _ publisher: inout LSLPublisher) throws(TapConnectionError) {
        var (decoder, offered) = (TapDecoder(), [String]())
        while let message = try connection.next(&decoder) {
            do throws(LSLError) {
                try publisher.take(message)
            } catch {
                Self.say("\(Failure(lsl: error).problem)")
            }
            guard publisher.offered != offered else { continue }
            offered = publisher.offered
            Self.say(offered.isEmpty ? "offers nothing" : "offers \(offered.joined(separator: ", "))")
        }
    }

    @Sendable private static func say(_ line: String) {
        StandardError.write("eegsync lsl: \(line.printable)\n")
    }
}
