import Bluetooth

/// The transmit queue of a firmware that drops a packet for which there is "no buffer": it keeps the oldest, and a radio that
/// comes back empties it little by little, not much faster than it is filled.
struct RefusingQueue: Sendable {
    /// So many times as fast as it is filled.
    private let ahead: Double
    /// The first instants of the packets that wait.
    private var packets: [Int64] = []
    /// How many packets the radio may carry by now.
    private var credit = 0.0
    private var latest: Int64?

    /// No more than a connection event or two passes unused.
    private static let longestEvent: Int64 = 60_000_000

    init(ahead: Double) { self.ahead = ahead }

    /// A session begins, or the link has ended: nothing waits.
    mutating func removeAll() { (packets, credit, latest) = ([], 0, nil) }

    /// Takes the packets that are due, as far as there is room for them, and sends what the radio carries.
    ///
    /// - Parameters:
    ///   - limit: so many packets have room.
    ///   - perSecond: how many packets the headset makes in a second.
    ///   - isHeard: false while the radio carries nothing: all of it waits.
    mutating func take(_ due: [Int64], limit: Int, perSecond: Double, isHeard: Bool, at time: Int64) -> [Int64] {
        packets += due.prefix(max(0, limit - packets.count))
        let elapsed = min(Self.longestEvent, time - (latest ?? time - Self.longestEvent))
        latest = time
        guard isHeard else { return [] }
        credit += Double(elapsed) / 1e9 * perSecond * ahead
        let sent = Array(packets.prefix(Int(credit)))
        packets.removeFirst(sent.count)
        // What nothing waited for is not saved up.
        credit = packets.isEmpty ? 1 : credit - Double(sent.count)
        return sent
    }
}
