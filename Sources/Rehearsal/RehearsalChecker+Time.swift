import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage

/// The times of what is stored.
extension RehearsalChecker {
    /// Each row has the time at which the headset took it.
    mutating func checkTimes(
        of recording: RecordingID, _ headset: SimulatedHeadset, _ reader: RecordingReader, _ report: inout RehearsalReport
    ) throws(StorageError) {
        guard clocksAreRight(report) else { return }
        let sessions = headset.sessions.map { SessionCheck(headset: $0, reader: reader, epochs: epochs) }
        // Rows that came twice are rows more where nothing counts them; no radio repeats anything, only the storm does.
        let countsOnly = plan.faults.duplicatedNotification > 0 || plan.faults.reorderedNotification > 0
        for stream in reader.contents.streams where !countsOnly || stream.description.counterModulus != nil {
            let taken: (Int64) -> MonotonicTime?
            if let buffered = headset.buffered {
                taken = Self.times(of: stream, buffered, epochs[stream.id] ?? [])
            } else if let sessions {
                taken = try sessions.times(of: stream, committed.ranges(of: stream.id))
            } else {
                continue
            }
            let check = TimeCheck(
                stream: stream, rows: committed.ranges(of: stream.id), taken: taken, links: links[recording] ?? [],
                segments: (segments[stream.id] ?? [:]).values.sorted { $0.firstN < $1.firstN },
                arrivalStep: max(headset.specification.connectionInterval, plan.lateness.batchInterval),
                heldBack: heldBack(by: headset) + clockDifference,
                isStrict: plan.faults == .none, tolerance: plan.faults == .none ? 1 : 3,
                unixNanosecondsAtBoot: plan.unixNanosecondsAtBoot)
            guard let result = check.result() else { continue }
            report.times.append(result.figures)
            for wrong in result.wrong {
                add(.time, "recording \(recording.rawValue), \(wrong)", at: .boot, &report)
            }
        }
    }

    /// What a clock that is never set says is nobody's fault; nor what one says that was moved between two boots, nor one that
    /// was set when nothing could be stored any more.
    func clocksAreRight(_ report: RehearsalReport) -> Bool {
        plan.clocksBecomeRight && !clockIsStored.values.contains(false)
            && (plan.hostReboots.isEmpty || report.injected[.wallClockStep] == 0)
    }

    /// A correction of the wall clock by less is not noted: the times of two boots may differ by so much (`gap_time`).
    private var clockDifference: Duration { plan.hostReboots.isEmpty ? .zero : AcquisitionLimits().clockStepThreshold }

    /// What waited once for the radio can go on waiting in a headset. Where nothing disturbs the radio nothing waits.
    private func heldBack(by headset: SimulatedHeadset) -> Duration {
        plan.faults != .none ? headset.specification.heldBackMaximum : .zero
    }

    /// By the boot identifier of the epoch, and the position of the index in that boot.
    private static func times(
        of stream: StreamContents, _ headset: BufferedHeadset, _ epochs: [EpochRecord]
    ) -> (Int64) -> MonotonicTime? {
        { n in
            guard let epoch = epochs.last(where: { $0.firstN <= n }),
                let boot = headset.bootHistory.first(where: { $0.bootIdentifier == epoch.bootIdentifier })
            else { return nil }
            let index = UInt32(truncatingIfNeeded: epoch.firstIndex + (n - epoch.firstN))
            return boot.time(of: Int64(index &- boot.streams[stream.position].firstIndex), stream: stream.position)
        }
    }
}
