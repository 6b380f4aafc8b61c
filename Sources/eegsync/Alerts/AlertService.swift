import Alerts
import Bluetooth
import Foundation

/// Watches, keeps what was noticed, and delivers: the work of `eegsync alerts run`, one step at a time. Time, facts and the
/// ways enter from outside.
struct AlertService {
    /// Delivers a message by a way.
    typealias Deliver = @Sendable (Notice, Configuration.Alerts.Way, _ undelivered: Int) async -> DeliveryOutcome

    /// Something for the log.
    struct Line: Hashable {
        var isProblem = false
        var text: String
    }

    let alerts: Configuration.Alerts
    private let keep: (AlertMemory) throws(FileReason) -> Void
    private let deliver: Deliver
    private let light: (Configuration.Alerts.Lamp, _ isLit: Bool) -> String?
    private var engine: AlertEngine
    private(set) var memory: AlertMemory
    /// What was said last of each way that fails, and of the memory.
    private var said: [String: String] = [:]

    /// - Parameters:
    ///   - memory: what an earlier process has kept, or a new one.
    ///   - boot: the machine's present boot.
    ///   - keep: keeps the memory, so that a process that is killed goes on from it.
    ///   - light: lights a lamp or puts it out; says why it cannot.
    init(
        alerts: Configuration.Alerts, machine: String, memory: AlertMemory, boot: String, at now: AlertInstant,
        keep: @escaping (AlertMemory) throws(FileReason) -> Void, deliver: @escaping Deliver,
        light: @escaping (Configuration.Alerts.Lamp, _ isLit: Bool) -> String?
    ) {
        self.alerts = alerts
        self.keep = keep
        self.deliver = deliver
        self.light = light
        var memory = memory
        memory.state = memory.state.resumed(boot: boot, at: now)
        memory.arrange(for: alerts.ways.filter { !$0.isLamp }.map(\.name))
        self.memory = memory
        engine = AlertEngine(rules: alerts.rules, machine: machine, repeating: alerts.repeating, state: memory.state)
    }

    /// True where another message is due: the next step need not wait.
    func isDue(at now: AlertInstant) -> Bool { memory.queues.contains { $0.isDue(at: now.time) } }

    /// Takes how things stand, lights the lamps, and delivers one message that is due by each way. A process that is killed
    /// anywhere in it sends some messages again, with their identifiers, and forgets none.
    mutating func step(_ facts: AlertFacts, now: () -> AlertInstant) async -> [Line] {
        var lines: [Line] = []
        let noticed = engine.step(facts, at: now())
        let isChanged = !noticed.isEmpty
        memory.state = engine.state
        for notice in noticed {
            lines.append(
                Line(isProblem: notice.event != .recovered, text: "\(notice.event.rawValue) \(notice.alert): \(notice.text)"))
            for index in memory.queues.indices where notice.ways.isEmpty || notice.ways.contains(memory.queues[index].way) {
                memory.queues[index].add(notice)
            }
        }
        for way in alerts.ways {
            guard case .led(let lamp) = way.kind else { continue }
            let problem = light(lamp, memory.state.raisedCount(by: way.name) > 0)
            lines += say(problem, of: way.name, recovery: "the LED works again")
        }
        return lines + (await deliverDue(mustKeep: isChanged, now: now))
    }

    /// A message that goes out by a way.
    private struct Delivery: Sendable {
        var queue: Int
        var notice: Notice
        var way: Configuration.Alerts.Way
        var undelivered: Int
    }

    /// Delivers by all ways at once, by each the message that is due: what waits behind it is for the next step, so that a slow
    /// way with a long queue keeps nobody from looking. What became of each delivery is kept as soon as it is known: a way that
    /// hangs has no other repeat anything where the process is killed.
    private mutating func deliverDue(mustKeep: Bool, now: () -> AlertInstant) async -> [Line] {
        let deliver = deliver
        let due = memory.queues.indices.compactMap { begin($0, at: now()) }
        var lines = mustKeep || !due.isEmpty ? keepMemory() : []
        await withTaskGroup(of: (Delivery, DeliveryOutcome).self) { group in
            for delivery in due {
                group.addTask { (delivery, await deliver(delivery.notice, delivery.way, delivery.undelivered)) }
            }
            while let (delivery, outcome) = await group.next() {
                memory.queues[delivery.queue].end(delivery.notice, outcome, at: now().time)
                lines += say(outcome.reason, of: delivery.way.name, recovery: "messages go out by it again")
                lines += keepMemory()
            }
        }
        return lines
    }

    /// The message that is due in a queue; nil where none is.
    private mutating func begin(_ queue: Int, at now: AlertInstant) -> Delivery? {
        guard let way = alerts.ways.first(where: { $0.name == memory.queues[queue].way }),
            let notice = memory.queues[queue].begin(at: now.time)
        else { return nil }
        return Delivery(queue: queue, notice: notice, way: way, undelivered: memory.queues[queue].undelivered)
    }

    private mutating func keepMemory() -> [Line] {
        do throws(FileReason) {
            try keep(memory)
            return say(nil, of: "memory", recovery: "what was noticed can be kept again")
        } catch {
            // Whoever is notified twice after a restart is better off than who is not notified.
            return say("what was noticed cannot be kept: \(error.words)", of: "memory", recovery: "")
        }
    }

    /// A problem is said once, and again when it becomes another one.
    private mutating func say(_ problem: String?, of subject: String, recovery: String) -> [Line] {
        let known = said[subject]
        said[subject] = problem
        if let problem { return problem == known ? [] : [Line(isProblem: true, text: "\(subject): \(problem)")] }
        return known == nil ? [] : [Line(text: "\(subject): \(recovery)")]
    }
}

extension Configuration.Alerts.Way {
    /// A lamp shows a state, and takes no messages.
    var isLamp: Bool {
        if case .led = kind { true } else { false }
    }
}
