import Bluetooth
import Capture
import Headsets

/// What a capture shows of its headset before it is played: which kind of the model it is, and how it was set.
struct ReplayedHeadset {
    /// What a discovery finds: what the model requires, and what it reads and writes.
    let database: GATTDatabase
    /// The model's profile, as this headset makes it.
    let profile: ReplayedProfile
    let learnt: LearntHeadset
    /// What was read of the Device Information Service.
    let information: [BluetoothUUID: [UInt8]]
    /// With what a headset that describes its streams itself did so.
    let answers: [Capture.Piece]
    /// Whether they are the first pieces of the capture.
    let answersAreFirst: Bool
    /// Whether there is a sample in it.
    let hasSamples: Bool
    /// What the capture does not show, and nothing else.
    let lack: Lack?

    /// What is missing in a capture that has samples, or could have.
    enum Lack: Hashable {
        /// The value of a characteristic that is read on each link.
        case value(BluetoothUUID)
        /// The status of a headset that describes its streams in it.
        case status
    }

    /// How far is looked for a headset's word about its streams, behind its first sample.
    fileprivate static let lookAhead: Duration = .seconds(3)
    /// A headset that describes its streams does so in fewer pieces.
    fileprivate static let answerLimit = 256

    /// - Parameters:
    ///   - characteristics: what notified, or was read, anywhere in the capture.
    ///   - given: what is known of the headset besides: values of characteristics, as the headset would have sent them.
    init(
        _ pieces: any Sequence<Capture.Piece>, characteristics: [BluetoothUUID], profile: any HeadsetProfile,
        given: [Capture.Piece]
    ) {
        // What must be there to be the model was there, whether or not it notified.
        let required = (profile as? DescribedProfile)?.descriptor.required ?? []
        let service = profile.services.first ?? .serialPort
        let found = characteristics + required.filter { !characteristics.contains($0) }
        let own = profile.adapted(
            to: GATTDatabase(
                characteristics: found.map { Characteristic(service: service, uuid: $0, properties: [.notify]) }))
        var uuids = own.requiredCharacteristics
        func add(_ uuid: BluetoothUUID) { if !uuids.contains(uuid) { uuids.append(uuid) } }
        var reads: [BluetoothUUID] = []
        for step in CommandPurpose.allCases.flatMap({ own.commands(for: $0, status: nil) }) {
            switch step {
            case .write(_, let uuid, _): add(uuid)
            case .read(let uuid):
                add(uuid)
                if !reads.contains(uuid) { reads.append(uuid) }
            case .wait, .awaitReply, .abandonLink: break
            }
        }
        required.forEach(add)
        let informing = DeviceInformation.characteristics.filter(characteristics.contains)
        information = Dictionary(
            Self.first(informing, in: pieces).map { ($0.characteristic, $0.value) }, uniquingKeysWith: { first, _ in first })
        informing.forEach(add)
        if let identity = profile.identityCharacteristic { add(identity) }
        database = GATTDatabase(
            characteristics: uuids.map { Characteristic(service: service, uuid: $0, properties: [.read, .write, .notify]) })

        // A link begins with what is read.
        let values = given + Self.first(reads, in: pieces)
        let learnt = LearntHeadset {
            var decoder = own.makeDecoder()
            var ignored = Decoded()
            for piece in values { decoder.decode(piece.value, from: piece.characteristic, into: &ignored) }
            return decoder
        }
        learnt.decode(values)
        self.learnt = learnt
        self.profile = ReplayedProfile(own, learnt: learnt)
        var look = Look(control: own.streams.isEmpty ? own.controlCharacteristics : [])
        look.go(into: pieces, uuids, learnt)
        hasSamples = look.firstSample != nil
        answers = look.answers
        answersAreFirst = !look.beganWithData
        if let read = reads.first(where: { read in !values.contains { $0.characteristic == read } }) {
            lack = .value(read)
        } else {
            lack = own.streams.isEmpty && learnt.streams == nil ? .status : nil
        }
    }

    /// The first value of each characteristic, where it has one.
    private static func first(_ uuids: [BluetoothUUID], in pieces: any Sequence<Capture.Piece>) -> [Capture.Piece] {
        var found: [Capture.Piece] = []
        guard !uuids.isEmpty else { return [] }
        var iterator = pieces.makeIterator()
        while found.count < uuids.count, let piece = iterator.next() {
            let isKnown = found.contains { $0.characteristic == piece.characteristic }
            if uuids.contains(piece.characteristic), !isKnown { found.append(piece) }
        }
        return found
    }

    /// A look at the beginning of a capture: the decoder learns what the headset says of its streams.
    private struct Look {
        /// What answers come from, where a headset describes its streams; else none.
        let control: [BluetoothUUID]
        var answers: [Capture.Piece] = []
        var beganWithData = false
        var firstSample: Duration?

        init(control: [BluetoothUUID]) {
            self.control = control
        }

        mutating func go(into pieces: any Sequence<Capture.Piece>, _ wanted: [BluetoothUUID], _ learnt: LearntHeadset) {
            defer { learnt.rewind() }
            var iterator = pieces.makeIterator()
            var decoded = Decoded()
            while let piece = iterator.next() {
                if let firstSample, piece.time - firstSample > ReplayedHeadset.lookAhead { break }
                guard wanted.contains(piece.characteristic) else { continue }
                if !control.isEmpty, learnt.streams == nil {
                    if !control.contains(piece.characteristic) {
                        beganWithData = true
                    } else if answers.count < ReplayedHeadset.answerLimit {
                        answers.append(piece)
                    }
                }
                decoded.removeAll()
                learnt.decode(piece.value, from: piece.characteristic, into: &decoded)
                let hasSamples = decoded.items.contains { if case .samples = $0 { true } else { false } }
                if hasSamples, firstSample == nil { firstSample = piece.time }
            }
        }
    }
}
