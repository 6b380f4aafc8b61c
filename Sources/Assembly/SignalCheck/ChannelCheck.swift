import Headsets
import Storage

/// Looks at the signal of one channel, window by window.
struct ChannelCheck: Sendable {
    /// What the channel carries.
    private enum Kind: Sendable {
        /// A signal, with its limits in raw counts.
        case signal(flat: Int64, lineNoise: Double?)
        /// NeuroSky's measure of poor signal.
        case contact
    }

    /// What changes with every sample: small, so that it fits into the processor's registers.
    private struct Window: Sendable {
        var count = 0
        var railedCount = 0
        var origin: Int32 = 0
        var lowest: Int32 = 0
        var highest: Int32 = 0
        var line50 = LineFilter.State()
        var line60 = LineFilter.State()
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
    private let filter50: LineFilter?
    private let filter60: LineFilter?
    /// In raw counts; a sample there or beyond is railed.
    private let lowRail: Int32
    private let highRail: Int32

    private var window = Window()

    // Windows since the last result.
    private var collected = Findings()
    /// The verdict of the last result, or of the next.
    private var condition: SignalCondition?
    /// A window whose verdict was another one: a second of its kind makes a change, anything else a slip.
    private var odd: (condition: SignalCondition, findings: Findings)?

    /// A check for a channel; nil where nothing can be said about one of its kind.
    ///
    /// - Parameters:
    ///   - saturation: where the converter saturates; nil for the channel's whole range.
    ///   - length: samples of a window, 1 or more.
    init?(
        _ channel: ChannelDescription, saturation: ClosedRange<Int32>? = nil, samplingFrequency: Double, length: Int
    ) {
        self.length = length
        scale = abs(channel.scale)
        if channel.name == "poorSignal" {
            kind = .contact
            (lowRail, highRail) = (.min, .max)
            (filter50, filter60) = (nil, nil)
            return
        }
        guard channel.type == "EEG", length >= 8 else { return nil }
        let (lowest, highest) = (saturation?.lowerBound ?? channel.rawMinimum, saturation?.upperBound ?? channel.rawMaximum)
        let middle = (Double(lowest) + Double(highest)) / 2
        let reach = (Double(highest) - Double(lowest)) / 2 * SignalThresholds.railedLevel
        // A range of nothing has no rails.
        lowRail = reach > 0 ? Int32(clamping: Int64((middle - reach).rounded(.down))) : .min
        highRail = reach > 0 ? Int32(clamping: Int64((middle + reach).rounded(.up))) : .max
        let microvolts = SignalThresholds.microvoltsPerCount(channel)
        kind = .signal(
            flat: max(
                SignalThresholds.flatCounts,
                microvolts.map { Int64(min(SignalThresholds.flatMicrovolts / $0, 1e9).rounded(.up)) - 1 } ?? 0),
            lineNoise: microvolts.map { SignalThresholds.lineNoiseMicrovolts / $0 })
        filter50 = LineFilter(frequency: 50, samplingFrequency: samplingFrequency)
        filter60 = LineFilter(frequency: 60, samplingFrequency: samplingFrequency)
    }

    /// Forgets the present window: a sample is missing.
    mutating func restart() { window = Window() }

    /// Takes samples up to the end of the window, or of what there is.
    ///
    /// - Parameters:
    ///   - first: index of the first sample in `values`; the others are `stride` apart.
    ///   - limit: the most samples that there are.
    ///   - weights: of the window's samples.
    /// - Returns: how many were taken.
    mutating func take(
        _ values: UnsafeBufferPointer<Int32>, from first: Int, stride: Int, limit: Int, weights: UnsafeBufferPointer<Double>
    ) -> Int {
        var now = window
        if now.count == 0 {
            (now.origin, now.lowest, now.highest) = (values[first], values[first], values[first])
        }
        let taken = min(limit, length - now.count)
        // Without a filter the state is computed and not used: cheaper than to ask for each sample.
        let (factor50, factor60) = (filter50?.coefficient ?? 0, filter60?.coefficient ?? 0)
        let origin = Double(now.origin)
        var next = first
        for position in now.count..<(now.count + taken) {
            let value = values[next]
            next += stride
            now.lowest = min(now.lowest, value)
            now.highest = max(now.highest, value)
            if value <= lowRail || value >= highRail { now.railedCount += 1 }
            // Relative to the first: an offset of millions would cost digits.
            let weighted = (Double(value) - origin) * weights[position]
            now.line50.take(weighted, factor50)
            now.line60.take(weighted, factor60)
        }
        now.count += taken
        window = now
        return taken
    }

    /// True once the window has all its samples: ``finishWindow(n:report:)`` is due.
    var isWindowComplete: Bool { window.count == length }

    /// Ends the window whose last sample is `n`, and reports what is known now.
    mutating func finishWindow(n: Int64, report: (SignalCondition, Findings) -> Void) {
        let seen = self.window
        restart()
        let window = Findings(
            firstN: n - Int64(length) + 1, lastN: n, count: length, railedCount: seen.railedCount,
            peakToPeak: Int64(seen.highest) - Int64(seen.lowest),
            line50: filter50?.amplitude(of: seen.line50, length: length) ?? 0,
            line60: filter60?.amplitude(of: seen.line60, length: length) ?? 0, windows: 1)
        let verdict = verdict(of: window, lowest: seen.lowest)
        if condition == nil { condition = verdict }
        if verdict == condition {
            if let slip = odd { collected.add(slip.findings) }
            odd = nil
            collected.add(window)
        } else if let second = odd, second.condition == verdict {
            if collected.windows > 0, let condition { report(condition, collected) }
            condition = verdict
            collected = second.findings
            collected.add(window)
            odd = nil
            report(verdict, collected)
            collected = Findings()
        } else {
            if let slip = odd { collected.add(slip.findings) }
            odd = (verdict, window)
        }
        if collected.windows >= SignalThresholds.windowsPerResult, let condition {
            report(condition, collected)
            collected = Findings()
        }
    }

    private func verdict(of window: Findings, lowest: Int32) -> SignalCondition {
        switch kind {
        case .contact: return lowest >= SignalThresholds.noContact ? .noContact : lowest > 0 ? .poorContact : .good
        case .signal(let flat, let lineNoise):
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
