import Bluetooth

/// Finds by the time that samples of a stream without counter are missing: blocks that come late, all of them for a while, came
/// behind a loss; a stall ends with one that is on time.
struct LossByTime: Hashable, Sendable {
    /// The rate must be known to so much, as a part.
    static let certainRate = 60e-6
    private var first: MonotonicTime?
    private var count = 0
    private var least = Int64.max

    /// So many blocks, over so long a time, all of them late.
    private static let blocks = 16
    private static let period = Duration.milliseconds(700)
    /// The same where they are late by no more than a link keeps back: a radio that is disturbed, or polls less often, is late
    /// by as much for seconds.
    private static let longPeriod = Duration.seconds(5)
    /// What a link keeps back, in seconds: no length of a loss is known better by the time.
    static let backlog = 0.25

    mutating func reset() { self = LossByTime() }

    /// Takes a block's lateness, in samples. Returns how many samples are missing before it, where that is known now.
    ///
    /// - Parameters:
    ///   - block: samples of a block.
    ///   - uncertainty: of the lateness, in samples.
    ///   - backlog: samples of what a link keeps back.
    mutating func take(
        lateness: Int64, block: Int64, uncertainty: Int64, backlog: Int64, at arrival: MonotonicTime
    ) -> Int64? {
        let threshold = max(block * 6 / 10, uncertainty) + 1
        guard lateness >= threshold else {
            reset()
            return nil
        }
        first = first ?? arrival
        count += 1
        least = min(least, lateness)
        guard let first, count >= Self.blocks,
            arrival - first >= (least > backlog ? Self.period : Self.longPeriod)
        else { return nil }
        let lost = block > 1 ? max(1, (least + block / 2) / block) * block : least
        reset()
        return lost
    }
}
