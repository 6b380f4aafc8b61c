import Headsets
import Storage

/// Looks at the signal of one channel, window by window.
struct ChannelCheck: Sendable {
    /// What the channel carries.
    private enum Kind: Sendable {
        /// A signal, with its limits in raw counts.
        case signal(lowRail: Int32, highRail: Int32, flat: Int64, lineNoise: Double?)
        /// NeuroSky's measure of poor signal.
        case contact
    }

    /// What was seen in one window, or in several.
    struct Findings: Sendable {
        var firstN: Int64 = 0
        var lastN: Int64 = 0
        var count = 0
        var railedCount = 0
        var peakToPeak: Int64 = 0
        /// Sums over the windows.
        var line50 = 0.0
        var line60 = 0.0
        var windows = 0

        mutating func add(_ other: Findings) {
            if windows == 0 { firstN = other.firstN }
            lastN = other.lastN
            count += other.count
            railedCount += other.railedCount
            peakToPeak = max(peakToPeak, other.peakToPeak)
            line50 += other.line50
            line60 += other.line60
            windows += other.windows
        }
    }

    private let kind: Kind
    private let scale: Double
    private let length: Int
    private var filter50: LineFilter?
    private var filter60: LineFilter?

    // The present window.
    private var count = 0
    private var railedCount = 0
    private var origin: Int32 = 0
    private var lowest: Int32 = 0
    private var highest: Int32 = 0

    // Windows since the last result.
    private var collected = Findings()
    /// The verdict that the last result told, or will tell next.
    private var condition: SignalCondition?
    /// A window whose verdict was another one: a second of its kind makes a change, anything else a slip.
    private var odd: (condition: SignalCondition, findings: Findings)?

    /// A check for a channel; nil where nothing can be said about one of its kind.
    ///
    /// - Parameter length: samples of a window, 1 or more.
    init?(_ channel: ChannelDescription, samplingFrequency: Double, length: Int) {
        self.length = length
        scale = abs(channel.scale)
        if channel.name == "poorSignal" {
            kind = .contact
            return
        }
        guard channel.type == "EEG", length >= 8 else { return nil }
        let middle = (Double(channel.rawMinimum) + Double(channel.rawMaximum)) / 2
        let reach = (Double(channel.rawMaximum) - Double(channel.rawMinimum)) / 2 * SignalThresholds.railedLevel
        let microvolts = SignalThresholds.microvoltsPerCount(channel)
        kind = .signal(
            // A range of nothing has no rails.
            lowRail: reach > 0 ? Int32(clamping: Int64((middle - reach).rounded(.down))) : .min,
            highRail: reach > 0 ? Int32(clamping: Int64((middle + reach).rounded(.up))) : .max,
            flat: max(
                SignalThresholds.flatCounts,
                microvolts.map { Int64(min(SignalThresholds.flatMicrovolts / $0, 1e9).rounded(.up)) - 1 } ?? 0),
            lineNoise: microvolts.map { SignalThresholds.lineNoiseMicrovolts / $0 })
        filter50 = LineFilter(frequency: 50, samplingFrequency: samplingFrequency)
        filter60 = LineFilter(frequency: 60, samplingFrequency: samplingFrequency)
    }

    /// Forgets the present window: a sample is missing.
    mutating func restart() {
        count = 0
        filter50?.restart()
        filter60?.restart()
    }

    /// Takes one sample.
    ///
    /// - Parameter weights: of the window's samples.
    /// - Returns: true where the window is complete: ``finishWindow(n:)`` is due.
    @inline(__always)
    mutating func take(_ value: Int32, weights: [Double]) -> Bool {
        if count == 0 {
            (origin, lowest, highest, railedCount) = (value, value, value, 0)
        } else {
            lowest = min(lowest, value)
            highest = max(highest, value)
        }
        switch kind {
        case .signal(let low, let high, _, _):
            if value <= low || value >= high { railedCount += 1 }
            // Relative to the first: an offset of millions would cost digits.
            let weighted = (Double(value) - Double(origin)) * weights[count]
            filter50?.take(weighted)
            filter60?.take(weighted)
        case .contact: break
        }
        count += 1
        return count == length
    }

    /// Ends the window whose last sample is `n`, and says what is to be told now.
    mutating func finishWindow(n: Int64, tell: (SignalCondition, Findings) -> Void) {
        let window = Findings(
            firstN: n - Int64(length) + 1, lastN: n, count: length, railedCount: railedCount,
            peakToPeak: Int64(highest) - Int64(lowest), line50: filter50?.finish(length: length) ?? 0,
            line60: filter60?.finish(length: length) ?? 0, windows: 1)
        count = 0
        let verdict = verdict(of: window)
        if condition == nil { condition = verdict }
        if verdict == condition {
            if let slip = odd { collected.add(slip.findings) }
            odd = nil
            collected.add(window)
        } else if let second = odd, second.condition == verdict {
            if collected.windows > 0, let condition { tell(condition, collected) }
            condition = verdict
            collected = second.findings
            collected.add(window)
            odd = nil
            tell(verdict, collected)
            collected = Findings()
        } else {
            if let slip = odd { collected.add(slip.findings) }
            odd = (verdict, window)
        }
        if collected.windows >= SignalThresholds.windowsPerResult, let condition {
            tell(condition, collected)
            collected = Findings()
        }
    }

    private func verdict(of window: Findings) -> SignalCondition {
        switch kind {
        case .contact: return lowest >= SignalThresholds.noContact ? .noContact : lowest > 0 ? .poorContact : .good
        case .signal(_, _, let flat, let lineNoise):
            if Double(window.railedCount) >= SignalThresholds.railedFraction * Double(window.count) { return .railed }
            if window.peakToPeak <= flat { return .flat }
            if let lineNoise, max(window.line50, window.line60) >= lineNoise { return .lineNoise }
            return .good
        }
    }

    /// The record of a result.
    func record(stream: StreamID, channel: Int, _ condition: SignalCondition, _ findings: Findings) -> SignalCheckRecord {
        let windows = Double(max(1, findings.windows))
        return SignalCheckRecord(
            stream: stream, channel: channel, firstN: findings.firstN, lastN: findings.lastN, condition: condition,
            sampleCount: findings.count, railedFraction: Double(findings.railedCount) / Double(max(1, findings.count)),
            peakToPeak: findings.peakToPeak, line50Hz: filter50.map { _ in findings.line50 / windows * scale },
            line60Hz: filter60.map { _ in findings.line60 / windows * scale })
    }
}
