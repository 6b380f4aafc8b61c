/// What the page shows of a study: what `eegsync fleet` says.
struct StudyPageFacts: Encodable {
    /// A headset, or a machine without one.
    struct Row: Encodable {
        var study: String
        /// Its role at the centre.
        var machine: String
        /// Nil of a machine without headsets.
        var headset: String?
        var severity: HeadsetSituation.Severity
        /// Completes "left ...", or "pi-07 ..." for a machine.
        var sentence: String
        /// Whether the machine was not heard of for longer than it may be silent.
        var isSilent: Bool
        var newestSeconds: Double?
        var delaySeconds: Double?
        var gapsToday: Int64?
        var missingTodaySeconds: Double?
        var batteryPercent: Double?
        var diskDays: Double?
        var freeBytes: Int64?
        var version: String?

        init(_ machine: FleetFacts.Machine, _ headset: FleetFacts.Headset?) {
            // A machine calls itself, and says of itself, what it likes.
            (study, self.machine) = (machine.study.printable, machine.machine.printable)
            self.headset = headset?.headset.printable
            severity = headset?.severity ?? .idle
            sentence = (headset?.sentence ?? machine.sentence ?? "").printable
            isSilent = machine.isSilent
            (newestSeconds, delaySeconds) = (headset?.newestSeconds, headset?.delaySeconds)
            (gapsToday, missingTodaySeconds) = (headset?.gapsToday, headset?.missingTodaySeconds)
            batteryPercent = headset?.batteryPercent
            (diskDays, freeBytes, version) = (machine.diskDays, machine.freeBytes, machine.version?.printable)
        }
    }

    /// The server and its database.
    var centre: String
    /// How many machines and headsets there are, and how they are.
    var summary: String
    /// What is to be said of machines besides.
    var notes: [String]
    /// The worst first.
    var rows: [Row]

    init(_ fleet: FleetFacts) {
        centre = fleet.centre
        let lines = fleet.summary(style: .plain)
        summary = lines.first ?? ""
        notes = Array(lines.dropFirst())
        rows = fleet.worstFirst.map { Row($0.machine, $0.headset) }
    }
}
