import Bluetooth
import Glibc

/// An error number of a Bluetooth socket, and what it means to a central.
///
/// The kernel translates the controller's errors (Core Specification, Vol 1, Part F) into error numbers in `bt_to_errno`,
/// net/bluetooth/lib.c; several share one. What an error asks for is the disposition of the ``CentralError``.
struct SocketError: Error, Hashable {
    /// The system's error number.
    let code: Int32

    /// A step that took too long.
    static let timedOut = SocketError(code: ETIMEDOUT)

    /// Whether another program has the channel.
    var isOfTakenChannel: Bool { code == EBUSY }

    /// Whether the kernel had no memory for what it was given just then, which passes, and says nothing of the link.
    var isOfMemory: Bool { code == ENOBUFS || code == ENOMEM }

    /// What it means while a connection is being made.
    enum Refusal: Hashable {
        /// The peripheral did not answer the page: it is away, or off. To be paged again.
        case away
        /// What is left of an earlier connection has to end first, which takes a moment.
        case ending
        /// For good.
        case final(CentralError)
    }

    /// While a connection is being made.
    var connecting: Refusal {
        switch code {
        // Page Timeout (0x04); a link that died before it was of use (0x08, 0x10).
        case EHOSTDOWN, ETIMEDOUT: .away
        // The adapter takes one page at a time (0x0C), the peripheral is connected or being connected to (0x0B), a channel to
        // it is not closed yet, or an earlier page is being cancelled (0x02, 0x13, 0x16).
        case EBUSY, EALREADY, EAGAIN, ENOTCONN, ECONNRESET, ECONNABORTED, EADDRINUSE: .ending
        // No adapter leads there: it is off, or gone.
        case EHOSTUNREACH, ENETDOWN, ENODEV: .final(.adapterUnavailable(.poweredOff))
        case _ where isOfAuthentication: .final(.pairingRefused)
        case EPERM: .final(.notPermitted(what: "open Bluetooth sockets"))
        case EAFNOSUPPORT, EPROTONOSUPPORT:
            .final(.notPermitted(what: "open RFCOMM sockets, or the kernel has none (CONFIG_BT_RFCOMM)"))
        // Limited resources, security or address (0x0D ... 0x0F, 0x1B), or the channel is closed.
        case ECONNREFUSED: .final(.connectionFailed(reason: "the headset refused the connection"))
        default: .final(.connectionFailed(reason: text))
        }
    }

    /// Whether the two ends could not agree on a key: Authentication Failure (0x05), PIN or Key Missing (0x06), Repeated
    /// Attempts (0x17), Pairing Not Allowed (0x18).
    var isOfAuthentication: Bool { [EACCES, EBADE, EKEYREJECTED, ELOOP].contains(code) }

    /// For a link that was up; nil where the peripheral closed it in order.
    static func ended(_ error: SocketError?) -> CentralError {
        switch error?.code {
        // Remote User Terminated Connection (0x13 ... 0x15), or the end of the channel.
        case nil, ECONNRESET, EPIPE: .peripheralDisconnected
        // Connection Terminated By Local Host (0x16): another program, such as bluetoothctl.
        case ECONNABORTED: .disconnectedByOperator
        // Connection Timeout (0x08), and whatever else takes a link away.
        default: .linkLost
        }
    }

    /// The system's text.
    private var text: String {
        // strerror answers every number with a text.
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
