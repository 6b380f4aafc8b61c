import Acquisition
import Bluetooth
import Storage

/// What a headset does, in words: one sentence, and what a person can do about it.
struct HeadsetSituation: Hashable {
    /// How good that is.
    enum Severity: String, Encodable, Hashable {
        /// As wished.
        case good
        /// Not as wished; eegsync works on it.
        case working
        /// Not as wished; only a person can change it.
        case waiting
        /// Nothing is wished.
        case idle
    }

    var severity: Severity
    /// What it does or waits for; completes "left ...".
    var sentence: String
    /// What a person can do; nil where nothing is to be done.
    var remedy: String?

    /// The situation of a headset.
    ///
    /// - Parameters:
    ///   - isDaemonRunning: whether a process acquires into the database.
    ///   - isPaused: whether a person wants nothing recorded for a while.
    ///   - isConfigured: whether the configuration names the headset; nil where there is none.
    init(_ activity: HeadsetActivity, isDaemonRunning: Bool, isPaused: Bool = false, isConfigured: Bool?) {
        guard activity.recording != nil else {
            self.init(idle: activity, isConfigured: isConfigured)
            return
        }
        if isPaused, activity.isWanted {
            self.init(.idle, "is wanted, and paused", nil)
            return
        }
        guard isDaemonRunning else {
            self.init(
                .waiting, activity.isWanted ? "waits for eegsync run, which does not run" : "is stopped",
                activity.isWanted ? "start it: systemctl start eegsync" : nil)
            return
        }
        guard activity.isWanted else {
            self.init(.working, "is being stopped", nil)
            return
        }
        let phase = activity.state.flatMap { ConnectionPhase(rawValue: $0) }
        let cause = phase.flatMap { phase in
            activity.stateCause.flatMap { ConnectionCause(phase: phase, code: $0, parameter: activity.stateDetail) }
        }
        self.init(phase, cause, reason: cause?.words ?? activity.stateDetail)
    }

    /// The situation of a headset that nobody wants recorded. What is offered must work.
    private init(idle activity: HeadsetActivity, isConfigured: Bool?) {
        let start = "eegsync record start \(activity.name)"
        switch isConfigured {
        case true?: self.init(.idle, "is not recorded", "record it: \(start)")
        case _ where !activity.isLive: self.init(.idle, "was only ever replayed or simulated", nil)
        case nil: self.init(.idle, "is not recorded", "record it: \(start) --model \(activity.model)")
        case false?: self.init(.idle, "is not recorded", "name it in the configuration, then: \(start)")
        }
    }

    /// The situation of a headset that is wanted.
    ///
    /// - Parameter reason: what is waited for, in words; nil where nothing is.
    private init(_ phase: ConnectionPhase?, _ cause: ConnectionCause?, reason: String?) {
        let reason = reason.map { ": \($0)" } ?? ""
        switch phase {
        case .streaming: self.init(.good, "streams", nil)
        case .silent:
            self.init(.working, "is connected, but nothing arrives\(reason)", "bring it closer, and see that it is switched on")
        case .stopped, nil: self.init(.working, "is about to be looked for", nil)
        case .waitingForAdapter:
            var adapter = AdapterState.unknown
            if case .adapter(let state) = cause { adapter = state }
            self.init(.waiting, "waits for the Bluetooth adapter: \(adapter.words)", adapter.remedy)
        case .waitingForOperator: self.init(.waiting, "waits for a person\(reason)", cause?.remedy ?? ConnectionCause.reload)
        case .quarantined: self.init(.waiting, "is quarantined\(reason)", cause?.remedy ?? ConnectionCause.reload)
        case .searching:
            self.init(
                .working, "is looked for\(reason)", "switch it on and bring it within reach; eegsync finds it by itself")
        case .establishing: self.init(.working, "is connected and is being prepared\(reason)", nil)
        }
    }

    private init(_ severity: Severity, _ sentence: String, _ remedy: String?) {
        self.severity = severity
        self.sentence = sentence
        self.remedy = remedy
    }
}

extension AdapterState {
    /// What the adapter's state is, in words that complete "waits for the Bluetooth adapter: ...".
    var words: String {
        switch self {
        case .poweredOff: "it is switched off"
        case .blocked: "Bluetooth is blocked"
        case .absent: "there is none"
        case .inUse: "another eegsync has it"
        case .unauthorized: "this user may not use it"
        case .unreachable: "the kernel has no Bluetooth, or keeps it from eegsync"
        case .unsupported: "it does not support Low Energy"
        case .resetting: "bluetoothd does not run"
        case .unknown, .poweredOn: "the Bluetooth system starts"
        }
    }

    /// What a person can do; what needs nobody is said, too.
    var remedy: String {
        switch self {
        case .poweredOff: "switch it on: bluetoothctl power on (without bluetoothd: btmgmt power on)"
        case .blocked: "unblock it: rfkill unblock bluetooth"
        case .absent: "plug one in"
        case .inUse:
            "end the other one (`eegsync doctor` says which); eegsync goes on by itself. Or give each an adapter of its own: "
                + "'adapter: hci1'"
        case .unauthorized:
            "add the user of eegsync to the group bluetooth, or, without bluetoothd, give it CAP_NET_ADMIN; `eegsync doctor` "
                + "says which"
        case .unreachable:
            "load the module (modprobe bluetooth), or allow AF_BLUETOOTH in RestrictAddressFamilies= of the service"
        case .unsupported: "plug in one that does (Bluetooth 4.0 or later)"
        case .resetting: "nothing if it is restarting; otherwise: systemctl start bluetooth"
        case .unknown, .poweredOn: "nothing; eegsync goes on by itself"
        }
    }
}
