import Bluetooth

/// Counts what a stream without counter lost, by the marks that the headset makes each so many samples.
///
/// Marks stand between blocks, so that the samples between two marks are a period only to within a block. Where that block is
/// cut (its phase) follows from the marks themselves: losses are whole blocks and never become fewer, which only the right
/// phase shows. Until one phase is left, the least loss that any of them shows is believed.
struct PeriodMarks: Hashable, Sendable {
    /// Samples between two marks.
    private let period: Int64
    /// Samples of a block.
    private let block: Int64
    /// Periods since the first mark.
    private var periods: Int64 = 0
    /// Samples since the first mark, with what was entered as lost.
    private var firstN: Int64
    /// The n after the last mark's samples, as the headset counts.
    private(set) var markedN: Int64
    /// By phase: the loss that it gave last; nil where that has shrunk, which no loss does.
    private var losses: [Int64?]
    /// What was entered as lost since the first mark.
    private var entered: Int64 = 0
    /// The n at the last mark that was counted.
    private var countedN: Int64
    /// The n at the last mark, counted or not, and the same by the time that has passed.
    private var lastN: Int64
    private var lastDueN: Int64
    /// How late the latest marks were that came by themselves, in samples; one at least. The first one is never more than on
    /// time: whether it has waited itself, only the next ones show.
    private var lateness: [Int64]
    /// How many marks that came by themselves are not counted yet: it is not known whether one was lost before them.
    private var undecided = 0

    /// Marks that are late by a period, so many in a row, have had one before them that was lost with its samples; a stall ends
    /// sooner.
    private static let lateMarks = 3
    /// That a mark was lost, so many samples more than a period has show by themselves, as a part of it: fewer may be damage
    /// that was counted too high.
    private static let lostMarkPart: Int64 = 8
    /// The least late of so many marks has not waited in a queue.
    private static let punctualMarks = 8

    /// Larger blocks have too many phases to be distinguished.
    private static let blockLimit: Int64 = 256

    /// Begins at a mark.
    ///
    /// - Parameters:
    ///   - n: of the sample after it.
    ///   - dueN: the same by the time that has passed.
    ///   - period: samples between two marks.
    ///   - block: samples of each block.
    init(n: Int64, dueN: Int64, period: Int64, block: Int64) {
        self.period = max(1, period)
        self.block = min(max(1, block), Self.blockLimit)
        firstN = n
        markedN = n
        countedN = n
        lastN = n
        lastDueN = dueN
        lateness = [min(0, dueN.addingClamped(-n))]
        losses = Array(repeating: 0, count: Int(self.block))
    }

    /// True where marks like these are counted.
    func counts(period: Int64, block: Int64) -> Bool {
        self.period == period && self.block == min(max(1, block), Self.blockLimit)
    }

    /// Takes a mark.
    ///
    /// - Parameters:
    ///   - n: of the sample after it, as counted so far.
    ///   - dueN: the same by the time that has passed: marks can be lost, too.
    /// - Returns: how many samples were lost that were not entered yet; nil where the marks do not go on as they began.
    mutating func take(n: Int64, dueN: Int64) -> Int64? {
        defer { lastDueN = dueN }
        // Marks that have waited come at once, with their samples.
        let isAlone = dueN.addingClamped(-lastDueN) >= period / 2
        // Neither samples nor time lie between two marks of which one is the other once more.
        if n - lastN < period / 2, !isAlone { return 0 }
        // A mark that was lost alone left its samples; one that is late has waited in a queue with them.
        var passed = max(1, (n - countedN + period / 2) / period)
        // By how many samples it comes later than the least late of the latest ones.
        var wait = dueN.addingClamped(-markedN).addingClamped(-(lateness.min() ?? 0)).addingClamped(-passed * period)
        // More samples than a period has: the mark between them was lost with most of its own, where the time bears that out.
        // Where they are few, only marks that stay late do.
        let excess = n - countedN - passed * period
        if excess >= block, wait > period / 2 {
            if isAlone { undecided += 1 }
            let isShown = excess >= period / Self.lostMarkPart
            if !isShown, undecided < Self.lateMarks {
                lastN = n
                return 0
            }
            if isShown || wait > period * 3 / 4 {
                passed += 1
                wait -= period
            }
        }
        undecided = 0
        // Where it is early, the time does not bear out that so many were taken: the headset has begun anew.
        guard wait >= -period / 4 else { return nil }
        periods += passed
        markedN = markedN.addingClamped(passed * period)
        note(lateness: dueN.addingClamped(-markedN), isAlone: isAlone)
        if lateness.count > Self.lateMarks, let least = lateness.suffix(Self.lateMarks).min(), least > period * 3 / 4 {
            let lost = (least + period / 4) / period
            guard lost < 1 << 20 else { return nil }
            periods += lost
            markedN = markedN.addingClamped(lost * period)
            lateness = [dueN.addingClamped(-markedN)]
        }
        // What came, less what was entered: only received samples.
        let deficit = periods * period - (n - firstN - entered)
        for phase in losses.indices {
            guard let before = losses[phase] else { continue }
            let cut = (periods * period + Int64(phase)) % block - Int64(phase) % block
            let loss = deficit - cut
            losses[phase] = loss >= before && loss % block == 0 ? loss : nil
        }
        guard let least = losses.compactMap({ $0 }).min() else { return nil }
        let fresh = max(0, least - entered)
        entered += fresh
        countedN = n + fresh
        lastN = countedN
        return fresh
    }

    /// Of marks that come at once the least late counts: one stall does not make several late.
    private mutating func note(lateness late: Int64, isAlone: Bool) {
        if isAlone {
            lateness = lateness.suffix(Self.punctualMarks - 1) + [late]
        } else {
            lateness[lateness.count - 1] = min(late, lateness[lateness.count - 1])
        }
    }
}
