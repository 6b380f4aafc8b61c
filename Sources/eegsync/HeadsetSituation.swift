import Acquisition
import Bluetooth
import Storage

/// What a headset does, in words: one sentence, and what a person can do about it.
struct HeadsetSituation: Hashable {
    /// How good that is.
    enum Severity: String, Encodable, Hashable, Comparable {
        /// As wished.
        case good
        /// Not as wished; eegsync works on it.
        case working
        /// Not as wished; only a person can change it.
        case waiting
        /// Nothing is wished.
        case idle

        /// The worse is greater.
        static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .idle: 0
            case .good: 1
            case .working: 2
            case .waiting: 3
            }
        }

        /// The exit code of `eegsync status` where this is the worst of what is wanted.
        var exitCode: Int32 {
            switch self {
            case .good, .idle: 0
            case .working: Failure.Code.temporary.rawValue
            case .waiting: Failure.Code.unavailable.rawValue
            }
        }
    }

    /// What is known besides what the database says of the headset.
    struct Surroundings {
        /// Whether a process acquires into the database.
        var isDaemonRunning: Bool
        /// Whether a person wants nothing recorded for a while.
        var isPaused = false
        /// Whether the configuration names the headset; nil where there is none.
        var isConfigured: Bool?
        /// What keeps everything from being stored.
        var storage: StorageSituation?
        /// True where the headset streamed when something was committed last, and nothing of it was committed since.
        var isLate = false
        /// True where the state is that of an earlier process.
        var isOutdated = false
        /// True where the process has had time to begin with the headset, and has not.
        var isIgnored = false
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
    ///   - isConfigured: whether the configuration names the headset; nil where there is none.
    init(_ activity: HeadsetActivity, isDaemonRunning: Bool, isConfigured: Bool?) {
        self.init(activity, Surroundings(isDaemonRunning: isDaemonRunning, isConfigured: isConfigured))
    }

    /// The situation of a headset.
    init(_ activity: HeadsetActivity, _ around: Surroundings) {
        guard activity.recording != nil else {
            self.init(idle: activity, isConfigured: around.isConfigured)
            return
        }
        if around.isPaused, activity.isWanted {
            self.init(.idle, "is wanted, and paused", nil)
            return
        }
        guard activity.isWanted else {
            // Nothing is stored of it any more; a process notes its end.
            self = around.isDaemonRunning ? Self(.working, "is being stopped", nil) : Self(.idle, "is stopped", nil)
            return
        }
        let phase = activity.state.flatMap { ConnectionPhase(rawValue: $0) }
        let isUnnamed = around.isConfigured == false
        // A headset that was renamed, or left out of the configuration, while it is recorded goes on until the process ends.
        let isAcquired = around.isDaemonRunning && !around.isOutdated && (phase.map { $0 != .stopped } ?? false)
        if isUnnamed, !isAcquired {
            self.init(
                .waiting, "is wanted, but the configuration names no such headset of the model \(activity.model)",
                "name it there, then: systemctl reload eegsync; or end it: eegsync record stop \(activity.name)")
            return
        }
        guard around.isDaemonRunning else {
            self.init(.waiting, "waits for eegsync run, which does not run", "start it: systemctl start eegsync")
            return
        }
        if let storage = around.storage {
            self.init(.waiting, "is not stored: \(storage.sentence)", storage.remedy)
            return
        }
        if around.isLate {
            self.init(.working, "streams, but nothing of it is stored", "read why: journalctl -u eegsync -e")
            return
        }
        if around.isOutdated {
            self = around.isIgnored ? Self.ignored(activity) : Self(nil, nil, reason: nil)
            return
        }
        let cause = phase.flatMap { phase in
            activity.stateCause.flatMap { ConnectionCause(phase: phase, code: $0, parameter: activity.stateDetail) }
        }
        self.init(phase, cause, reason: cause?.words ?? activity.stateDetail)
        if isUnnamed {
            sentence += ", but the configuration does not name it: the next start of eegsync run does not go on with it"
            remedy = remedy ?? "name it there, then: systemctl reload eegsync"
        }
    }

    /// The situation of a headset that is wanted and that the process knows nothing of, as it says in its log.
    private static func ignored(_ activity: HeadsetActivity) -> HeadsetSituation {
        HeadsetSituation(
            .waiting, "is wanted, but eegsync run has not begun with it",
            "see that its configuration names \(activity.name) with the model \(activity.model), then: systemctl reload eegsync"
        )
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
