import Storage

/// What a headset does, in words: one sentence, and what a person can do about it.
struct HeadsetSituation: Hashable {
    /// How good that is.
    enum Mood: String, Encodable, Hashable {
        /// As wished.
        case good
        /// Not as wished; eegsync works on it.
        case working
        /// Not as wished; only a person can change it.
        case waiting
        /// Nothing is wished.
        case idle
    }

    var mood: Mood
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
        guard activity.recording != nil else {
            self.init(idle: activity, isConfigured: isConfigured)
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
        self.init(state: activity.state ?? "", detail: activity.stateDetail)
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

    /// The situation of a headset that is wanted, by the name of its connection state.
    private init(state: String, detail: String?) {
        let nearby = "switch it on and bring it within reach; eegsync finds it by itself"
        let detail = detail.map { ": \($0)" } ?? ""
        switch state {
        case "streaming": self.init(.good, "streams", nil)
        case "stopped", "": self.init(.working, "is about to be looked for", nil)
        case "waitingForAdapter":
            self.init(
                .waiting, "waits for the Bluetooth adapter\(detail)",
                "plug it in, or switch it on: bluetoothctl power on; rfkill unblock bluetooth")
        case "waitingForOperator":
            self.init(.waiting, "waits for a person\(detail)", "remove the cause, then: systemctl reload eegsync")
        case "searching": self.init(.working, "is looked for\(detail)", nearby)
        case "establishing": self.init(.working, "is connected and is being prepared\(detail)", nil)
        default: self.init(.working, "is in state \(state)\(detail)", nil)
        }
    }

    private init(_ mood: Mood, _ sentence: String, _ remedy: String?) {
        self.mood = mood
        self.sentence = sentence
        self.remedy = remedy
    }
}
