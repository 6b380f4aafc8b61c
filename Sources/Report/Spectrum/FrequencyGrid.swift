/// The frequencies of a report's spectra: 1 to 45 Hz in steps of half a hertz, and those of the mains.
struct FrequencyGrid: Hashable, Sendable {
    /// Between two of ``frequencies``, in hertz.
    static let step = 0.5
    private static let lowest = 1.0
    private static let highest = 45.0
    /// Frequencies of the mains, in hertz.
    static let mains = [50.0, 60.0]
    /// The hum of the mains lies within so many hertz.
    private static let mainsWidth = 1.0

    /// Samples in a second.
    let samplingFrequency: Double
    /// Samples of a segment: a power of two, long enough for two frequencies of a transform to be no further apart than
    /// ``step``.
    let segmentLength: Int
    /// The middles of the cells, in hertz; none above 45 % of the sampling frequency.
    let frequencies: [Double]
    /// Which frequencies of the transform belong to a cell.
    let bins: [Range<Int>]
    /// The same for each of ``mains`` that the stream can show.
    let mainsBins: [Range<Int>?]

    /// - Parameter samplingFrequency: in hertz; nil where a stream is too slow to show any of the frequencies, or so fast
    ///   that a segment would not fit into memory.
    init?(samplingFrequency: Double) {
        guard samplingFrequency >= 8, samplingFrequency <= 100_000 else { return nil }
        var length = 16
        while samplingFrequency / Double(length) > Self.step { length *= 2 }
        let spacing = samplingFrequency / Double(length)
        func bins(from low: Double, to high: Double) -> Range<Int>? {
            let first = Int((low / spacing).rounded(.up))
            let end = Int((high / spacing).rounded(.up))
            return high <= samplingFrequency / 2 && first < end ? first..<end : nil
        }
        let count = Int((Self.highest - Self.lowest) / Self.step) + 1
        let cells = (0..<count).compactMap { index -> (Double, Range<Int>)? in
            let middle = Self.lowest + Double(index) * Self.step
            guard middle <= samplingFrequency * 0.45 else { return nil }
            return bins(from: middle - Self.step / 2, to: middle + Self.step / 2).map { (middle, $0) }
        }
        guard cells.count > 1 else { return nil }
        self.samplingFrequency = samplingFrequency
        segmentLength = length
        frequencies = cells.map(\.0)
        self.bins = cells.map(\.1)
        mainsBins = Self.mains.map { bins(from: $0 - Self.mainsWidth, to: $0 + Self.mainsWidth) }
    }
}
