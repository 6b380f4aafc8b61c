import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage

/// Reports what happens in a demo: faults as the world counts them, and what was committed because of them.
struct DemoTimeline {
    private let script: [ScriptedFault]
    private var reported = InjectedFaults()
    private var ended: Set<Fault> = []
    private var availableSince: MonotonicTime?
    private let end: MonotonicTime
    private let isFirstProcess: Bool
    private var hasStreamed = false
    private var lastState: String?
    private var lastReturn: MonotonicTime = .boot
    /// The n after the last row that was committed.
    private var nextN: Int64 = 0
    private var gaps: [Int64: Gap] = [:]

    /// A gap of whole rows.
    private struct Gap {
        var count: Int64?
        var cause: GapCause
        var recovered: Int64 = 0
    }

    /// The sampling frequency of the demo's one stream, in hertz.
    private static let samplingFrequency = 250.0

    init(_ plan: DemoPlan) {
        script = plan.script
        end = plan.end
        isFirstProcess = true
    }

    /// The timeline of a process that goes on where another was killed: what that one has reported is not reported again.
    init(_ plan: DemoPlan, after world: SimulatedWorld) {
        script = plan.script
        end = plan.end
        isFirstProcess = false
        hasStreamed = true
        observe(world, isDaemonAlive: false) { _ in }
    }

    // MARK: The world

    /// Looks at the world after a step.
    mutating func observe(_ world: SimulatedWorld, isDaemonAlive: Bool, _ report: (DemoEvent) -> Void) {
        let now = world.now
        let isAvailable = isDaemonAlive && world.adapterState == .poweredOn && world.headsets[0].canBeReached
        if !isAvailable { availableSince = nil } else if availableSince == nil { availableSince = now }
        for fault in script where fault.time <= now && reported[fault.fault] == 0 {
            reported[fault.fault] = 1
            report(.world(at: fault.time, fault.fault.name, Self.beginning(of: fault)))
        }
        for fault in script where fault.time + fault.duration <= now && fault.duration > .zero {
            guard ended.insert(fault.fault).inserted else { continue }
            let time = fault.time + fault.duration
            let count = world.injected[fault.fault]
            switch fault.fault {
            case .outOfRange: report(.world(at: time, "inRange", "the headset is back in range"))
            case .duplicatedNotification:
                report(.eegsync(at: time, "duplicates", "stored each sample of \(count) doubled notifications once"))
            case .lostNotification: report(.world(at: time, "lostNotificationEnded", "\(count) notifications were lost"))
            default: break
            }
        }
        if world.injected[.counterWrap] > reported[.counterWrap] {
            reported[.counterWrap] = world.injected[.counterWrap]
            report(.world(at: now, "counterWrap", "the headset's sample counter wraps from 4,294,967,295 to 0"))
        }
    }

    private static func beginning(of fault: ScriptedFault) -> String {
        switch fault.fault {
        case .duplicatedNotification: "every notification arrives twice, for 2 s"
        case .lostNotification: "no notification arrives, for 0.3 s"
        case .outOfRange: "the headset is carried out of range, for 6 s"
        case .reboot: "the headset reboots: its memory is empty, its counter begins anew"
        default: fault.fault.name
        }
    }

    // MARK: eegsync

    mutating func note(_ back: StreamingReturn, _ report: (DemoEvent) -> Void) {
        let latency = availableSince.map { Double((back.firstSample - $0).nanoseconds) / 1e6 }
        let layer =
            switch back.layer {
            case "restoration": "the system still held the link (layer 0)"
            case "cachedIdentifier": "connected to its known address (layer 1)"
            case "serviceRetrieval": "another program had it connected (layer 2)"
            default: "found by its service in a scan (layer 3)"
            }
        lastReturn = back.firstSample
        let since = latency.map { " after \(Int64($0.rounded())) ms" } ?? ""
        report(
            DemoEvent(
                seconds: DemoPlan.seconds(at: back.firstSample), actor: .eegsync, kind: "streaming",
                text: "samples flow\(hasStreamed ? " again" : "")\(since): \(layer)", layer: back.layer,
                latencyMilliseconds: latency))
        hasStreamed = true
    }

    mutating func note(_ batch: WriteBatch, committedAt now: MonotonicTime, _ report: (DemoEvent) -> Void) {
        for case .connectionEvent(let event) in batch.changes {
            defer { lastState = event.state }
            guard event.state == "searching", event.at < end else { continue }
            // Most links are silent for a moment before they are lost.
            if lastState.flatMap(ConnectionPhase.init(rawValue:))?.holdsLink == true {
                report(.eegsync(at: event.at, "linkLost", "the link is lost; searches"))
            } else {
                let text = isFirstProcess ? "searches for the headset" : "asks the system what it still holds"
                report(.eegsync(at: event.at, "searching", text))
            }
        }
        for case .epoch(let epoch) in batch.changes where epoch.number > 0 {
            let text = "asks the headset, learns of the reboot, and begins epoch \(epoch.number + 1)"
            report(.eegsync(at: epoch.began, "epoch", text))
        }
        noteRows(of: batch, at: now, report)
        for case .ledger(let entry) in batch.changes { note(entry, at: now, report) }
        for case .recording(.stopped(_, let time)) in batch.changes {
            for (firstN, gap) in gaps.sorted(by: { $0.key < $1.key }) {
                guard let count = gap.count, count > gap.recovered else { continue }
                let lost = Self.amount(count - gap.recovered)
                report(.eegsync(at: time, "missing", "gap at n = \(firstN): \(lost) cannot be had, \(gap.cause.rawValue)"))
            }
            report(.eegsync(at: time, "stopped", "ends the recording"))
        }
    }

    /// Rows that came late, but before the ledger had to say that they are missing.
    private mutating func noteRows(of batch: WriteBatch, at now: MonotonicTime, _ report: (DemoEvent) -> Void) {
        var late: Int64 = 0
        for rows in batch.samples {
            if rows.firstN < nextN { late += Int64(rows.rowCount) }
            nextN = max(nextN, rows.firstN + Int64(rows.rowCount))
        }
        for case .ledger(.recover(_, _, 0, let count)) in batch.changes { late -= count }
        let hasRebooted = batch.changes.contains { if case .epoch(let epoch) = $0 { epoch.number > 0 } else { false } }
        guard late > 0, !hasRebooted else { return }
        report(.eegsync(at: now, "recovered", "read \(Self.amount(late)) from the headset's memory before the commit"))
    }

    private mutating func note(_ entry: LedgerEntry, at now: MonotonicTime, _ report: (DemoEvent) -> Void) {
        switch entry {
        case .open(_, let firstN, 0, let count, let cause, let noticed, _):
            gaps[firstN] = Gap(count: count, cause: cause)
            guard let count else {
                return report(
                    .eegsync(at: noticed, "gapOpened", "gap opened at n = \(firstN): \(cause.rawValue), its end unknown"))
            }
            // The link that came back showed how long it is.
            let time = max(noticed, lastReturn)
            report(.eegsync(at: time, "gap", "gap at n = \(firstN): \(Self.amount(count)) missing, \(cause.rawValue)"))
        case .close(_, let firstN, 0, let count, _):
            gaps[firstN]?.count = count
            guard let cause = gaps[firstN]?.cause else { return }
            let time = lastReturn == .boot ? now : lastReturn
            report(.eegsync(at: time, "gap", "gap at n = \(firstN): \(Self.amount(count)) missing, \(cause.rawValue)"))
        case .recover(_, let firstN, 0, let count):
            guard let gap = gaps[firstN], let total = gap.count else { return }
            gaps[firstN]?.recovered += count
            guard gap.recovered + count == total else { return }
            report(
                .eegsync(
                    at: now, "recovered", "gap at n = \(firstN): all \(Self.amount(total)) read from its memory"))
        default: break
        }
    }

    private static func amount(_ count: Int64) -> String {
        let tenths = Int64((Double(count) / samplingFrequency * 100).rounded())
        let hundredths = tenths % 100 < 10 ? "0\(tenths % 100)" : "\(tenths % 100)"
        return "\(count) samples (\(tenths / 100).\(hundredths) s)"
    }
}

extension DemoEvent {
    static func world(at time: MonotonicTime, _ kind: String, _ text: String) -> DemoEvent {
        DemoEvent(seconds: DemoPlan.seconds(at: time), actor: .world, kind: kind, text: text)
    }

    static func eegsync(at time: MonotonicTime, _ kind: String, _ text: String) -> DemoEvent {
        DemoEvent(seconds: DemoPlan.seconds(at: time), actor: .eegsync, kind: kind, text: text)
    }
}
