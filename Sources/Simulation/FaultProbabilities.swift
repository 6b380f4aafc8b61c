/// How likely each fault is. Everything is off by default; ``none``, ``everyday`` and ``storm`` are starting points.
///
/// Numbers of type `Double` are probabilities, 0 ... 1, of one request or notification. An ``Episode`` comes at random
/// times, independently for each headset, and lasts for a random while.
package struct FaultProbabilities: Hashable, Sendable {
    /// A fault that comes and goes.
    package struct Episode: Hashable, Sendable {
        /// The mean number an hour; 0 or more.
        package var perHour: Double
        /// How long one lasts.
        package var duration: ClosedRange<Duration>

        /// Creates an episode.
        package init(perHour: Double, lasting duration: ClosedRange<Duration>) {
            self.perHour = perHour
            self.duration = duration
        }

        /// Never.
        package static let never = Episode(perHour: 0, lasting: .zero ... .zero)
    }

    /// ``Fault/outOfRange``.
    package var outOfRange = Episode.never
    /// ``Fault/silence``.
    package var silence = Episode.never
    /// ``Fault/heldByOtherProgram``.
    package var heldByOtherProgram = Episode.never
    /// ``Fault/pairingMode``.
    package var pairingMode = Episode.never
    /// ``Fault/noServiceAdvertised``.
    package var noServiceAdvertised = Episode.never
    /// ``Fault/reboot``; the duration is of no meaning.
    package var reboot = Episode.never
    /// ``Fault/lowPower``; the duration is of no meaning.
    package var lowPower = Episode.never
    /// ``Fault/rotatedAddress``; the duration is of no meaning.
    package var rotatedAddress = Episode.never
    /// ``Fault/staleAddress``; the duration is of no meaning.
    package var staleAddress = Episode.never
    /// ``Fault/headsetDisconnect``; the duration is of no meaning.
    package var headsetDisconnect = Episode.never
    /// ``Fault/operatorDisconnect``; the duration is of no meaning.
    package var operatorDisconnect = Episode.never
    /// ``Fault/servicesChanged``; the duration is of no meaning.
    package var servicesChanged = Episode.never

    /// ``Fault/adapterOff``.
    package var adapterOff = Episode.never
    /// ``Fault/radioBlocked``.
    package var radioBlocked = Episode.never
    /// ``Fault/adapterVanished``.
    package var adapterVanished = Episode.never
    /// ``Fault/systemRestarted``.
    package var systemRestarted = Episode.never

    /// ``Fault/daemonKilled``: how long until the daemon is started again.
    package var daemonKilled = Episode.never
    /// ``Fault/wallClockStep``: the duration is the size of the step; its direction is the rehearsal's choice.
    package var wallClockStep = Episode.never
    /// ``Fault/slowCommit``.
    package var slowCommit = Episode.never
    /// ``Fault/diskFull``.
    package var diskFull = Episode.never
    /// ``Fault/databaseBusy``.
    package var databaseBusy = Episode.never
    /// ``Fault/flushRefused``.
    package var flushRefused = Episode.never
    /// ``Fault/daemonEnded``.
    package var daemonEnded = Episode.never

    /// ``Fault/slowConnect``.
    package var slowConnect = 0.0
    /// How long a slow connection takes.
    package var slowConnectDuration: ClosedRange<Duration> = .seconds(1) ... .seconds(12)
    /// ``Fault/lostConnect``.
    package var lostConnect = 0.0
    /// ``Fault/connectFailure``.
    package var connectFailure = 0.0
    /// ``Fault/unknownPeripheral``.
    package var unknownPeripheral = 0.0
    /// ``Fault/silentRestoration``.
    package var silentRestoration = 0.0
    /// ``Fault/silentRetrieval``.
    package var silentRetrieval = 0.0
    /// ``Fault/silentScan``.
    package var silentScan = 0.0
    /// ``Fault/discoveryFailure``.
    package var discoveryFailure = 0.0
    /// ``Fault/writeError``.
    package var writeError = 0.0
    /// ``Fault/notifyError``.
    package var notifyError = 0.0
    /// ``Fault/lateReply``.
    package var lateReply = 0.0
    /// How late a late reply is.
    package var lateReplyDelay: ClosedRange<Duration> = .seconds(2) ... .seconds(20)
    /// ``Fault/duplicatedNotification``.
    package var duplicatedNotification = 0.0
    /// ``Fault/reorderedNotification``.
    package var reorderedNotification = 0.0
    /// ``Fault/lostNotification``.
    package var lostNotification = 0.0
    /// ``Fault/lostChannelPacket``.
    package var lostChannelPacket = 0.0
    /// ``Fault/statusUnanswered``.
    package var statusUnanswered = 0.0
    /// ``Fault/malformedNotification``.
    package var malformedNotification = 0.0

    /// Creates a set in which nothing goes wrong.
    package init() {}

    /// The episode of a fault; nil where the fault is one of requests or notifications, or follows from a specification.
    package func episode(of fault: Fault) -> Episode? {
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
    package func probability(of fault: Fault) -> Double {
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
