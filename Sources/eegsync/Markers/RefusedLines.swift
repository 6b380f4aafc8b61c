import Bluetooth

/// Lines that are no markers, of which a program may send any number: a few of each minute are said one by one, the others
/// counted.
struct RefusedLines {
    /// So many of a minute are said one by one.
    private static let saidMaximum = 10
    private static let interval = Duration.seconds(60)

    private let log: (String) -> Void
    /// The end of the present minute; nil before the first line.
    private var end: MonotonicTime?
    private var count = 0

    /// - Parameter log: takes what is said.
    init(log: @escaping (String) -> Void) { self.log = log }

    /// A line from the socket of a name is refused.
    mutating func note(_ error: MarkLineError, from name: String, at now: MonotonicTime) {
        sayRest(at: now)
        if end == nil { end = now + Self.interval }
        count += 1
        if count <= Self.saidMaximum { log("a line from \(name) is refused: \(error.reason)") }
    }

    /// Says how many more there were, where their minute is over.
    ///
    /// - Parameter now: nil at the end of the process, when nothing comes any more.
    mutating func sayRest(at now: MonotonicTime?) {
        guard let end, now.map({ $0 >= end }) ?? true else { return }
        if count > Self.saidMaximum { log("\(count - Self.saidMaximum) further lines are refused") }
        (self.end, count) = (nil, 0)
    }
}
