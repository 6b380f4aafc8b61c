import BlueZ

/// Which way to the headsets is taken, and why. It is chosen once, when the daemon starts, and stays: a change of the way under
/// a recording would surprise more than a line that says what is in the way.
struct CentralChoice: Hashable {
    /// What is used; never ``Configuration/Central/automatic(_:_:)``.
    let central: Configuration.Central
    /// In words that complete "headsets are reached through ...".
    let way: String
    /// Why that, where the configuration leaves it open; nil where it does not.
    let reason: String?
    /// Whether bluetoothd was there.
    let isBluetoothdRunning: Bool

    /// Chooses for a machine.
    init(_ wanted: Configuration.Central, isBluetoothdRunning: Bool) {
        self.isBluetoothdRunning = isBluetoothdRunning
        guard case .automatic(let bluez, let kernel) = wanted else {
            central = wanted
            way = wanted.way
            reason = nil
            return
        }
        central = isBluetoothdRunning ? .bluez(bluez) : .kernel(kernel)
        way = central.way
        reason = isBluetoothdRunning ? "it runs" : "bluetoothd does not run"
    }

    /// Chooses for this machine as it is now. A simulated radio asks nobody.
    init(_ wanted: Configuration.Central) {
        self.init(wanted, isBluetoothdRunning: wanted.usesRadio && BluetoothdPresence.isOnBus())
    }

    /// A line for the log.
    var sentence: String { "headsets are reached through \(way)" + (reason.map { ": \($0)" } ?? "") }

    /// What is in the way; nil for nothing.
    var obstacle: String? {
        guard case .kernel = central, isBluetoothdRunning else { return nil }
        return "bluetoothd runs beside eegsync and takes the channels of links (EBUSY): headsets may not be recorded. "
            + "eegsync then waits for its end. You can stop it (systemctl disable --now bluetooth), or use it: 'kind: bluez'"
    }

    /// What this process is not permitted to do, and what follows; nil where it may do everything.
    ///
    /// - Parameter isNetworkAdministrator: whether it has CAP_NET_ADMIN.
    func lack(isNetworkAdministrator: Bool) -> String? {
        guard !isNetworkAdministrator else { return nil }
        switch central {
        case .kernel:
            return "this process lacks CAP_NET_ADMIN: without bluetoothd it can neither scan nor connect nor switch the "
                + "adapter on, and waits. You can \(Self.grant)"
        case .bluez:
            return "this process lacks CAP_NET_ADMIN: links keep the kernel's supervision timeout, and why one has ended is "
                + "not known. You can \(Self.grant)"
        case .automatic, .simulation: return nil
        }
    }

    /// How the capability is granted.
    static let grant =
        "give it to the unit (AmbientCapabilities=CAP_NET_ADMIN, as Deploy/eegsync.service does), or to the program: "
        + "setcap cap_net_admin+ep /usr/local/bin/eegsync"
}

extension Configuration.Central {
    /// In words that complete "headsets are reached through ...".
    fileprivate var way: String {
        switch self {
        case .automatic: "whatever this machine has"
        case .bluez: "bluetoothd"
        case .kernel: "the kernel's own sockets"
        case .simulation: "the simulated radio"
        }
    }
}

extension Configuration {
    /// The same with a choice instead of what was left open.
    func reaching(headsetsThrough choice: CentralChoice) -> Configuration {
        var configuration = self
        configuration.central = choice.central
        return configuration
    }
}
