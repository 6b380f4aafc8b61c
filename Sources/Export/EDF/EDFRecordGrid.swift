/// How long a data record is, and how many samples of each stream it holds: whole numbers, which most sampling frequencies have
/// in a record of one second and all rational ones in a longer record.
struct EDFRecordGrid: Hashable, Sendable {
    var durationMicroseconds: Int64
    /// For each frequency that was asked for.
    var samplesPerRecord: [Int]

    /// The longest record, in seconds, that is tried for exactness.
    static let longestSeconds = 60

    /// How far a frequency may be off, relative: 1e-6 is 3.6 ms an hour, less than crystals differ by.
    static let tolerance = 1e-6

    /// The shortest record of whole seconds in which every frequency has a whole number of samples. Where there is none up to a
    /// minute: for one frequency, a record of about a second whose duration is written in eight characters; for several, the
    /// one that is off least.
    ///
    /// - Throws: ``ExportError/notRepresentable(what:reason:advice:)`` where no record is within ``tolerance``.
    init(frequencies: [Double]) throws {
        var best = (error: Double.infinity, seconds: 1)
        for seconds in 1...Self.longestSeconds {
            let error =
                frequencies.map { frequency in
                    let samples = frequency * Double(seconds)
                    return samples.rounded() < 1 ? Double.infinity : abs(samples.rounded() / samples - 1)
                }.max() ?? .infinity
            // Binary fractions such as 1000 / 7 are off by some 1e-16.
            if error < best.error - 1e-12 { best = (error, seconds) }
            if best.error < 1e-12 { break }
        }
        if best.error >= 1e-12, frequencies.count == 1, let single = Self.single(frequencies[0]), single.error < best.error {
            durationMicroseconds = single.duration
            samplesPerRecord = [single.samples]
            best.error = single.error
        } else if best.error >= 1e-12, let common = Self.common(frequencies), common.error < best.error {
            durationMicroseconds = common.duration
            samplesPerRecord = common.samples
            best.error = common.error
        } else {
            durationMicroseconds = Int64(best.seconds) * 1_000_000
            samplesPerRecord = best.error.isFinite ? frequencies.map { Int(($0 * Double(best.seconds)).rounded()) } : []
        }
        guard best.error <= Self.tolerance else {
            let list = frequencies.map { "\($0)" }.joined(separator: ", ")
            throw ExportError.notRepresentable(
                what: "Streams of \(list) Hz",
                reason: "no data record of up to a minute holds a whole number of samples of each",
                advice: "Export each stream to a file of its own with --stream, or as CSV.")
        }
    }

    /// A record below 10 s that holds whole samples of the slowest frequency, such as 1.005 s for 200 Hz and 10 samples in 201
    /// of them; the one that is off least.
    private static func common(_ frequencies: [Double]) -> (duration: Int64, samples: [Int], error: Double)? {
        guard let slowest = frequencies.min(), slowest.isFinite, slowest > 0, slowest < 1e6 else { return nil }
        var best: (duration: Int64, samples: [Int], error: Double)?
        let first = max(1, Int(slowest))
        for count in first..<(first * 9 + 1) {
            let duration = (Double(count) / slowest * 1e6).rounded()
            guard duration < 9_999_999 else { break }
            let exact = frequencies.map { $0 * duration / 1e6 }
            let error = exact.map { $0.rounded() < 1 ? Double.infinity : abs($0.rounded() / $0 - 1) }.max() ?? .infinity
            if error < (best?.error ?? 1e-3) - 1e-12 { best = (Int64(duration), exact.map { Int($0.rounded()) }, error) }
        }
        return best
    }

    /// A record of 1 ... 10 s for one frequency: of all whole numbers of samples the one whose duration is off least in whole
    /// microseconds, which are the eight characters' limit below 10 s.
    private static func single(_ frequency: Double) -> (duration: Int64, samples: Int, error: Double)? {
        guard frequency.isFinite, frequency > 0 else { return nil }
        var best: (duration: Int64, samples: Int, error: Double)?
        let first = max(1, Int(min(frequency, 1e6).rounded(.up)))
        for samples in first..<(first * 9 + 1) {
            let duration = Double(samples) / frequency * 1e6
            guard duration < 9_999_999 else { break }
            let error = abs(duration.rounded() / duration - 1)
            if error < (best?.error ?? .infinity) { best = (Int64(duration.rounded()), samples, error) }
        }
        return best
    }
}
