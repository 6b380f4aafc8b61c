import Headsets
import Storage

/// Computes the spectra of a stream's channels, hour by hour, while its rows are read once.
struct StreamSpectra {
    let grid: FrequencyGrid
    private let channels: [ChannelDescription]
    private let start: Int64
    private var estimate: SpectrumEstimate
    private var times: TimeCursor
    private var next: Int64?
    private var hour = 0
    private var hours: [[HourlySpectrum]]

    private static let nanosecondsPerHour = 3_600_000_000_000.0

    /// - Parameters:
    ///   - stream: up to eight channels.
    ///   - start: hours count from then; UTC nanoseconds since 1970.
    /// - Returns: nil where the stream is too slow, or has no times.
    init?(of stream: StreamContents, since start: Int64) {
        let frequency = stream.description.samplingFrequency
        guard let grid = FrequencyGrid(samplingFrequency: frequency), let times = TimeCursor(stream.segments) else {
            return nil
        }
        self.grid = grid
        self.start = start
        self.times = times
        channels = stream.description.channels
        estimate = SpectrumEstimate(length: grid.segmentLength, samplingFrequency: frequency)
        hours = Array(repeating: [], count: channels.count)
    }

    /// Takes rows, in ascending order of n.
    mutating func add(_ chunk: borrowing SampleChunk) {
        let width = channels.count
        var values = SpectrumEstimate.Vector()
        for row in 0..<chunk.n.count {
            let n = chunk.n[row]
            if n != next { estimate.interrupt() }
            next = n &+ 1
            for channel in 0..<width { values[channel] = Float(chunk.values[row * width + channel]) }
            guard estimate.add(values, missing: chunk.missingChannels[row]) else { continue }
            // A segment belongs to the hour of its middle. Where it is the first of an hour, it stays with the one before.
            let middle = times.unixNanoseconds(ofSample: n &- Int64(grid.segmentLength / 2))
            let found = max(hour, Int(max(0, Double(middle - start) / Self.nanosecondsPerHour)))
            if found != hour {
                finishHour()
                hour = found
            }
        }
    }

    /// The spectra of all rows that were taken.
    mutating func finish() -> [ChannelSpectra] {
        finishHour()
        return channels.indices.map {
            ChannelSpectra(channel: channels[$0].name, unit: channels[$0].unit, hours: hours[$0])
        }
    }

    private mutating func finishHour() {
        for (index, result) in estimate.take().prefix(channels.count).enumerated() {
            guard let result else { continue }
            // Raw counts were transformed: their mean is taken away, so of the scale only the square matters.
            let square = channels[index].scale * channels[index].scale
            let spacing = grid.samplingFrequency / Double(grid.segmentLength)
            func sum(_ bins: Range<Int>) -> Double { result.density[bins].reduce(0, +) * square }
            let seconds = Double(result.segments) * Double(grid.segmentLength / 2) / grid.samplingFrequency
            hours[index].append(
                HourlySpectrum(
                    hour: hour, seconds: seconds, density: grid.bins.map { sum($0) / Double($0.count) },
                    mains: grid.mainsBins.map { bins in bins.map { (sum($0) * spacing).squareRoot() } }))
        }
    }
}
