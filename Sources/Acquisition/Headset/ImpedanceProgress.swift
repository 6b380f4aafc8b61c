import Bluetooth
import Headsets

/// How far a headset's measurement of impedances is on a link.
struct ImpedanceProgress {
    /// True where the samples of the link have flowed for long enough that their times are known.
    var isSettled = false
    /// True where the headset was commanded to measure, until it is commanded to stop.
    var isOn = false
    /// True while the headset sends impedances instead of samples.
    var hasPausedSamples = false
    /// When the command to measure was answered; nil before that.
    private var commanded: MonotonicTime?
    /// The latest value of each electrode that was measured since the beginning.
    private var latest: [(electrode: String, kilohms: Double)] = []

    /// How long samples flow on a new link before they may pause. The first of a link arrive late, while it is still being set
    /// up: placed by them alone, samples were seen 0.3 s off.
    static let settlingTime = Duration.seconds(2)

    /// How long a headset that has sent no value measures at least. Nothing divides the samples before a measurement from
    /// those behind it but a value or the time: with less, samples that were still under way were seen among those of the next
    /// run, and stored as theirs. A busy machine was seen to hand over notifications a second late.
    static let drainingTime = Duration.seconds(2)

    /// The headset is commanded to measure.
    mutating func begin() {
        isOn = true
        commanded = nil
        latest.removeAll()
    }

    /// The command to measure was answered, be it with an error: the headset may have heard it.
    mutating func answered(at now: MonotonicTime) {
        if isOn, commanded == nil { commanded = now }
    }

    /// When the measurement may be ended: at once where a value has come, with which the samples have ended. Nil where the
    /// command was not answered yet.
    var earliestEnd: MonotonicTime? { latest.isEmpty ? commanded.map { $0 + Self.drainingTime } : .boot }

    /// Whether the headset has heard the command, although no value has come: its samples have ended. Those that were under way
    /// have three quarters of the time to arrive; in the last one it must be still.
    ///
    /// - Parameter latestSample: when the latest sample arrived.
    func hasEndedSamples(latestSample: MonotonicTime?) -> Bool {
        guard let commanded, let latestSample else { return true }
        return latestSample < commanded + Self.drainingTime * 3 / 4
    }

    /// A value has come.
    mutating func note(_ electrode: String, _ kilohms: Double) {
        if let known = latest.firstIndex(where: { $0.electrode == electrode }) {
            latest[known].kilohms = kilohms
        } else {
            latest.append((electrode, kilohms))
        }
    }

    /// The latest values in words; nil where there is none.
    var summary: String? {
        guard !latest.isEmpty else { return nil }
        return latest.map { "\($0.electrode) \($0.kilohms.inFewDigits)" }.joined(separator: ", ") + " kOhm as sent"
    }
}

extension Double {
    /// Without a fraction where it has none: a headset sends whole numbers or tenths.
    fileprivate var inFewDigits: String {
        let tenths = (self * 10).rounded()
        guard tenths.isFinite, abs(tenths) < 1e15 else { return description }
        return tenths.remainder(dividingBy: 10) == 0 ? "\(Int64(tenths / 10))" : "\(tenths / 10)"
    }
}
