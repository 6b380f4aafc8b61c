import Centre
import Foundation

/// How the machines and headsets of a study are.
struct FleetFacts: Facts {
    /// A machine.
    struct Machine: Encodable {
        var study: String
        /// Its role at the centre.
        var machine: String
        var uuid: String?
        /// Of eegsync.
        var version: String?
        /// How long ago it was heard of; nil for never.
        var contactSeconds: Double?
        /// Whether it was not heard of for longer than it may be silent.
        var isSilent: Bool
        /// Whether `eegsync run` runs there.
        var isAcquiring: Bool
        var problem: String?
        var alerts: [String]
        var freeBytes: Int64?
        var diskDays: Double?
        /// How much it may have at the centre, and how much it has.
        var quotaBytes: Int64?
        var usedBytes: Int64?
        /// Of a machine without headsets.
        var sentence: String?
        var headsets: [Headset] = []
    }

    /// A headset of a machine.
    struct Headset: Encodable {
        var headset: String
        var model: String?
        var severity: HeadsetSituation.Severity
        var sentence: String
        var isWanted: Bool?
        var alerts: [String]
        var batteryPercent: Double?
        var newestSeconds: Double?
        var delaySeconds: Double?
        var backlogSeconds: Double?
        var gapsToday: Int64?
        var missingTodaySeconds: Double?
        /// When the newest sample at the centre was taken, by the machine's clock, in UTC.
        var newest: String?
        /// Its newest recording, by its number at the centre.
        var recording: Int64?
    }

    var centre: String
    /// The worst of all.
    var severity = HeadsetSituation.Severity.idle
    var machines: [Machine] = []

    /// Asks the centre; days are those of this machine's time zone.
    init(asking connection: CentreConnection, silenceSeconds: Double) throws(CentreError) {
        self.init(
            try FleetReading(connection, timeZone: TimeZone.current.identifier), centre: connection.destination,
            silenceSeconds: silenceSeconds)
    }

    init(_ reading: FleetReading, centre: String, silenceSeconds: Double) {
        self.centre = centre
        for row in reading.rows {
            let situation = FleetSituation(row, silenceSeconds: silenceSeconds)
            severity = max(severity, situation.severity)
            if machines.last?.machine != row.machine {
                machines.append(
                    Machine(
                        study: row.study, machine: row.machine, uuid: row.machineUUID, version: row.version,
                        contactSeconds: row.contactSeconds, isSilent: row.contactSeconds.map { $0 > silenceSeconds } ?? false,
                        isAcquiring: row.isAcquiring, problem: row.problem, alerts: row.alerts, freeBytes: row.freeBytes,
                        diskDays: row.diskDays, quotaBytes: row.quotaKiB.map(Self.bytes),
                        usedBytes: row.usedKiB.map(Self.bytes)))
            }
            guard let headset = row.headset else {
                machines[machines.count - 1].sentence = situation.sentence
                continue
            }
            machines[machines.count - 1].headsets.append(
                Headset(
                    headset: headset.name, model: headset.model, severity: situation.severity, sentence: situation.sentence,
                    isWanted: headset.isWanted, alerts: headset.alerts, batteryPercent: headset.batteryPercent,
                    newestSeconds: headset.newestSeconds, delaySeconds: headset.delaySeconds,
                    backlogSeconds: headset.backlogSeconds, gapsToday: headset.gapsToday,
                    missingTodaySeconds: headset.missingTodaySeconds,
                    newest: headset.newestUnixNanoseconds.map { Quantity.utc(unixNanoseconds: $0) },
                    recording: headset.recording))
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        if machines.isEmpty {
            return ["\(centre.printable) has no machine that you may see. Enrol one: eegsync centre enrol"]
        }
        var table = TextTable([
            .init(heading: "MACHINE", shortens: true), .init(heading: "HEADSET", shortens: true),
            .init(heading: "NEWEST", alignment: .right), .init(heading: "DELAY", alignment: .right, dispensability: 2),
            .init(heading: "GAPS TODAY", alignment: .right, dispensability: 1),
            .init(heading: "BATTERY", alignment: .right, dispensability: 3),
            .init(heading: "DISK", alignment: .right, dispensability: 4),
            .init(heading: "VERSION", shortens: true, dispensability: 5), .init(heading: "SITUATION", wraps: true),
        ])
        for (machine, headset) in worstFirst { table.append(Self.row(machine, headset)) }
        return table.rendered(style: style) + [""] + summary(style: style)
    }

    /// Each headset with its machine, and each machine without one: of a thousand, the worst are what somebody looks for.
    var worstFirst: [(machine: Machine, headset: Headset?)] {
        let entries = machines.flatMap { machine in
            machine.headsets.isEmpty ? [(machine, Headset?.none)] : machine.headsets.map { (machine, Optional($0)) }
        }
        func rank(_ entry: (Machine, Headset?)) -> HeadsetSituation.Severity { entry.1?.severity ?? .idle }
        return entries.enumerated().sorted {
            rank($0.element) == rank($1.element) ? $0.offset < $1.offset : rank($0.element) > rank($1.element)
        }.map { ($0.element.0, $0.element.1) }
    }

    private static func row(_ machine: Machine, _ headset: Headset?) -> [TextTable.Cell] {
        func seconds(_ value: Double?) -> String { value.map { Quantity.duration(seconds: $0) } ?? "" }
        let look: TerminalStyle.Style? =
            switch headset?.severity ?? .idle {
            case .good: .good
            case .working: .caution
            case .waiting: .bad
            case .idle: .faint
            }
        var gaps = headset?.gapsToday.map { Quantity.count($0) } ?? ""
        if let missing = headset?.missingTodaySeconds, missing > 0 { gaps += " (\(Quantity.duration(seconds: missing)))" }
        let battery = headset?.batteryPercent.map { Self.whole($0) + " %" } ?? ""
        let disk = machine.diskDays.map(Self.days) ?? machine.freeBytes.map { Quantity.bytes($0) } ?? ""
        let isStale = machine.isSilent
        return [
            .init(machine.machine), .init(headset?.headset ?? ""), .init(seconds(headset?.newestSeconds), isStale ? .bad : nil),
            .init(seconds(headset?.delaySeconds)), .init(gaps), .init(battery), .init(disk), .init(machine.version ?? ""),
            .init(headset?.sentence ?? machine.sentence ?? "", look),
        ]
    }

    private static func days(_ days: Double) -> String {
        days >= 10_000
            ? "decades" : days >= 2 ? whole(days.rounded(.down)) + " days" : Quantity.duration(seconds: max(0, days) * 86_400)
    }

    private static func bytes(kib: Int64) -> Int64 { max(0, min(kib, 1 << 50)) * 1024 }

    /// What is said of a machine's quota from four fifths of it on.
    private static func quotaSentence(_ machine: Machine) -> String? {
        guard let quota = machine.quotaBytes, let used = machine.usedBytes, used >= quota / 5 * 4 else { return nil }
        let remedy =
            "eegsync centre enrol \(machine.machine.printable) --study \(machine.study.printable) --quota SIZE gives it more"
        // What was refused is not counted, and may be larger than what is left.
        if used >= quota / 100 * 99 {
            return "has used its quota of \(Quantity.bytes(quota)) up, and what it records waits there: \(remedy)"
        }
        let share = whole(Double(used) / Double(max(1, quota)) * 100)
        return "has used \(share) % of its quota of \(Quantity.bytes(quota)): \(remedy)"
    }

    /// A number without a fraction, however large it is.
    private static func whole(_ value: Double) -> String { String(format: "%.0f", value) }

    /// What is the case of how many, and what machines say of themselves.
    func summary(style: TerminalStyle) -> [String] {
        let headsets = machines.flatMap(\.headsets)
        func count(_ severity: HeadsetSituation.Severity) -> Int64 { Int64(headsets.count { $0.severity == severity }) }
        let silent = Int64(machines.count(where: \.isSilent))
        func words(_ severity: HeadsetSituation.Severity, one: String, several: String) -> String? {
            let number = count(severity)
            return number == 0 && severity != .good ? nil : "\(Quantity.count(number)) \(number == 1 ? one : several)"
        }
        let parts = [
            words(.good, one: "streams", several: "stream"),
            words(.working, one: "eegsync works on", several: "eegsync works on"),
            words(.waiting, one: "needs a person", several: "need a person"),
            words(.idle, one: "is not recorded", several: "are not recorded"),
        ].compactMap(\.self)
        let sum = "\(Quantity.count(Int64(machines.count), "machine")), \(Quantity.count(Int64(headsets.count), "headset"))"
        var lines = ["\(sum): \(parts.joined(separator: ", "))."]
        if silent > 0 {
            lines.append(style.apply(.bad, to: "\(Quantity.count(silent, "machine")) not heard of: see to power and network."))
        }
        for machine in machines {
            guard let sentence = Self.quotaSentence(machine) else { continue }
            lines.append("\(machine.machine.printable): \(style.apply(.caution, to: sentence))")
        }
        for machine in machines where !machine.isSilent {
            for sentence in (machine.problem.map { [$0] } ?? []) + machine.alerts {
                lines.append("\(machine.machine.printable): \(style.apply(.caution, to: sentence.printable))")
            }
        }
        return lines
    }
}
