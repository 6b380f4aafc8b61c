import Bluetooth
import Simulation

/// A fault that befalls an imitated headset, by the word that people write.
struct ImitatedFault: Hashable {
    /// The word, or the simulation's own name.
    let name: String
    /// What happens.
    let fault: Fault

    /// The words, in the order of the help.
    private static let words: [(name: String, fault: Fault)] = [
        ("drop", .headsetDisconnect), ("away", .outOfRange), ("reboot", .reboot), ("silence", .silence),
        ("sleep", .lowPower), ("pairing", .pairingMode), ("lost", .lostNotification), ("doubled", .duplicatedNotification),
        ("reordered", .reorderedNotification), ("malformed", .malformedNotification), ("half", .lostChannelPacket),
        ("deaf", .statusUnanswered),
    ]

    /// All words in a row, for help and messages.
    static var names: String { words.map(\.name).joined(separator: ", ") }

    /// The fault of a word; nil where there is none.
    init?(_ name: String) {
        guard let known = Self.words.first(where: { $0.name == name || $0.fault.name == name }) else { return nil }
        self.name = known.name
        fault = known.fault
    }

    /// True where it is over at once.
    var isInstant: Bool { [.headsetDisconnect, .reboot, .lowPower].contains(fault) }
}

/// Which fault befalls an imitated headset when.
struct FaultSchedule {
    private let faults: [ImitatedFault]
    private let interval: Duration
    /// How long each lasts that is not over at once.
    let duration: Duration
    private var next: MonotonicTime
    private var index = 0

    /// - Parameters:
    ///   - faults: they take turns; empty for none.
    ///   - interval: the time from the start to the first one, and from each to the next.
    ///   - duration: how long each lasts.
    ///   - start: when the headset is switched on.
    init(_ faults: [ImitatedFault], every interval: Duration, for duration: Duration, start: MonotonicTime) {
        self.faults = faults
        self.interval = interval
        self.duration = duration
        next = start + interval
    }

    /// When the next fault is due; nil for never.
    var deadline: MonotonicTime? { faults.isEmpty ? nil : next }

    /// Takes the fault that is due; nil for none. One that is late is not caught up with.
    mutating func take(at now: MonotonicTime) -> ImitatedFault? {
        guard !faults.isEmpty, next <= now else { return nil }
        defer { index += 1 }
        while next <= now { next = next + interval }
        return faults[index % faults.count]
    }
}
