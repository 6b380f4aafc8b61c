import Bluetooth

/// What ``SerialPortCentral`` knows of one peripheral that it was asked to connect to.
struct SerialPortLink {
    /// Where the connection stands.
    enum Phase {
        /// It is to be paged, not before an instant.
        case waiting(until: MonotonicTime)
        /// The peripheral is being paged: a connection to its Service Discovery Protocol was begun.
        case paging(socket: Int32)
        /// It is asked on which channel its serial port is.
        case searching(SerialPortSearch, socket: Int32, until: MonotonicTime)
        /// The serial port is being opened.
        case opening(socket: Int32, until: MonotonicTime)
        /// Up.
        case connected(socket: Int32)
    }

    let identifier: PeripheralIdentifier
    /// The attempt that connected, or tries to.
    var attempt: Attempt
    var phase: Phase
    /// When it was paged last; peripherals that are away take turns.
    var lastPage = MonotonicTime.boot
    /// How its pairing goes, where the headset wants one.
    var pairing = Pairing()
    /// Whether what arrives is reported.
    var isNotifying = false
    /// What is still to be written.
    var outbox: [UInt8] = []

    /// What is known of the pairing of one attempt.
    struct Pairing {
        /// How long the present step may take because of it; nil where the headset has asked nothing.
        var limit: MonotonicTime?
        /// Whether a PIN was given, and no key has come of it yet.
        var isUndecided = false
        /// Whether the kernel has said that it failed.
        var hasFailed = false
        /// Whether a key was forgotten that the headset did not accept: once for each attempt.
        var hasForgottenKey = false

        /// The headset is paged, once more maybe.
        mutating func begin() {
            self = Pairing(hasForgottenKey: hasForgottenKey)
        }
    }

    init(_ identifier: PeripheralIdentifier, attempt: Attempt, at now: MonotonicTime) {
        self.identifier = identifier
        self.attempt = attempt
        phase = .waiting(until: now)
    }

    /// The socket that is open; nil for none.
    var socket: Int32? {
        switch phase {
        case .waiting: nil
        case .paging(let socket), .searching(_, let socket, _), .opening(let socket, _), .connected(let socket): socket
        }
    }

    /// True while the radio works on the connection.
    var isUnderWay: Bool {
        switch phase {
        case .paging, .searching, .opening: true
        case .waiting, .connected: false
        }
    }

    /// True from the answer to the page on: the kernel has a link to the peripheral, or had one.
    var hasAnsweredPage: Bool {
        switch phase {
        case .searching, .opening, .connected: true
        case .waiting, .paging: false
        }
    }

    var isConnected: Bool {
        if case .connected = phase { true } else { false }
    }

    /// When it is to be paged; nil where that is not what it waits for.
    var pageTime: MonotonicTime? {
        if case .waiting(let until) = phase { until } else { nil }
    }

    var isPaging: Bool {
        if case .paging = phase { true } else { false }
    }

    /// Until when the present step may take; nil where that is not the link's own to decide.
    var limit: MonotonicTime? {
        switch phase {
        case .waiting, .paging, .connected: nil
        case .searching(_, _, let until), .opening(_, let until): max(until, pairing.limit ?? until)
        }
    }
}
