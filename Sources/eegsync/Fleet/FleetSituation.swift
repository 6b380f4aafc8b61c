import Centre

/// How a headset of a study is, or a machine without one, in one sentence.
struct FleetSituation: Hashable {
    var severity: HeadsetSituation.Severity
    /// Completes "left ...", or "pi-07 ..." for a machine.
    var sentence: String

    /// Beyond so many seconds it is said that what was recorded is not at the centre yet.
    static let delayMaximum = 60.0

    /// - Parameter silenceSeconds: a machine that was not heard of for so long is silent, whatever it said last.
    init(_ row: FleetReading.Row, silenceSeconds: Double) {
        guard let contact = row.contactSeconds else {
            self.init(.idle, "has never shipped anything")
            return
        }
        if contact > silenceSeconds {
            var sentence = "was not heard of for \(Quantity.duration(seconds: contact))"
            if let last = row.headset?.sentence { sentence += "; it was said then that it \(last)" }
            // Of a machine that recorded nothing when it was heard of last, nothing is missed.
            self.init(row.headset?.isWanted == false ? .idle : .waiting, sentence)
            return
        }
        guard row.hasSaid else {
            self.init(.working, "ships, and does not say how it is: its eegsync is too old for that")
            return
        }
        if let problem = row.problem, row.headset?.isWanted != false {
            self.init(.waiting, "is on a machine with a problem: \(problem)")
            return
        }
        guard let headset = row.headset else {
            self.init(.idle, row.isAcquiring ? "has no headset yet" : "has no headset yet, and eegsync run does not run")
            return
        }
        self.init(headset)
    }

    /// The situation of a headset whose machine was heard of lately.
    private init(_ headset: FleetReading.Headset) {
        let severity = headset.severity.flatMap(HeadsetSituation.Severity.init) ?? .working
        let said = headset.sentence ?? "is not spoken of"
        guard severity == .good else {
            self.init(severity, said)
            return
        }
        if let alert = headset.alerts.first {
            self.init(.working, "\(said), but \(alert)")
            return
        }
        if headset.isOfAnotherStudy {
            self.init(.good, "\(said); its recording goes on in a study that you do not read")
            return
        }
        if headset.newestSeconds != nil, headset.delaySeconds == nil {
            self.init(.working, "\(said), but nothing of it is here yet")
            return
        }
        if let delay = headset.delaySeconds, delay > Self.delayMaximum {
            self.init(.working, "\(said), but its last \(Quantity.duration(seconds: delay)) are not here yet")
            return
        }
        if let backlog = headset.backlogSeconds, backlog > Self.delayMaximum {
            self.init(.good, "\(said); \(Quantity.duration(seconds: backlog)) of before are still to come")
            return
        }
        self.init(.good, said)
    }

    private init(_ severity: HeadsetSituation.Severity, _ sentence: String) {
        (self.severity, self.sentence) = (severity, sentence)
    }
}
