import ArgumentParser
import BlueZ
import Bluetooth
import BluetoothManagement
import Foundation
import Headsets
import Simulation

/// `eegsync imitate`: a simulated or recorded headset as a real peripheral.
struct Imitate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Be a headset: advertise, be connected, and send what a real one would.",
        discussion: """
            The headset lives on an adapter of this machine, through bluetoothd, until Ctrl-C. Another machine, or `eegsync \
            run` with another adapter of this one (`central: {adapter: hci0}`), records it over real radio. So you can try \
            your room, your adapters and your configuration without a headset, and with faults.

            Models: \(ImitatedModel.names).

            A database plays one of its recordings again, of \(ImitatedRecording.names): from its beginning, or --from a later \
            instant of it, when the headset is started, to its end, or again and again with --repeat.

            Faults, which take turns: \(ImitatedFault.names).

            EXAMPLES
              eegsync imitate muse --adapter hci1
              eegsync imitate buffered-eeg --fault away --every 60 --for 20
              eegsync imitate muse --seconds 600 --played truth.csv
              eegsync imitate night.sqlite --recording 3 --from 90min --repeat
            """)

    /// How often it is looked whether a person wants the end.
    private static let tick = Duration.milliseconds(100)
    /// How often what was measured is written.
    private static let writeInterval = Duration.seconds(1)

    /// After the end of a recording, for what still waits to be sent.
    private static let lastWords = Duration.seconds(2)

    @Argument(
        help: ArgumentHelp("The model, or a database.", valueName: "model|file"), completion: .file(extensions: ["sqlite"]))
    var source: String

    @Option(help: ArgumentHelp("Which recording of the database. \(RecordingName.words)", valueName: "recording"))
    var recording: RecordingName?

    @Option(
        help: ArgumentHelp(
            "How much of the recording's beginning is passed over: 90s, 90min, 8h.", valueName: "length"))
    var from: RecordingLength?

    @Flag(name: .customLong("repeat"), help: "Begin the recording again each time that it ends.")
    var repeats = false

    @Option(help: ArgumentHelp("The adapter: hci1, or its address. Without it: the first that is on.", valueName: "adapter"))
    var adapter: String?

    @Option(help: "Which headset of the model, by its name and serial number (1 ... 99). Without it: 1.")
    var number: Int?

    @Option(help: ArgumentHelp("The name that it advertises, instead of the model's usual one.", valueName: "name"))
    var name: String?

    @Option(help: "Decides what it measures. Without it: 1.")
    var seed: UInt64?

    @Option(help: "For how long (1 ... 2592000). Without it: until Ctrl-C, or the end of what is not repeated.")
    var seconds: Int?

    @Option(help: ArgumentHelp("What goes wrong; may be repeated.", valueName: "fault"))
    var fault: [String] = []

    @Option(help: "So many seconds from one fault to the next (1 ... 86400).")
    var every = 60

    @Option(name: .customLong("for"), help: "So many seconds a fault lasts (1 ... 86400).")
    var duration = 10

    @Option(
        help: ArgumentHelp("Write what it measures into a new file, as CSV.", valueName: "path"),
        completion: .file(extensions: ["csv"]))
    var played: String?

    @Flag(help: "Overwrite that file.")
    var force = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if isFile {
            if number != nil || seed != nil {
                throw ValidationError("--number and --seed are for models; of a database --recording chooses.")
            }
        } else {
            _ = try ImitatedModel.named(source)
            let options = [
                ("--recording", recording != nil), ("--from", from != nil), ("--repeat", repeats),
            ]
            for (option, isGiven) in options where isGiven {
                throw ValidationError("\(option) is for databases; '\(source)' is a model.")
            }
        }
        for word in fault where ImitatedFault(word) == nil {
            throw ValidationError("'\(word)' is no fault of a headset; there are \(ImitatedFault.names).")
        }
        if let number, !(1...99).contains(number) { throw ValidationError("--number must be 1 ... 99.") }
        if !(1...86_400).contains(every) { throw ValidationError("--every must be 1 ... 86400.") }
        if !(1...86_400).contains(duration) { throw ValidationError("--for must be 1 ... 86400.") }
        if let seconds, !(1...2_592_000).contains(seconds) { throw ValidationError("--seconds must be 1 ... 2592000.") }
        // What remains of an advertisement of 31 bytes behind the flags.
        if let name, !(1...26).contains(name.utf8.count) { throw ValidationError("--name takes 1 ... 26 bytes.") }
    }

    func run() async throws {
        let played =
            try isFile
            ? ImitatedRecording(
                database: source, recording: recording ?? .latest, from: from?.duration ?? .zero, repeats: repeats) : nil
        let imitated = try played?.model ?? ImitatedModel.named(source)
        var specification = played?.specification ?? imitated.make(number ?? 1)
        if let name { specification.localName = name }
        let start = HostClock.now
        let streams = played?.streams ?? imitated.streams
        let headset = ImitatedHeadset(specification, streams: streams, seed: seed ?? 1, tape: played?.tape, start: start)
        let faults = fault.compactMap { ImitatedFault($0) }
        let schedule = FaultSchedule(faults, every: .seconds(every), for: .seconds(duration), start: start)
        var imitation = Imitation(headset, schedule: schedule, start: start)
        let session = PeripheralSession(adapter: adapter, lock: AdapterLock(respect: .everybody))
        if !BluetoothdPresence.isOnBus() { throw failure(session) }
        let file = try self.played.map {
            try PlayedFile(
                path: $0, streams: headset.streams, replacesExisting: force, sparing: isFile ? source : nil)
        }
        try await Interruption.run { interruption in
            try await play(&imitation, on: session, file, interruption)
        }
        if let failure = played?.failure { throw failure }
        let peripheral = session.peripheral
        let facts = ImitateFacts(
            model: imitated.name, recording: played?.number, name: specification.localName, serial: specification.serialNumber,
            adapter: peripheral.adapter?.name, address: peripheral.adapter?.address,
            seconds: (HostClock.now - start).inSeconds, connections: imitation.connectionCount,
            notifications: imitation.notificationCount, tooLong: imitation.tooLongCount, dropped: peripheral.droppedCount,
            faults: headset.faults.occurred.map { .init(fault: $0.fault.name, count: $0.count) }, played: file?.path,
            rows: file?.rowCount)
        try facts.print(asJSON: output.json)
    }

    /// Plays until a person has enough, or the time is over.
    private func play(
        _ imitation: inout Imitation, on session: PeripheralSession, _ file: PlayedFile?, _ interruption: Interruption
    ) async throws {
        let peripheral = session.peripheral
        let start = HostClock.now
        let end = seconds.map { start + .seconds($0) } ?? MonotonicTime(nanoseconds: .max)
        var nextWrite = start + Self.writeInterval
        var isShown = false
        while !interruption.isWanted {
            let now = HostClock.now
            guard now < end else { break }
            if let over = imitation.headset.tapeEnd, now >= over + Self.lastWords { break }
            imitation.advance(to: now)
            for event in peripheral.process(at: now) { imitation.take(event, at: now) }
            for request in imitation.takeRequests() { peripheral.request(request) }
            if !isShown, peripheral.state == .poweredOn {
                isShown = true
                show("\(imitation.headset.specification.localName) is on \(peripheral.adapter?.name ?? "an adapter").")
            } else if !isShown, now - start >= PeripheralSession.startLimit {
                throw failure(session)
            }
            for line in imitation.takeLines() { show("  " + line) }
            if now >= nextWrite {
                nextWrite = now + Self.writeInterval
                try file?.append(imitation.headset.takePlayed())
            }
            await session.wait(until: min(end, now + Self.tick, imitation.deadline ?? end))
        }
        try file?.append(imitation.headset.takePlayed())
        imitation.end()
        for request in imitation.takeRequests() { peripheral.request(request) }
        peripheral.flush()
    }

    /// What is no model is a file, if there is one.
    private var isFile: Bool {
        !ImitatedModel.all.contains { $0.name == source } && FileManager.default.fileExists(atPath: source)
    }

    private func show(_ line: String) {
        guard !output.json else { return }
        print(line)
        fflush(nil)
    }

    private func failure(_ session: PeripheralSession) -> Failure {
        session.failure(adapter: adapter, task: "be a headset", consequence: "no headset is imitated.")
    }
}
