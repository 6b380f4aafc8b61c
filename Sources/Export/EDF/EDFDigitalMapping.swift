import Headsets

/// How a channel's raw counts become the digital values of a file: `digital = (raw - shift) / step`.
///
/// Where the raw range fits the format, the digital value is the raw count itself, and nothing is lost.
struct EDFDigitalMapping: Hashable, Sendable {
    /// Subtracted from a raw value.
    var shift: Int64
    /// Raw counts for one digital step; 1 loses nothing.
    var step: Int64
    /// The header's digital minimum and maximum.
    var minimum: Int32
    var maximum: Int32

    /// The mapping of a range of raw values.
    ///
    /// - Parameter raw: The range that the headset can send or, where that is too wide for the format, the range of the data.
    init(raw: ClosedRange<Int32>, variant: EDFVariant) {
        let limits = variant.digitalLimits
        // A minimum equal to the maximum would make readers divide by 0 (EDF specification: they differ).
        let low = Int64(raw.lowerBound)
        let high = max(Int64(raw.upperBound), low + 1)
        let span = high - low
        let room = Int64(limits.upperBound) - Int64(limits.lowerBound)
        if low >= limits.lowerBound && high <= limits.upperBound {
            (shift, step) = (0, 1)
        } else if span <= room {
            // The middle of the range at 0, by a whole count.
            (shift, step) = (low + (span + 1) / 2, 1)
        } else {
            (shift, step) = (low + (span + 1) / 2, (span + room - 1) / room)
        }
        minimum = Int32(clamping: Self.divide(low - shift, step))
        maximum = Int32(clamping: Self.divide(high - shift, step))
        minimum = max(minimum, limits.lowerBound)
        maximum = min(maximum, limits.upperBound)
    }

    /// The mapping with the format's whole width, where nothing is lost: a wide range keeps the header's eight characters
    /// accurate.
    func widened(within raw: ClosedRange<Int32>, variant: EDFVariant) -> EDFDigitalMapping {
        guard step == 1 else { return self }
        var wide = self
        // Never narrower than it was; some steps are left to ``refined(for:variant:)``.
        let (low, high) = (Int64(raw.lowerBound) - shift, Int64(raw.upperBound) - shift)
        let limits = variant.digitalLimits
        wide.minimum = min(minimum, Int32(clamping: max(Int64(limits.lowerBound + Self.refinement), low)))
        wide.maximum = max(maximum, Int32(clamping: min(Int64(limits.upperBound - Self.refinement), high)))
        return wide
    }

    /// The mapping with its ends moved outwards by up to ``refinement`` steps, where the format has room, if eight characters
    /// would otherwise falsify the gain by more than ``EDFExport/scaleTolerance``: one of the ends' physical values is round
    /// enough.
    func refined(for channel: ChannelDescription, variant: EDFVariant) -> EDFDigitalMapping {
        func error(_ mapping: EDFDigitalMapping) -> Double {
            let signal = try? EDFSignal(channel: channel, mapping: mapping, samplesPerRecord: 1)
            return signal?.scaleError(channel: channel, mapping: mapping) ?? .infinity
        }
        var best = (mapping: self, error: error(self))
        for low in 0...Self.refinement where best.error > EDFExport.scaleTolerance {
            for high in 0...Self.refinement where best.error > EDFExport.scaleTolerance {
                var candidate = self
                candidate.minimum = max(minimum - low, variant.digitalLimits.lowerBound)
                candidate.maximum = min(maximum + high, variant.digitalLimits.upperBound)
                let found = error(candidate)
                if found < best.error { best = (candidate, found) }
            }
        }
        return best.mapping
    }

    /// Enough ends to choose from: 33 × 33 pairs.
    private static let refinement: Int32 = 32

    /// The digital value of a raw one, not clipped.
    @inline(__always)
    func digital(_ raw: Int32) -> Int64 {
        Self.divide(Int64(raw) - shift, step)
    }

    /// The raw value that a digital one stands for.
    func raw(_ digital: Int32) -> Double {
        Double(Int64(digital) * step + shift)
    }

    /// True where digital values are the raw counts.
    var isIdentity: Bool { shift == 0 && step == 1 }

    /// Division rounded to the nearest, halves away from 0.
    @inline(__always)
    private static func divide(_ value: Int64, _ step: Int64) -> Int64 {
        if step == 1 { return value }
        return (value >= 0 ? value + step / 2 : value - step / 2) / step
    }
}
