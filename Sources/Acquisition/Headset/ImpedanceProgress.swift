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
    /// The latest value of each electrode that was measured since the beginning.
    private var latest: [(electrode: String, kilohms: Double)] = []

    /// How long samples flow on a new link before they may pause. The first of a link arrive late, while it is still being set
    /// up: placed by them alone, samples were seen 0.3 s off.
    static let settlingTime = Duration.seconds(2)

    /// The headset is commanded to measure.
    mutating func begin() {
        isOn = true
        latest.removeAll()
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
