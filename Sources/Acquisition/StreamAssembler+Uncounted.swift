import Bluetooth
import Headsets
import Storage

/// Streams without counter: what is lost of them, the headset's own marks tell, and else the time.
extension StreamAssembler {
    /// Between this mark of the headset and the one before it, it took exactly `period` samples.
    mutating func mark(period: Int, at arrival: MonotonicTime) {
        guard isLinked, linkStart == nil, hasSamples, description.counterModulus == nil, let timeMap, blockLength > 0,
            damagedBefore == 0 || marks != nil
        else { return }
        settlePartialRows(before: .max, at: arrival)
        settleDamage(at: arrival)
        let (period, block, dueN) = (Int64(period), blockLength, timeMap.position(at: arrival).n)
        unmarked = (period, 0)
        if var known = marks, known.counts(period: period, block: block) {
            if let lost = known.take(n: nextN, dueN: dueN) {
                marks = known
                if lost > 0, lost <= period * 8 {
                    addGap(nextN..<(nextN + lost), cause: .packetLost, at: arrival, isRecoverable: false)
                    self.timeMap?.misplaced(count: lost)
                }
                return
            }
        }
        marks = PeriodMarks(n: nextN, dueN: dueN, period: period, block: block)
    }

    /// A block without counter has come: where it is late, and all others of the last while are, samples were lost.
    mutating func noteUncounted(_ block: SampleBlock, at arrival: MonotonicTime) {
        blockLength = Int64(block.instantCount)
        guard marks == nil, let timeMap else { return }
        guard isRateCertain else { return lossByTime.reset() }
        let due = timeMap.position(at: arrival)
        let lateness = due.n - (nextN + Int64(block.instantCount) - 1)
        guard let lost = lossByTime.take(lateness: lateness, block: blockLength, uncertainty: due.uncertainty, at: arrival)
        else { return }
        addGap(
            nextN..<(nextN + lost), cause: .packetLost, at: arrival,
            certainty: .timed(uncertainty: max(blockLength / 2, due.uncertainty)), isRecoverable: false)
    }
}

/// What can tell a loss, as the database says it.
extension StreamAssembler {
    /// The rate must be known better than losses could change it.
    private var isRateCertain: Bool { (timeMap?.rate.deviation ?? 1) < lossByTime.certainRate }

    /// Marks that stay away for so many of their periods tell nothing any more.
    private static let patientPeriods: Int64 = 4

    /// Says from the block on what tells a loss, where that has changed.
    mutating func noteLossDetection(_ block: SampleBlock) {
        unmarked?.count += Int64(block.instantCount)
        let present: LossDetection =
            if let unmarked, unmarked.count < unmarked.period * Self.patientPeriods {
                .mark
            } else if marks == nil, isRateCertain, block.channelCount == description.channels.count {
                .clock
            } else {
                .nothing
            }
        guard present != lossDetection else { return }
        lossDetection = present
        draft.lossDetections.append(LossDetectionRecord(stream: id, firstN: nextN, means: present))
    }
}
