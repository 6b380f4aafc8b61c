import Alerts
import Bluetooth
import Centre
import Foundation
import Storage
import Testing

@testable import eegsync

/// What is shown of the machines of a study.
@Suite("The fleet")
struct FleetTests {
    private static func row(
        _ machine: String = "pi-07", contact: Double? = 3, _ change: (inout FleetReading.Row) -> Void = { _ in }
    ) -> FleetReading.Row {
        var row = FleetReading.Row()
        (row.study, row.machine, row.machineUUID, row.version) = ("sleep", machine, "u", "0.1.0")
        (row.contactSeconds, row.hasSaid, row.isAcquiring, row.diskDays) = (contact, true, true, 40.5)
        var headset = FleetReading.Headset()
        (headset.name, headset.model, headset.isWanted) = ("left", "muse-2", true)
        (headset.severity, headset.sentence, headset.batteryPercent) = ("good", "streams", 61.4)
        (headset.newestSeconds, headset.delaySeconds, headset.backlogSeconds) = (4, 0.5, 0)
        (headset.gapsToday, headset.missingTodaySeconds) = (3, 12)
        row.headset = headset
        change(&row)
        return row
    }

    private static func situation(_ row: FleetReading.Row) -> FleetSituation { FleetSituation(row, silenceSeconds: 120) }

    @Test("A headset that streams, and is heard of, is good")
    func good() {
        let situation = Self.situation(Self.row())
        #expect(situation.severity == .good && situation.sentence == "streams")
    }

    @Test(
        "A machine that says nothing is shown, whatever it said last",
        arguments: [(119, false), (121, true), (2_592_000, true)] as [(Double, Bool)])
    func silence(seconds: Double, isSilent: Bool) {
        let situation = Self.situation(Self.row(contact: seconds))
        #expect((situation.severity == .waiting) == isSilent)
        #expect(situation.sentence.contains("was not heard of") == isSilent)
        #expect(situation.sentence.contains("streams"))
        let facts = FleetFacts(FleetReading(rows: [Self.row(contact: seconds)]), centre: "c", silenceSeconds: 120)
        #expect(facts.machines[0].isSilent == isSilent)
        #expect((facts.severity.exitCode == 69) == isSilent)
    }

    @Test(
        "From four fifths of its quota on a machine is named",
        arguments: [
            (799, nil), (800, "80 % of its quota of 1.0 MB"), (989, "99 % of its quota"),
            (990, "up, and what it records waits there"), (.max, "up, and"), (.min, nil),
        ] as [(Int64, String?)])
    func quota(used: Int64, words: String?) {
        let reading = FleetReading(rows: [Self.row { ($0.quotaKiB, $0.usedKiB) = (1000, used) }])
        let facts = FleetFacts(reading, centre: "c", silenceSeconds: 120)
        let line = facts.lines(style: .plain).first { $0.contains("quota") }
        #expect((line != nil) == (words != nil))
        if let words { #expect(line?.contains(words) == true, "\(line ?? "")") }
    }

    @Test("Of a machine that recorded nothing, silence is no alarm, and one that never shipped is known")
    func idle() {
        let silent = Self.situation(Self.row(contact: 9999) { $0.headset?.isWanted = false })
        #expect(silent.severity == .idle && silent.sentence.contains("was not heard of"))
        #expect(Self.situation(Self.row(contact: nil)).sentence == "has never shipped anything")
        let empty = Self.situation(Self.row { $0.headset = nil })
        #expect(empty.severity == .idle && empty.sentence == "has no headset yet")
        let old = Self.situation(Self.row { $0.hasSaid = false })
        #expect(old.severity == .working && old.sentence.contains("too old"))
    }

    @Test("What is wrong is said, the worst of it")
    func wrong() {
        let away = Self.situation(
            Self.row {
                $0.headset?.severity = "working"
                $0.headset?.sentence = "is looked for"
            })
        #expect(away == FleetSituation.of(.working, "is looked for"))
        let full = Self.situation(Self.row { $0.problem = "nothing is stored: the disk is full" })
        #expect(full.severity == .waiting && full.sentence.contains("the disk is full"))
        let alert = Self.situation(Self.row { $0.headset?.alerts = ["the battery is at 9 %", "contact is bad"] })
        #expect(alert == FleetSituation.of(.working, "streams, but the battery is at 9 %"))
        let late = Self.situation(Self.row { $0.headset?.delaySeconds = 3600 })
        #expect(late.severity == .working && late.sentence.contains("1 h 00 min are not here yet"))
        let nothing = Self.situation(Self.row { $0.headset?.delaySeconds = nil })
        #expect(nothing == FleetSituation.of(.working, "streams, but nothing of it is here yet"))
        // The machine has gone on to another study than that of its recording.
        let elsewhere = Self.situation(
            Self.row {
                $0.headset?.delaySeconds = nil
                $0.headset?.isOfAnotherStudy = true
            })
        #expect(elsewhere.severity == .good && elsewhere.sentence.contains("a study that you do not read"))
        let silent = Self.situation(
            Self.row {
                $0.headset?.delaySeconds = nil
                $0.headset?.newestSeconds = nil
            })
        #expect(silent == FleetSituation.of(.good, "streams"))
        let backlog = Self.situation(Self.row { $0.headset?.backlogSeconds = 7200 })
        #expect(backlog.severity == .good && backlog.sentence.contains("2 h 00 min of before are still to come"))
        let unknown = Self.situation(Self.row { $0.headset?.severity = "splendid" })
        #expect(unknown.severity == .working)
    }

    @Test("The worst stand first for people; programs get machines with their headsets")
    func lines() throws {
        var rows = [Self.row("pi-01"), Self.row("pi-02", contact: 7200), Self.row("pi-03"), Self.row("pi-03")]
        rows[2].alerts = ["the machine is at 85 °C"]
        rows[3].headset?.name = "right\u{1B}[2J"
        let facts = FleetFacts(FleetReading(rows: rows), centre: "study.example.org:5432/study", silenceSeconds: 120)
        #expect(facts.machines.map(\.headsets.count) == [1, 1, 2])
        let lines = facts.lines(style: .plain)
        #expect(lines[0].hasPrefix("MACHINE"))
        #expect(lines[1].hasPrefix("pi-02") && lines[1].contains("was not heard of for 2 h 00 min"))
        #expect(lines[2].contains("61 %") && lines[2].contains("40 days") && lines[2].contains("3 (12.0 s)"))
        #expect(lines.contains("3 machines, 4 headsets: 3 stream, 1 needs a person."))
        #expect(lines.contains("1 machine not heard of: see to power and network."))
        #expect(lines.contains("pi-03: the machine is at 85 °C"))
        #expect(!lines.joined().contains("\u{1B}"))
        let json = try facts.json()
        #expect(json.contains("\"is_silent\" : true") && json.contains("\"delay_seconds\" : 0.5"))
        #expect(
            FleetFacts(FleetReading(rows: []), centre: "c", silenceSeconds: 1).lines(style: .plain)[0].contains("no machine"))
    }

    @Test("What a machine says of itself ends nothing", arguments: [1e300, -1e300, .infinity, .nan, 9.3e18])
    func hostile(value: Double) {
        let row = Self.row {
            $0.diskDays = value
            $0.freeBytes = .min
            for real in [
                \FleetReading.Headset.batteryPercent, \.newestSeconds, \.backlogSeconds, \.delaySeconds, \.missingTodaySeconds,
            ] {
                $0.headset?[keyPath: real] = value
            }
            $0.headset?.gapsToday = .min
            $0.headset?.newestUnixNanoseconds = .max
        }
        let facts = FleetFacts(FleetReading(rows: [row]), centre: "c", silenceSeconds: 120)
        #expect(facts.lines(style: .plain).contains { $0.hasPrefix("1 machine, 1 headset: ") })
    }

    @Test("A machine says what its status says, and which rules of it hold")
    func status() throws {
        let database = try RecordedDatabase()
        try database.record()
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let facts = try StatusFacts(store: store, configuration: nil, now: HostClock.now, process: nil)
        func judgement(_ verdict: Judgement.Verdict, _ text: String, of headset: String?) -> Judgement {
            var judgement = Judgement.unknown(text)
            (judgement.verdict, judgement.headset) = (verdict, headset)
            return judgement
        }
        let battery = judgement(.holds, "the battery is at 9 %", of: facts.headsets[0].name)
        let clear = judgement(.clear, "contact is good", of: facts.headsets[0].name)
        let machine = judgement(.holds, "the machine is at 85 °C", of: nil)
        let status = ShipStatus(facts, [battery, clear, machine], unixNanoseconds: 2_000_000_000_000_000_000)
        #expect(!status.isAcquiring && status.alerts == ["the machine is at 85 °C"])
        #expect(status.headsets[0].alerts == ["the battery is at 9 %"])
        let object = try #require(try JSONSerialization.jsonObject(with: Data(status.json.utf8)) as? [String: Any])
        #expect(Set(object.keys).isSuperset(of: ["is_acquiring", "alerts", "headsets"]))
        let headsets = try #require(object["headsets"] as? [[String: Any]])
        #expect(headsets[0]["sentence"] as? String == facts.headsets[0].sentence)
        #expect(headsets[0]["newest_unix_ns"] != nil && headsets[0]["newest_seconds"] != nil)
        #expect(headsets[0]["severity"] as? String == facts.headsets[0].severity.rawValue)
    }
}

extension FleetSituation {
    fileprivate static func of(_ severity: HeadsetSituation.Severity, _ sentence: String) -> FleetSituation {
        var situation = FleetSituation(FleetReading.Row(), silenceSeconds: 1)
        (situation.severity, situation.sentence) = (severity, sentence)
        return situation
    }
}
