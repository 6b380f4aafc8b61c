import Alerts
import Bluetooth

/// An engine in virtual time: facts are set, time passes in steps of five seconds, and every message is kept.
struct World {
    var facts = AlertFacts()
    private(set) var engine: AlertEngine
    private(set) var now: AlertInstant
    private(set) var notices: [Notice] = []
    private let rules: [AlertRule]
    private let repeating: Duration?

    static let step = Duration.seconds(5)

    init(_ rules: [AlertRule], repeating: Duration? = .seconds(6 * 3600)) {
        self.rules = rules
        self.repeating = repeating
        now = AlertInstant(time: MonotonicTime(nanoseconds: 1_000_000_000_000), unixNanoseconds: 1_790_000_000_000_000_000)
        let state = AlertState(origin: "origin", boot: "boot-1", at: now)
        engine = AlertEngine(rules: rules, machine: "pi", repeating: repeating, state: state)
        facts.headsets = [WatchedHeadset(name: "left", situation: "is looked for")]
    }

    /// Changes what is known of the headset.
    mutating func left(_ change: (inout WatchedHeadset) -> Void) {
        var headset = facts.headsets?.first ?? WatchedHeadset(name: "left", situation: "is looked for")
        change(&headset)
        facts.headsets = [headset]
    }

    /// Lets time pass; what changes while it does, changes before each step.
    @discardableResult
    mutating func pass(_ duration: Duration, _ change: (inout World) -> Void = { _ in }) -> [Notice] {
        var made: [Notice] = []
        var passed = Duration.zero
        while passed < duration {
            passed += Self.step
            advance(Self.step)
            change(&self)
            made += engine.step(facts, at: now)
        }
        notices += made
        return made
    }

    /// The clocks go on, and nobody looks.
    mutating func advance(_ duration: Duration) {
        now.time = now.time + duration
        now.unixNanoseconds += duration.nanoseconds
    }

    /// Another process goes on from what was kept.
    mutating func restart(boot: String = "boot-1", booted: Duration? = nil, rules: [AlertRule]? = nil) {
        if let booted { now.time = MonotonicTime.boot + booted }
        engine = AlertEngine(
            rules: rules ?? self.rules, machine: "pi", repeating: repeating,
            state: engine.state.resumed(boot: boot, at: now))
    }

    var events: [String] { notices.map { "\($0.event.rawValue) \($0.alert)" } }
}

extension Notice {
    /// A message of an alert, for queues and shapes.
    static func made(
        _ event: Event = .raised, _ rule: String = "no_samples", headset: String? = "left", id: String = "origin-1",
        text: String = "no samples for 1 min: it is looked for"
    ) -> Notice {
        var notice = Notice.test(
            id: id, machine: "pi",
            at: AlertInstant(time: .boot, unixNanoseconds: 1_790_000_000_000_000_000))
        notice.event = event
        notice.rule = rule
        notice.headset = headset
        notice.severity = .critical
        notice.text = text
        notice.remedy = event == .recovered ? nil : "switch it on"
        notice.sinceUnixNanoseconds -= 60_000_000_000
        return notice
    }
}
