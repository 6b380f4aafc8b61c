/// How likely each fault is. Everything is off by default; ``none``, ``everyday`` and ``storm`` are starting points.
///
/// Numbers of type `Double` are probabilities, 0 ... 1, of one request or notification. An ``Episode`` comes at random
/// times, independently for each headset, and lasts for a random while.
public struct FaultProbabilities: Hashable, Sendable {
    /// A fault that comes and goes.
    public struct Episode: Hashable, Sendable {
        /// The mean number an hour; 0 or more.
        public var perHour: Double
        /// How long one lasts.
        public var duration: ClosedRange<Duration>

        /// Creates an episode.
        public init(perHour: Double, lasting duration: ClosedRange<Duration>) {
            self.perHour = perHour
            self.duration = duration
        }

        /// Never.
        public static let never = Episode(perHour: 0, lasting: .zero ... .zero)
    }

    /// ``Fault/outOfRange``.
    public var outOfRange = Episode.never
    /// ``Fault/silence``.
    public var silence = Episode.never
    /// ``Fault/heldByOtherProgram``.
    public var heldByOtherProgram = Episode.never
    /// ``Fault/pairingMode``.
    public var pairingMode = Episode.never
    /// ``Fault/noServiceAdvertised``.
    public var noServiceAdvertised = Episode.never
    /// ``Fault/reboot``; the duration is of no meaning.
    public var reboot = Episode.never
    /// ``Fault/lowPower``; the duration is of no meaning.
    public var lowPower = Episode.never
    /// ``Fault/rotatedAddress``; the duration is of no meaning.
    public var rotatedAddress = Episode.never
    /// ``Fault/staleAddress``; the duration is of no meaning.
    public var staleAddress = Episode.never
    /// ``Fault/headsetDisconnect``; the duration is of no meaning.
    public var headsetDisconnect = Episode.never
    /// ``Fault/operatorDisconnect``; the duration is of no meaning.
    public var operatorDisconnect = Episode.never
    /// ``Fault/servicesChanged``; the duration is of no meaning.
    public var servicesChanged = Episode.never

    /// ``Fault/adapterOff``.
    public var adapterOff = Episode.never
    /// ``Fault/radioBlocked``.
    public var radioBlocked = Episode.never
    /// ``Fault/adapterVanished``.
    public var adapterVanished = Episode.never
    /// ``Fault/systemRestarted``.
    public var systemRestarted = Episode.never

    /// ``Fault/daemonKilled``: how long until the daemon is started again.
    public var daemonKilled = Episode.never
    /// ``Fault/wallClockStep``: the duration is the size of the step; its direction is the rehearsal's choice.
    public var wallClockStep = Episode.never
    /// ``Fault/slowCommit``.
    public var slowCommit = Episode.never
    /// ``Fault/diskFull``.
    public var diskFull = Episode.never
    /// ``Fault/databaseBusy``.
    public var databaseBusy = Episode.never
    /// ``Fault/flushRefused``.
    public var flushRefused = Episode.never
    /// ``Fault/daemonEnded``.
    public var daemonEnded = Episode.never

    /// ``Fault/slowConnect``.
    public var slowConnect = 0.0
    /// How long a slow connection takes.
    public var slowConnectDuration: ClosedRange<Duration> = .seconds(1) ... .seconds(12)
    /// ``Fault/lostConnect``.
    public var lostConnect = 0.0
    /// ``Fault/connectFailure``.
    public var connectFailure = 0.0
    /// ``Fault/unknownPeripheral``.
    public var unknownPeripheral = 0.0
    /// ``Fault/silentRestoration``.
    public var silentRestoration = 0.0
    /// ``Fault/silentRetrieval``.
    public var silentRetrieval = 0.0
    /// ``Fault/silentScan``.
    public var silentScan = 0.0
    /// ``Fault/discoveryFailure``.
    public var discoveryFailure = 0.0
    /// ``Fault/writeError``.
    public var writeError = 0.0
    /// ``Fault/notifyError``.
    public var notifyError = 0.0
    /// ``Fault/lateReply``.
    public var lateReply = 0.0
    /// How late a late reply is.
    public var lateReplyDelay: ClosedRange<Duration> = .seconds(2) ... .seconds(20)
    /// ``Fault/duplicatedNotification``.
    public var duplicatedNotification = 0.0
    /// ``Fault/reorderedNotification``.
    public var reorderedNotification = 0.0
    /// ``Fault/lostNotification``.
    public var lostNotification = 0.0
    /// ``Fault/lostChannelPacket``.
    public var lostChannelPacket = 0.0
    /// ``Fault/statusUnanswered``.
    public var statusUnanswered = 0.0
    /// ``Fault/malformedNotification``.
    public var malformedNotification = 0.0

    /// Creates a set in which nothing goes wrong.
    public init() {}

    /// The episode of a fault; nil where the fault is one of requests or notifications, or follows from a specification.
    public func episode(of fault: Fault) -> Episode? {
        switch fault {
        case .outOfRange: outOfRange
        case .silence: silence
        case .heldByOtherProgram: heldByOtherProgram
        case .pairingMode: pairingMode
        case .noServiceAdvertised: noServiceAdvertised
        case .reboot: reboot
        case .lowPower: lowPower
        case .rotatedAddress: rotatedAddress
        case .staleAddress: staleAddress
        case .headsetDisconnect: headsetDisconnect
        case .operatorDisconnect: operatorDisconnect
        case .servicesChanged: servicesChanged
        case .adapterOff: adapterOff
        case .radioBlocked: radioBlocked
        case .adapterVanished: adapterVanished
        case .systemRestarted: systemRestarted
        case .daemonKilled: daemonKilled
        case .wallClockStep: wallClockStep
        case .slowCommit: slowCommit
        case .diskFull: diskFull
        case .databaseBusy: databaseBusy
        case .flushRefused: flushRefused
        case .daemonEnded: daemonEnded
        default: nil
        }
    }

    /// The probability of a fault of one request or notification; 0 for every other fault.
    public func probability(of fault: Fault) -> Double {
        switch fault {
        case .slowConnect: slowConnect
        case .lostConnect: lostConnect
        case .connectFailure: connectFailure
        case .unknownPeripheral: unknownPeripheral
        case .silentRestoration: silentRestoration
        case .silentRetrieval: silentRetrieval
        case .silentScan: silentScan
        case .discoveryFailure: discoveryFailure
        case .writeError: writeError
        case .notifyError: notifyError
        case .lateReply: lateReply
        case .duplicatedNotification: duplicatedNotification
        case .reorderedNotification: reorderedNotification
        case .lostNotification: lostNotification
        case .lostChannelPacket: lostChannelPacket
        case .statusUnanswered: statusUnanswered
        case .malformedNotification: malformedNotification
        default: 0
        }
    }
}
