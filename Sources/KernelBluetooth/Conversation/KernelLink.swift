import AttributeProtocol
import Bluetooth

/// What is known of one peripheral that was asked to be connected to, or is asked what it offers. Pure.
struct KernelLink {
    /// How often it is looked whether a link has become more secure, where the kernel does not show it by taking packets.
    private static let securityPause = Duration.milliseconds(50)
    /// How long that may take (Core Specification, Vol 3, Part H, 3.4).
    private static let securityLimit = Duration.seconds(30)
    /// How long a probe may take: a discovery of a dozen round trips at the slowest usual interval of 100 ms, twice.
    private static let probeLimit = Duration.seconds(3)

    /// Where the connection stands.
    enum Phase: Hashable {
        /// The kernel connects when the peripheral advertises.
        case waiting
        /// The link is up; the channel of the Attribute Protocol is being opened.
        case opening(until: MonotonicTime)
        /// Up.
        case connected
    }

    /// Security that the kernel was asked for.
    struct Securing: Hashable {
        let level: SecurityLevel
        /// When it is looked at.
        var due: MonotonicTime
        /// When no longer.
        let limit: MonotonicTime
    }

    let identifier: PeripheralIdentifier
    /// The attempt that connected, or tries to.
    var attempt: Attempt
    var phase = Phase.waiting
    /// What is spoken on the channel; from the time when it is open.
    var attributes: ATTLink
    private(set) var securing: Securing?
    /// Until when a device that others have connected is asked what it offers; nil for a link that a caller wants.
    private let probeLimit: MonotonicTime?
    /// Why the link has ended, until that is reported.
    var end: CentralError?

    /// A link that a caller wants.
    init(identifier: PeripheralIdentifier, attempt: Attempt) {
        self.identifier = identifier
        self.attempt = attempt
        attributes = ATTLink(peripheral: identifier, map: nil)
        probeLimit = nil
    }

    /// A channel that is opened beside whatever holds the link.
    init(probing device: PeripheralIdentifier, at now: MonotonicTime) {
        identifier = device
        attempt = .none
        attributes = ATTLink(peripheral: device, map: nil)
        probeLimit = now + Self.probeLimit
    }

    /// True for a device that nobody has asked to connect to: all that is done on the link is to ask for its services.
    var isProbe: Bool { probeLimit != nil }

    /// True where the peripheral is connected for a caller.
    var isConnected: Bool { phase == .connected && !isProbe }

    var isWaiting: Bool { phase == .waiting }

    var isOpening: Bool {
        if case .opening = phase { true } else { false }
    }

    /// When something is due.
    var deadline: MonotonicTime? {
        switch phase {
        case .waiting: nil
        case .opening(let limit): limit
        case .connected: probeLimit ?? [attributes.deadline, securing?.due].compactMap { $0 }.min()
        }
    }

    /// The channel is open.
    ///
    /// - Parameter map: the handles that an earlier link has found.
    mutating func begin(with map: HandleMap?, at now: MonotonicTime) {
        phase = .connected
        attributes = ATTLink(peripheral: identifier, map: map)
        attributes.begin(at: now)
    }

    // MARK: Security

    /// The kernel is asked to make the link more secure. Until it is, the kernel takes no packet.
    mutating func beginSecuring(to level: SecurityLevel, at now: MonotonicTime) {
        securing = Securing(level: level, due: now + Self.securityPause, limit: now + Self.securityLimit)
    }

    func isSecurityDue(at now: MonotonicTime) -> Bool { securing.map { $0.due <= now } ?? false }

    /// How secure the link is. Returns true where that is as much as was wanted.
    ///
    /// - Parameter isRefused: the kernel does not try to make it more, as it does also where it is as secure already.
    mutating func securityIs(_ level: SecurityLevel?, isRefused: Bool, at now: MonotonicTime) -> Bool {
        guard let wanted = securing else { return false }
        if let level, level >= wanted.level {
            securing = nil
            attributes.didChangeSecurity(to: level, at: now)
            return true
        }
        securing?.due = now + Self.securityPause
        if isRefused || wanted.limit <= now { securityFailed(at: now) }
        return false
    }

    /// The link does not become more secure.
    mutating func securityFailed(at now: MonotonicTime) {
        securing = nil
        attributes.didChangeSecurity(to: nil, at: now)
    }
}
