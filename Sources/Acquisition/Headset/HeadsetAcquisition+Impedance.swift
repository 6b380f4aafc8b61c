import Bluetooth
import Headsets
import Reconnection
import Storage

/// Measuring the impedance of the electrodes, beside the connection machine: it only knows that the headset is alive.
extension HeadsetAcquisition {
    /// The attempt of the requests that begin and end a measurement.
    private var impedanceAttempt: Attempt { Attempt(number: 1, machine: machine.attempt.machine, lane: .impedance) }

    private var isImpedanceOn: Bool { session.streaming?.impedance.isOn ?? false }

    /// True where the headset measures, or is being commanded to begin or to end.
    var isMeasuringImpedance: Bool { isImpedanceOn || session.runner?.attempt.lane == .impedance }

    /// Follows the operator's wish.
    ///
    /// - Parameter end: until when impedances are wanted; nil where they are not.
    func measureImpedance(until end: MonotonicTime?, at now: MonotonicTime) {
        impedanceEnd = end
        advanceImpedance(at: now)
    }

    /// Commands the headset to begin or to end, where its samples have settled and no other command is under way.
    func advanceImpedance(at now: MonotonicTime) {
        if let end = impedanceEnd, end <= now { impedanceEnd = nil }
        timers[.impedanceEnd] = isImpedanceOn ? impedanceEnd : nil
        guard let progress = session.streaming?.impedance, let measurement = session.profile.impedance,
            (impedanceEnd != nil) != progress.isOn, progress.isSettled, session.runner == nil, !isFinishing,
            case .streaming = machine.state
        else { return }
        if progress.isOn {
            if measurement.pausesSamples {
                guard let end = progress.earliestEnd, end <= now else {
                    timers[.impedanceEnd] = progress.earliestEnd
                    return
                }
                // One that has sent no value has stopped the samples, too, unless it did not hear the command.
                if progress.hasEndedSamples(latestSample: recorded.latestLiveSample) { pauseSamples(at: now) }
            }
            endImpedance(at: now)
        } else {
            session.streaming?.impedance.begin()
            timers[.impedanceEnd] = impedanceEnd
            annotate("Impedance measurement begins", source: "eegsync", at: now)
        }
        let steps = progress.isOn ? measurement.end : measurement.start
        begin(CommandRunner(steps: steps, attempt: impedanceAttempt), at: now)
    }

    /// The commands that begin or end a measurement have been answered.
    func answeredImpedance(at now: MonotonicTime) {
        session.streaming?.impedance.answered(at: now)
        advanceImpedance(at: now)
    }

    /// What a headset that measures must be sent before other commands.
    func stepsToEndImpedance(at now: MonotonicTime) -> [CommandStep] {
        guard isImpedanceOn else { return [] }
        endImpedance(at: now)
        return session.profile.impedance?.end ?? []
    }

    /// The headset measures no longer, or nobody can know: the link is gone, and with it the headset's mode.
    func endImpedance(at now: MonotonicTime) {
        guard isImpedanceOn else { return }
        session.streaming?.impedance.isOn = false
        let values = session.streaming?.impedance.summary.map { ": \($0)" } ?? ""
        annotate("Impedance measurement ends\(values)", source: "eegsync", at: now)
    }

    /// Takes a value. One that comes although nobody wants it is no sign of life: a headset that did not hear the end counts
    /// as silent, the link is given up, and the next one begins with samples.
    ///
    /// - Returns: whether the headset is alive.
    func take(impedance kilohms: Double, ofElectrode index: Int, at arrival: MonotonicTime) -> Bool {
        guard session.streaming != nil, !isFinishing, let measurement = session.profile.impedance else { return false }
        let electrodes = measurement.electrodes(named: recorded.montage)
        guard electrodes.indices.contains(index) else { return false }
        if measurement.pausesSamples { pauseSamples(at: arrival) }
        recorded.extendPause(at: arrival)
        records.append(
            .impedance(ImpedanceRecord(recording: recording, at: arrival, electrode: electrodes[index], kilohms: kilohms)))
        session.streaming?.impedance.note(electrodes[index], kilohms)
        return isMeasuringImpedance
    }

    private func pauseSamples(at now: MonotonicTime) {
        guard session.streaming?.impedance.hasPausedSamples == false else { return }
        session.streaming?.impedance.hasPausedSamples = true
        recorded.pause(at: now)
    }

    /// Samples follow impedances: a new run of the counters, placed by the time that has passed.
    func resumeSamples() {
        session.streaming?.impedance.hasPausedSamples = false
        if let streaming = session.streaming { recorded.beginLink(streaming, of: session.profile) }
    }
}
