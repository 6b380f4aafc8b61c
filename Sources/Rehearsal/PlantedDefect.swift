import Bluetooth
import Headsets
import Storage

/// Defects that can be planted between the acquisition and the database. Each breaks one promise; a checker that does not
/// notice its defect is worth nothing.
public enum PlantedDefect: String, Hashable, Sendable, CaseIterable {
    /// The headset is told to forget what is not committed.
    case acknowledgeBeforeCommit
    /// Rows are dropped on their way to the database.
    case loseRows
    /// Gaps are not entered into the ledger.
    case forgetGaps
    /// What was lost is stored as zeros, as if it had been measured.
    case fillGapsWithZeros
    /// A lost packet shifts a channel against the others.
    case shiftChannel
    /// Samples of one headset are stored as another's.
    case swapHeadsets
    /// Rows are stored after the operator stopped the recording.
    case writeAfterStop
    /// A second connection is asked for while one is pending.
    case connectTwice
    /// A lost link is never tried again.
    case giveUpReconnecting
    /// A later sample gets an earlier time.
    case turnTimeBack
    /// What the headset still holds is not read from its memory.
    case neverDrain
    /// An impedance is stored as the next electrode's.
    case swapElectrodes
    /// Now and then a batch has rows twice, so that the database refuses all of it.
    case repeatRows

    /// A piece of the time map lies 50 ms late.
    case shiftSegment
    /// The time between two samples is wrong by 0.1 %.
    case stretchPeriod

    /// Changes a batch as the defect would.
    func spoil(_ batch: inout WriteBatch) {
        switch self {
        case .loseRows:
            if batch.number % 20 == 7, !batch.samples.isEmpty { batch.samples.removeLast() }
        case .forgetGaps:
            batch.ledger.removeAll { if case .open(_, _, 0, _, _, _, _) = $0 { true } else { false } }
        case .fillGapsWithZeros: fillWithZeros(&batch)
        case .shiftChannel:
            guard batch.number > 10 else { return }
            for index in batch.samples.indices { shift(&batch.samples[index]) }
        case .swapHeadsets:
            let streams = Set(batch.samples.map(\.stream)).sorted()
            guard batch.number > 5, let first = streams.first, let last = streams.last, first != last else { return }
            let rows = batch.samples.filter { $0.stream == last }
            for (place, index) in batch.samples.indices.filter({ batch.samples[$0].stream == first }).enumerated()
            where place < rows.count && rows[place].channelCount == batch.samples[index].channelCount {
                let count = min(rows[place].values.count, batch.samples[index].values.count)
                batch.samples[index].values.replaceSubrange(0..<count, with: rows[place].values[0..<count])
            }
        case .turnTimeBack:
            guard batch.number % 10 == 9 else { return }
            for index in batch.segments.indices {
                batch.segments[index].referenceTime = batch.segments[index].referenceTime - .seconds(30)
                batch.segments[index].firstN += 1
            }
        case .shiftSegment:
            for index in batch.segments.indices {
                let segment = batch.segments[index]
                guard (90e9..<150e9).contains(Double(segment.firstN) * segment.periodNanoseconds) else { continue }
                batch.segments[index].referenceTime = segment.referenceTime + .milliseconds(50)
            }
        case .stretchPeriod: for index in batch.segments.indices { batch.segments[index].periodNanoseconds *= 1.001 }
        case .swapElectrodes:
            let names = batch.impedances.map(\.electrode)
            for index in batch.impedances.indices.dropLast() { batch.impedances[index].electrode = names[index + 1] }
        case .repeatRows:
            if batch.number % 30 == 29, let last = batch.samples.last { batch.samples.append(last) }
        case .acknowledgeBeforeCommit, .writeAfterStop, .connectTwice, .giveUpReconnecting, .neverDrain: break
        }
    }

    private func fillWithZeros(_ batch: inout WriteBatch) {
        var kept: [LedgerEntry] = []
        for entry in batch.ledger {
            guard case .open(let stream, let firstN, 0, let count?, .packetLost, _, _) = entry,
                let channels = batch.samples.first(where: { $0.stream == stream })?.channelCount
            else {
                kept.append(entry)
                continue
            }
            batch.samples.append(
                SampleRows(
                    stream: stream, channelCount: channels, firstN: firstN,
                    values: Array(repeating: 0, count: channels * Int(count))))
        }
        batch.ledger = kept
    }

    private func shift(_ rows: inout SampleRows) {
        guard rows.channelCount > 1, rows.rowCount > 1 else { return }
        for row in 0..<(rows.rowCount - 1) {
            rows.values[row * rows.channelCount] = rows.values[(row + 1) * rows.channelCount]
        }
    }
}
