import Headsets
import Storage

/// Notices a blink in EEG, or a tap in acceleration: a piece of signal that moves far more than the seconds before it.
///
/// It looks at peak-to-peak values of short windows and compares each with the median of those before, so that neither drift
/// nor an offset nor steady noise of any size counts. EEG is averaged over a tenth of a second first: alpha rhythm and mains
/// go, and a blink stays. It is for a person who waits for it, and for nothing that is stored.
struct MotionDetector {
    /// The length of a window: a blink lasts 0.1 to 0.4 s (Stern, Walrath, Goldstein 1984).
    private static let windowSeconds = 0.25
    /// So many windows are remembered: 4 s.
    private static let historyLength = 16
    /// So many must be there before anything counts: 2 s.
    private static let historyMinimum = 8
    /// After a movement so many windows do not count: 0.75 s, so that one blink is not two.
    private static let pauseWindows = 3
    /// A blink is at least so large on a frontal electrode, in microvolts peak to peak; mostly it is 100 to 300.
    private static let eegFloorMicrovolts = 50.0
    /// EEG is averaged over so long: a period of 10 Hz, five of 50 Hz, six of 60 Hz.
    private static let averageSeconds = 0.1
    /// A tap shakes a headset by at least so much; breathing and pulse stay below 0.02 g.
    private static let accelerationFloorG = 0.15
    /// How many times the median a movement is.
    private static let ratio = 3.0

    /// A channel that is looked at.
    fileprivate struct Channel {
        let index: Int
        /// The least peak to peak of a movement, in raw counts.
        let floor: Double
        /// The latest samples, as many as are averaged, and their sum.
        var latest: [Int32] = []
        var position = 0
        var sum: Int64 = 0
        var lowest = Double.infinity
        var highest = -Double.infinity
        var history: [Double] = []
    }

    private let channelCount: Int
    private let length: Int
    /// How many channels must move at once.
    private let quorum: Int
    /// How many samples are averaged.
    private let averageLength: Int
    private var channels: [Channel]
    private var count = 0
    private var pause = 0
    private var nextN: Int64?

    /// How many movements there were.
    private(set) var movements = 0

    /// A detector for a stream; nil where none of its channels shows a blink or a tap.
    init?(_ description: StreamDescription) {
        channels = description.channels.enumerated().compactMap { index, channel in
            guard channel.scale != 0 else { return nil }
            let floor: Double? =
                switch (channel.type, channel.unit) {
                case ("EEG", "uV"), ("EEG", "µV"): Self.eegFloorMicrovolts / abs(channel.scale)
                case ("EEG", "nV"): Self.eegFloorMicrovolts * 1e3 / abs(channel.scale)
                case ("EEG", "mV"): Self.eegFloorMicrovolts / 1e3 / abs(channel.scale)
                case ("EEG", "V"): Self.eegFloorMicrovolts / 1e6 / abs(channel.scale)
                case ("ACCEL", "g"): Self.accelerationFloorG / abs(channel.scale)
                case ("ACCEL", "mg"): Self.accelerationFloorG * 1e3 / abs(channel.scale)
                case ("ACCEL", "m/s^2"): Self.accelerationFloorG * 9.81 / abs(channel.scale)
                default: nil
                }
            return floor.map { Channel(index: index, floor: $0) }
        }
        guard let first = channels.first, description.samplingFrequency >= 16 else { return nil }
        channelCount = description.channels.count
        length = max(4, Int((description.samplingFrequency * Self.windowSeconds).rounded()))
        // A blink is seen on both sides; a single electrode that pops is none.
        let isEEG = description.channels[first.index].type == "EEG"
        quorum = isEEG ? min(2, channels.count) : 1
        averageLength = isEEG ? max(1, Int((description.samplingFrequency * Self.averageSeconds).rounded())) : 1
    }

    /// Takes rows with consecutive n; after a gap the present window begins anew.
    mutating func take(_ rows: SampleRows) {
        guard rows.channelCount == channelCount else { return }
        if let nextN, rows.firstN != nextN {
            restart()
            for channel in channels.indices { channels[channel].forget() }
        }
        nextN = rows.firstN + Int64(rows.rowCount)
        for row in 0..<rows.rowCount {
            for channel in channels.indices {
                channels[channel].take(rows.values[row * channelCount + channels[channel].index], averaged: averageLength)
            }
            count += 1
            if count == length { finishWindow() }
        }
    }

    private mutating func restart() {
        count = 0
        for channel in channels.indices {
            (channels[channel].lowest, channels[channel].highest) = (.infinity, -.infinity)
        }
    }

    private mutating func finishWindow() {
        var moving = 0
        for index in channels.indices {
            let peakToPeak = max(0, channels[index].highest - channels[index].lowest)
            let history = channels[index].history.sorted()
            if history.count >= Self.historyMinimum,
                peakToPeak >= max(channels[index].floor, Self.ratio * history[history.count / 2])
            {
                moving += 1
            }
            channels[index].history = Array((channels[index].history + [peakToPeak]).suffix(Self.historyLength))
        }
        restart()
        if pause > 0 {
            pause -= 1
        } else if moving >= quorum {
            movements += 1
            pause = Self.pauseWindows
        }
    }
}

extension MotionDetector.Channel {
    fileprivate mutating func take(_ value: Int32, averaged length: Int) {
        sum += Int64(value)
        if latest.count < length {
            latest.append(value)
        } else {
            sum -= Int64(latest[position])
            latest[position] = value
            position = (position + 1) % length
        }
        guard latest.count == length else { return }
        let average = Double(sum) / Double(length)
        lowest = min(lowest, average)
        highest = max(highest, average)
    }

    /// What was averaged lies before a gap.
    fileprivate mutating func forget() { (latest, position, sum) = ([], 0, 0) }
}

/// Which of several headsets a person means: the one that moves twice while no other moves.
struct Identification {
    /// So many movements are meant: one alone may be a sneeze.
    static let movementsNeeded = 2

    /// Movements of each since the others were last still, by index.
    private var counts: [Int: Int] = [:]
    /// Movements that were seen in all.
    private var seen: [Int: Int] = [:]

    /// Begins with what has happened so far, which does not count.
    init(ignoring movements: [Int: Int]) { seen = movements }

    /// Takes how often each has moved in all.
    ///
    /// - Returns: the index of the one that is meant; nil while that is not known.
    mutating func take(_ movements: [Int: Int]) -> Int? {
        let moved = movements.filter { $0.value > seen[$0.key] ?? 0 }.map { ($0.key, $0.value - (seen[$0.key] ?? 0)) }
        seen.merge(movements) { max($0, $1) }
        guard let (index, count) = moved.first else { return nil }
        // Two at once are a table that was pushed, or two people.
        if moved.count > 1 || counts.contains(where: { $0.key != index && $0.value > 0 }) {
            counts = moved.count > 1 ? [:] : [index: count]
            return nil
        }
        counts[index, default: 0] += count
        return counts[index, default: 0] >= Self.movementsNeeded ? index : nil
    }
}
