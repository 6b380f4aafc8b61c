import Bluetooth
import Headsets
import Reconnection
import Storage

/// How far a headset's measurement of impedances is.
struct ImpedanceProgress {
    /// Until when somebody wants it; nil where nobody does. The wish outlives a link: whoever adjusts electrodes goes on as
    /// soon as the headset is back.
    var wantedUntil: MonotonicTime?
    /// When the samples of a new link have flowed for long enough that their times are known; nil before the first, and once
    /// that is so.
    var settling: MonotonicTime?
    /// True where they have.
    var isSettled = false
    /// True on a link whose headset was told to measure, until it is told to stop.
    var isOn = false
    /// True while the headset tells impedances in place of samples.
    var hasPausedSamples = false
    /// The latest value of each electrode that was measured since the beginning.
    var latest: [(electrode: String, kilohms: Double)] = []

    /// How long samples flow on a new link before they may pause. The first of a link arrive late, while it is still being set
    /// up: placed by them alone, samples were seen 0.3 s off.
    static let settlingTime = Duration.seconds(2)
}

/// Measuring the impedance of the electrodes, beside the connection machine: it only knows that the headset is alive.
extension HeadsetAcquisition {
    /// The number of the requests that begin and end a measurement.
    var impedanceAttempt: Attempt { Attempt(number: backgroundAttempt.number | 1) }

    /// True where the headset measures, or is being told to begin or to end.
    var isMeasuringImpedance: Bool { impedance.isOn || runner?.attempt == impedanceAttempt }

    /// Follows the operator's wish.
    ///
    /// - Parameter end: until when impedances are wanted; nil where they are not.
    func measureImpedance(until end: MonotonicTime?, at now: MonotonicTime) {
        impedance.wantedUntil = end
        advanceImpedance(at: now)
    }

    /// The first sample of a link has come.
    func beginSettling(at now: MonotonicTime) {
        if linkProfile.impedance != nil { impedance.settling = now + ImpedanceProgress.settlingTime }
    }

    /// Tells the headset to begin or to end, where its samples have settled and nothing else is being told.
    func advanceImpedance(at now: MonotonicTime) {
        if let end = impedance.wantedUntil, end <= now { impedance.wantedUntil = nil }
        if let due = impedance.settling, due <= now { (impedance.settling, impedance.isSettled) = (nil, true) }
        let isWanted = impedance.wantedUntil != nil
        guard isWanted != impedance.isOn, link != nil, impedance.isSettled, runner == nil, !isFinishing,
            case .streaming = machine.state, let measurement = linkProfile.impedance
        else { return }
        if isWanted {
            impedance.isOn = true
            impedance.latest.removeAll()
            annotate("Impedance measurement begins", at: now)
        } else {
            // One that ends before its first value has stopped the samples, too.
            if measurement.pausesSamples { pauseSamples(at: now) }
            noteImpedanceEnd(at: now)
        }
        runner = CommandRunner(steps: isWanted ? measurement.start : measurement.end, attempt: impedanceAttempt)
        advanceRunner(at: now)
    }

    /// What a headset that measures must be told before other commands.
    func stepsToEndImpedance(at now: MonotonicTime) -> [CommandStep] {
        guard impedance.isOn else { return [] }
        noteImpedanceEnd(at: now)
        return linkProfile.impedance?.end ?? []
    }

    /// The headset measures no longer, or nobody can know: the link is gone, and with it the headset's mode.
    func noteImpedanceEnd(at now: MonotonicTime) {
        guard impedance.isOn else { return }
        impedance.isOn = false
        let values = impedance.latest.map { "\($0.electrode) \($0.kilohms.inFewDigits)" }.joined(separator: ", ")
        annotate("Impedance measurement ends" + (values.isEmpty ? "" : ": \(values) kOhm as sent"), at: now)
    }

    /// Takes a value. One that comes although nobody wants it is no sign of life: a headset that did not hear the end counts
    /// as silent, the link is given up, and the next one begins with samples.
    ///
    /// - Returns: whether the headset is alive.
    func take(impedance kilohms: Double, ofElectrode place: Int, at arrival: MonotonicTime) -> Bool {
        guard link != nil, !isFinishing, let measurement = linkProfile.impedance else { return false }
        let electrodes = measurement.electrodes(named: montage)
        guard electrodes.indices.contains(place) else { return false }
        if measurement.pausesSamples { pauseSamples(at: arrival) }
        for index in streams.indices { streams[index].staysPaused(at: arrival) }
        records.impedances.append(
            ImpedanceRecord(recording: recording, at: arrival, electrode: electrodes[place], kilohms: kilohms))
        if let known = impedance.latest.firstIndex(where: { $0.electrode == electrodes[place] }) {
            impedance.latest[known].kilohms = kilohms
        } else {
            impedance.latest.append((electrodes[place], kilohms))
        }
        records.bound()
        return isMeasuringImpedance
    }

    private func pauseSamples(at now: MonotonicTime) {
        guard !impedance.hasPausedSamples else { return }
        impedance.hasPausedSamples = true
        for index in streams.indices {
            streams[index].pause(at: now)
        }
    }

    /// Samples follow impedances: a new run of the counters, placed by the time that has passed.
    func resumeSamples() {
        impedance.hasPausedSamples = false
        if let link { beginStreams(link) }
    }

    private func annotate(_ text: String, at now: MonotonicTime) {
        records.annotations.append(
            AnnotationRecord(recording: recording, onset: now, durationSeconds: nil, description: text, source: "eegsync"))
    }
}

/// Measurements as the operator wishes them.
extension Acquirer {
    /// Makes the measurements follow the operator's wishes.
    func follow(_ requests: [ImpedanceRequest], at now: MonotonicTime) {
        measurements = requests
        for acquisition in acquisitions {
            let wanted = requests.filter { $0.isWanted && $0.headset == acquisition.headset }
            acquisition.measureImpedance(until: wanted.map(\.end).max(), at: now)
        }
        completeMeasurements(at: now)
    }

    /// Finds the measurements that are over, once their headset was told so.
    func completeMeasurements(at now: MonotonicTime) {
        measurements.removeAll { request in
            guard !request.isWanted || request.end <= now else { return false }
            let isUnderWay = acquisitions.contains { $0.headset == request.headset && $0.isMeasuringImpedance }
            if !isUnderWay { completedMeasurements.append(request.id) }
            return !isUnderWay
        }
    }
}

extension Double {
    /// Without a fraction where it has none: a headset tells whole numbers or tenths.
    fileprivate var inFewDigits: String {
        let tenths = (self * 10).rounded()
        guard tenths.isFinite, abs(tenths) < 1e15 else { return description }
        return tenths.remainder(dividingBy: 10) == 0 ? "\(Int64(tenths / 10))" : "\(tenths / 10)"
    }
}
