import AttributeProtocol
import Bluetooth

/// What ``KernelCentral`` knows of one peripheral that it was asked to connect to.
struct KernelLink {
    /// Where the connection stands.
    enum Phase {
        /// The kernel connects when the peripheral advertises.
        case waiting
        /// The link is up; the channel of the Attribute Protocol is being opened.
        case opening(socket: Int32, until: MonotonicTime)
        /// Up.
        case connected(socket: Int32)
    }

    let identifier: PeripheralIdentifier
    /// The attempt that connected, or tries to.
    var attempt: Attempt
    var phase = Phase.waiting
    /// What is spoken on the channel; from the time when it is open.
    var conversation: ATTLink
    /// Packets that the socket had no room for.
    var outbox: [[UInt8]] = []
    /// The security that the kernel was asked for, and when it is looked at.
    var security: (level: SecurityLevel, due: MonotonicTime)?
    /// Until when a device that others have connected is asked what it offers; nil for a link that this central's user wants.
    var probeLimit: MonotonicTime?
    /// When its latest packet arrived.
    var latestArrival = MonotonicTime.boot
    /// Why the socket ended, until the link is told to have.
    var end: SocketError?

    /// The socket that is open; nil for none.
    var socket: Int32? {
        switch phase {
        case .waiting: nil
        case .opening(let socket, _), .connected(let socket): socket
        }
    }

    /// True for a device that nobody has asked to connect to: all that is done on the link is to ask for its services.
    var isProbe: Bool { probeLimit != nil }

    /// True where the peripheral is connected for this central's user.
    var isConnected: Bool {
        if case .connected = phase { !isProbe } else { false }
    }

    var isWaiting: Bool {
        if case .waiting = phase { true } else { false }
    }

    /// When something is due.
    var deadline: MonotonicTime? {
        switch phase {
        case .waiting: nil
        case .opening(_, let until): until
        case .connected where isProbe: probeLimit
        case .connected: [conversation.deadline, security?.due].compactMap { $0 }.min()
        }
    }
}
