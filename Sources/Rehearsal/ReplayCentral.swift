import Bluetooth
import Capture
import Headsets

/// A radio with one headset, which is a capture: every request is answered at once, and each piece arrives when it arrived.
///
/// Pieces wait while nobody would take them. They still bear the time at which they arrived.
final class ReplayCentral: Central, VirtualWorld {
    private let identifier: PeripheralIdentifier
    private let advertisement: Advertisement
    private let database: GATTDatabase
    /// The characteristics whose pieces are played.
    private let played: Set<BluetoothUUID>
    /// What is answered to reads of the Device Information Service.
    private let information: [BluetoothUUID: [UInt8]]
    /// What answers a command before the first piece was played.
    private let answers: [Capture.Piece]

    private var pieces: any IteratorProtocol<Capture.Piece>
    private var next: Capture.Piece?
    /// Whether a link of the capture ended before the next piece.
    private var linkEnded = false
    private let endsLinks: Bool
    private var answersLeft: Int
    private var inbox: [CentralEvent] = [.didUpdateState(.poweredOn)]
    private var connectAttempt: Attempt?
    private(set) var now: MonotonicTime

    /// When the first piece arrives; nil until playback begins.
    private(set) var began: MonotonicTime?
    /// True while somebody takes what is played.
    var isOpen = false {
        didSet { if isOpen, !oldValue { isFresh = true } }
    }
    /// True from when somebody takes it until the first piece after that.
    private(set) var isFresh = false
    /// Pieces that are of no use to the model.
    private(set) var foreignPieceCount = 0

    /// So many pieces at a time; there may be any number of them at one instant.
    private static let pieceLimit = 4096

    init(
        _ pieces: any Sequence<Capture.Piece>, headset: ReplayedHeadset, advertisement: Advertisement,
        identifier: PeripheralIdentifier, at now: MonotonicTime
    ) {
        self.pieces = pieces.makeIterator()
        self.advertisement = advertisement
        self.identifier = identifier
        database = headset.database
        played = Set(headset.database.characteristics.map(\.uuid))
        information = headset.information
        answers = headset.answers
        // They are the first pieces, and come only once.
        answersLeft = headset.answersAreFirst ? headset.answers.count : 0
        self.now = now
        // A headset that counts over its links needs no end of one.
        endsLinks = headset.profile.epochRule == .connection
        proceed()
    }

    /// When the next piece arrives; nil after the last.
    var nextPieceTime: MonotonicTime? {
        guard let next, let began else { return nil }
        return began + next.time
    }

    /// Lets the capture's time begin.
    func begin() {
        guard began == nil else { return }
        began = now
        for _ in 0..<answersLeft { proceed() }
        answersLeft = 0
    }

    private func proceed() {
        next = pieces.next()
        linkEnded = next?.beginsLink ?? false
        while let piece = next, !played.contains(piece.characteristic) {
            foreignPieceCount += 1
            next = pieces.next()
            linkEnded = linkEnded || next?.beginsLink ?? false
        }
    }

    // MARK: Time

    var nextEventTime: MonotonicTime? {
        if !inbox.isEmpty { return now }
        return isOpen ? nextPieceTime : nil
    }

    var deadline: MonotonicTime? { nextEventTime }

    func advance(to time: MonotonicTime) { now = max(now, time) }

    func process(at now: MonotonicTime) -> [CentralEvent] {
        guard inbox.isEmpty else {
            defer { inbox.removeAll() }
            return inbox
        }
        var events: [CentralEvent] = []
        while isOpen, let piece = next, let due = nextPieceTime, due <= now, events.count < Self.pieceLimit {
            if linkEnded, endsLinks, !isFresh, let attempt = connectAttempt {
                // The piece waits for the next link.
                connectAttempt = nil
                events.append(.didDisconnect(identifier, error: .linkLost, attempt: attempt))
                return events
            }
            isFresh = false
            events.append(.didUpdateValue(piece.characteristic, on: identifier, value: piece.value, at: due))
            proceed()
        }
        return events
    }

    // MARK: Central

    var state: AdapterState { .poweredOn }

    func request(_ request: CentralRequest) {
        switch request {
        case .restoreState(_, _, let attempt): inbox.append(.willRestoreState([], attempt: attempt))
        case .retrieveConnectedPeripherals(_, let attempt): inbox.append(.didRetrieveConnected([], attempt: attempt))
        case .scanForPeripherals: inbox.append(.didDiscover(identifier, advertisement: advertisement, rssi: -60))
        case .stopScan, .setConnectionParameters, .trustPeripheral, .readRSSI: break
        case .connect(let peripheral, let attempt):
            connectAttempt = attempt
            inbox.append(.didConnect(peripheral, attempt: attempt))
        case .cancelPeripheralConnection(let peripheral, let attempt):
            connectAttempt = nil
            inbox.append(.didDisconnect(peripheral, error: nil, attempt: attempt))
        case .discoverServices(let peripheral, let attempt):
            inbox.append(.didDiscoverServices(peripheral, result: .success(database), attempt: attempt))
        case .setNotifyValue(_, let characteristic, let peripheral, let attempt):
            inbox.append(.didUpdateNotificationState(characteristic, on: peripheral, error: nil, attempt: attempt))
        case .readValue(let characteristic, let peripheral, let attempt):
            inbox.append(
                .didReadValue(
                    characteristic, on: peripheral, result: .success(information[characteristic] ?? []), attempt: attempt))
        case .writeValue(_, let characteristic, let type, let peripheral, let attempt):
            if type == .withResponse {
                inbox.append(.didWriteValue(characteristic, on: peripheral, error: nil, attempt: attempt))
            }
            answerCommand(on: peripheral)
        }
    }

    /// Each command is answered with all that the headset said before it sent data: which answer belongs to which command is
    /// not in the capture.
    private func answerCommand(on peripheral: PeripheralIdentifier) {
        guard began == nil else { return }
        for piece in answers {
            inbox.append(.didUpdateValue(piece.characteristic, on: peripheral, value: piece.value, at: now))
        }
    }
}
