import Headsets
import Simulation
import Storage

/// A recording that a headset of its model sends again.
struct ImitatedRecording {
    /// Its number in its database.
    let number: Int64
    /// The model as it is imitated.
    let model: ImitatedModel
    /// What the headset is like: the streams of one with memory, and its serial number, are those that were recorded.
    let specification: HeadsetSpecification
    /// The headset's streams.
    let streams: [StreamDescription]
    /// What it sends.
    let tape: any SignalTape
    /// What was recorded.
    private let recorded: RecordedTape

    /// Why it could not be read to its end.
    var failure: (any Error)? { recorded.failure }

    /// - Parameters:
    ///   - path: a database.
    ///   - name: which of its recordings.
    ///   - start: how much of its beginning is passed over.
    ///   - repeats: true where it begins again, there, each time that it ends.
    /// - Throws: `StorageError`, or ``Failure`` where it cannot be played.
    init(database path: String, recording name: RecordingName, from start: Duration = .zero, repeats: Bool = false) throws {
        let store = try ReadOnlyStore(unattended: path, hostBoot: try HostBoot.current())
        number = try name.number(in: store)
        let reader = try store.reader(of: RecordingID(rawValue: number))
        let contents = reader.contents
        guard let model = Self.model(of: contents) else {
            throw Failure(
                problem: "recording \(number) is of a \(contents.model), which cannot be played.",
                consequence: "no headset is imitated.",
                remedy: "choose one of \(Self.names) with --recording.",
                code: .dataError)
        }
        self.model = model
        var specification = model.make(1)
        if model.profile.memory == .none {
            streams = model.streams
        } else {
            streams = contents.streams.filter { $0.rowCount > 0 }.map(\.description)
            specification = .buffered(BufferedHeadsetSpecification(streams: streams))
        }
        if let serial = contents.serialNumber { specification.serialNumber = serial }
        recorded = try RecordedTape(reader, of: streams, indexesPerPacket: specification.indexesPerPacket)
        let section = TapeSection(
            of: recorded, from: start, repeats: repeats, samplingFrequencies: streams.map(\.samplingFrequency),
            indexesPerPacket: specification.indexesPerPacket)
        guard let section else {
            throw Failure(
                problem: "recording \(number) lasts \(recorded.duration.map { Quantity.duration($0) } ?? "for ever").",
                consequence: "no headset is imitated.", remedy: "begin before its end with --from.", code: .usage)
        }
        tape = section
        self.specification = specification
    }

    /// Models whose recordings can be played.
    static let playable = ImitatedModel.all.filter { $0.make(1).playsTapes }

    /// Their names in a row.
    static var names: String { playable.map(\.name).joined(separator: ", ") }

    /// Of the varieties of a model the first that leaves out what the recorded headset has left out, and all of whose streams
    /// were recorded.
    private static func model(of contents: RecordingContents) -> ImitatedModel? {
        let sendsAll = !contents.streams.contains { $0.gaps.contains { $0.cause == .notSent } }
        let ofModel = playable.filter { $0.profile.model == contents.model }
        let alike = ofModel.filter { $0.sendsAllSamples == sendsAll }
        let complete = alike.first { model in
            model.streams.allSatisfy { stream in contents.streams.contains { RecordedTape.holds($0, stream) } }
        }
        return complete ?? alike.first ?? ofModel.first
    }
}
