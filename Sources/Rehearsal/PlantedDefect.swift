import Bluetooth
import Headsets
import Storage

/// Defects that can be planted between the acquisition and the database. Each breaks one promise; a checker that does not
/// notice its defect is worth nothing.
package enum PlantedDefect: String, Hashable, Sendable, CaseIterable {
    /// The headset is allowed to forget what is not committed.
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
    /// Recording goes on while a person wants nothing recorded.
    case ignorePause
    /// A recording that is to end by itself ends after half of its time.
    case endTooEarly
    /// What time has made due is never done.
    case ignoreTimes
    /// A second connection is asked for while one is pending.
    case connectTwice
    /// A lost link is never tried again.
    case giveUpReconnecting
    /// Something malformed is taken for the next block.
    case believeMalformed
    /// A later sample gets an earlier time.
    case turnTimeBack
    /// What the headset still holds is not read from its memory.
    case neverDrain
    /// An impedance is stored as the next electrode's.
    case swapElectrodes
    /// Now and then a batch has rows twice, so that the database refuses all of it.
    case repeatRows
    /// A batch that the database does not take while it is busy or full is not tried again.
    case dropRefusedBatches
    /// A flush that the disk refused counts as done.
    case acknowledgeBeforeFlush
    /// At its end the daemon does not write what it has.
    case endWithoutWriting
    /// What stood in the spool of a killed daemon is not written.
    case loseSpool
    /// A new address is adopted before the known one has been silent for the set time.
    case adoptAtOnce
    /// A new address is adopted although a person is to be asked.
    case adoptUnasked
    /// That an address was adopted is written nowhere.
    case forgetAdoptions
    /// Of several headsets in sight one is shown, and so taken.
    case bindByChance
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
            batch.changes.removeAll { if case .ledger(.open(_, _, 0, _, _, _, _)) = $0 { true } else { false } }
        case .fillGapsWithZeros: fillWithZeros(&batch)
        case .shiftChannel:
            guard batch.number > 10 else { return }
            for index in batch.samples.indices { shift(&batch.samples[index]) }
        case .swapHeadsets:
            let streams = Set(batch.samples.map(\.stream)).sorted()
            guard batch.number > 5, let first = streams.first, let last = streams.last, first != last else { return }
            let rows = batch.samples.filter { $0.stream == last }
            for (row, index) in batch.samples.indices.filter({ batch.samples[$0].stream == first }).enumerated()
            where row < rows.count && rows[row].channelCount == batch.samples[index].channelCount {
                let count = min(rows[row].values.count, batch.samples[index].values.count)
                batch.samples[index].values.replaceSubrange(0..<count, with: rows[row].values[0..<count])
            }
        case .turnTimeBack:
            guard batch.number % 10 == 9 else { return }
            batch.changeSegments { segment in
                segment.referenceTime = segment.referenceTime - .seconds(30)
                segment.firstN += 1
            }
        case .shiftSegment:
            batch.changeSegments { segment in
                guard (90e9..<150e9).contains(Double(segment.firstN) * segment.periodNanoseconds) else { return }
                segment.referenceTime = segment.referenceTime + .milliseconds(50)
            }
        case .stretchPeriod: batch.changeSegments { $0.periodNanoseconds *= 1.001 }
        case .swapElectrodes: swapElectrodes(&batch)
        case .forgetAdoptions:
            batch.changes.removeAll { change in
                switch change {
                case .adoption: true
                case .annotation(let annotation): annotation.source == "eegsync"
                default: false
                }
            }
        case .repeatRows:
            if batch.number % 30 == 29, let last = batch.samples.last { batch.samples.append(last) }
        case .acknowledgeBeforeCommit, .writeAfterStop, .connectTwice, .giveUpReconnecting, .neverDrain, .dropRefusedBatches,
            .acknowledgeBeforeFlush, .endWithoutWriting, .loseSpool, .believeMalformed, .ignorePause, .endTooEarly,
            .ignoreTimes, .adoptAtOnce, .adoptUnasked, .bindByChance:
            break
        }
    }

    private func fillWithZeros(_ batch: inout WriteBatch) {
        var kept: [Change] = []
        for change in batch.changes {
            guard case .ledger(.open(let stream, let firstN, 0, let count?, .packetLost, _, _)) = change,
                let channels = batch.samples.first(where: { $0.stream == stream })?.channelCount
            else {
                kept.append(change)
                continue
            }
            batch.samples.append(
                SampleRows(
                    stream: stream, channelCount: channels, firstN: firstN,
                    values: Array(repeating: 0, count: channels * Int(count))))
        }
        batch.changes = kept
    }

    private func swapElectrodes(_ batch: inout WriteBatch) {
        var last: (index: Int, record: ImpedanceRecord)?
        for (index, change) in batch.changes.enumerated() {
            guard case .impedance(let record) = change else { continue }
            if let (previous, unswapped) = last {
                var swapped = unswapped
                swapped.electrode = record.electrode
                batch.changes[previous] = .impedance(swapped)
            }
            last = (index, record)
        }
    }

    private func shift(_ rows: inout SampleRows) {
        guard rows.channelCount > 1, rows.rowCount > 1 else { return }
        for row in 0..<(rows.rowCount - 1) {
            rows.values[row * rows.channelCount] = rows.values[(row + 1) * rows.channelCount]
        }
    }
}

extension WriteBatch {
    /// Changes every segment.
    fileprivate mutating func changeSegments(_ change: (inout SegmentRecord) -> Void) {
        for index in changes.indices {
            guard case .segment(var segment) = changes[index] else { continue }
            change(&segment)
            changes[index] = .segment(segment)
        }
    }
}
