import Assembly
import Bluetooth
import Headsets
import Storage
import Tap

/// What the readers of the tap hear of one headset.
extension HeadsetAcquisition {
    /// So many rows at most are in one message: 540 kB of 8 channels.
    private static let rowMaximum = 16_384

    /// True while somebody reads.
    func setFollowed(_ isFollowed: Bool) {
        records.setFollowed(isFollowed)
        recorded.setFollowed(isFollowed)
    }

    /// Where the connection stands.
    var tapState: TapState {
        TapState(
            recording: recording, since: phaseSince, state: phase.rawValue, cause: phaseCause?.code,
            detail: phaseCause?.parameter)
    }

    /// The recording as it is now.
    var tapDescription: [TapContent] {
        var contents: [TapContent] = [
            .headset(TapHeadset(recording: recording, headset: headset, name: name, model: open.model)), .state(tapState),
        ]
        for stream in recorded.streams {
            contents.append(.stream(stream.assembler.entered(in: recording)))
            if let gap = stream.assembler.openGap { contents.append(.gap(TapGap(entry: gap, time: nil))) }
        }
        return contents
    }

    /// Says what was assembled and noticed since the last time.
    func sayAssembled(at now: MonotonicTime) {
        for change in records.takeFollowed() {
            if let content = content(of: change) { context.tap.say(content, at: now) }
        }
        recorded.takeFollowed(rowMaximum: Self.rowMaximum) { [context] assembler, followed, arrival in
            for entry in followed.entries {
                let time = assembler.time(of: entry.firstN)?.at
                context.tap.say(.gap(TapGap(entry: entry, time: time)), at: now)
            }
            for rows in followed.rows {
                let time = assembler.time(of: rows.rows.firstN).map { time in
                    TapTime(
                        first: time.at, periodNanoseconds: time.periodNanoseconds,
                        uncertaintyNanoseconds: time.uncertaintyNanoseconds)
                }
                let samples = TapSamples(
                    rows: rows.rows, time: time, arrival: rows.isLate ? nil : arrival, isLate: rows.isLate)
                context.tap.say(.samples(samples), at: now)
            }
            for fill in followed.fills { context.tap.say(.fill(fill), at: now) }
        }
        // Streams that have just begun are followed from their first sample on.
        recorded.setFollowed(true)
    }

    private func content(of change: Change) -> TapContent? {
        switch change {
        case .stream(let stream): return .stream(stream)
        case .recording(let change): return .recording(change)
        case .annotation(let annotation): return .mark(TapMark(annotation: annotation, isStored: false))
        case .impedance(let impedance): return .impedance(impedance)
        case .statusReport(let report):
            guard let status = report.status else { return nil }
            return .battery(
                TapBattery(
                    headset: headset, at: report.at, percent: status.batteryPercent.map { Double($0) },
                    condition: status.condition.rawValue))
        default: return nil
        }
    }
}

extension LedgerEntry {
    /// The first sample of the gap.
    fileprivate var firstN: Int64 {
        switch self {
        case .open(_, let firstN, _, _, _, _, _), .close(_, let firstN, _, _, _), .recover(_, let firstN, _, _),
            .withdraw(_, let firstN, _):
            firstN
        }
    }
}
