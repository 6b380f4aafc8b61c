import Storage

/// What ten seconds of a headset's signal showed.
struct SignalTest: Encodable, Hashable {
    /// One stream.
    struct Stream: Encodable, Hashable {
        var name: String
        /// Nominal, in hertz.
        var samplingFrequency: Double
        /// Samples that the headset took, a second, in hertz; nil where too few came.
        var measuredFrequency: Double?
        var samples: Int64
        /// Samples that are missing in between.
        var missing: Int64
    }

    /// One channel with something to say of it.
    struct Channel: Encodable, Hashable {
        var stream: String
        var name: String
        var condition: String
    }

    /// By how much a rate may differ from the nominal one: the clock of the test is that of the arrivals, within a commit or
    /// two of ten seconds.
    private static let rateTolerance = 0.1
    /// From which part of missing samples on a link is not good.
    private static let missingLimit = 0.02

    var name: String
    var address: String
    var serialNumber: String?
    var batteryPercent: Double?
    var seconds: Double
    var streams: [Stream]
    /// By stream and number; only those whose signal was looked at.
    var channels: [Channel]
    /// Why there is no signal; nil where there is.
    var silence: String?

    /// What is wrong, each in words; empty where all is well.
    var problems: [String] {
        if let silence { return [silence] }
        var problems: [String] = []
        for stream in streams {
            guard let measured = stream.measuredFrequency else {
                problems.append("nothing comes of \(stream.name)")
                continue
            }
            if abs(measured / stream.samplingFrequency - 1) > Self.rateTolerance {
                problems.append(
                    "\(stream.name) comes with \(Quantity.frequency(measured)) instead of "
                        + Quantity.frequency(stream.samplingFrequency))
            }
            let missing = Double(stream.missing) / Double(max(1, stream.missing + stream.samples))
            if missing > Self.missingLimit {
                problems.append("\(Quantity.significant(missing * 100, digits: 2)) % of \(stream.name) are missing")
            }
        }
        for (condition, words) in Self.conditions {
            let names = channels.filter { $0.condition == condition.rawValue }.map(\.name)
            if !names.isEmpty { problems.append("\(words): \(names.joined(separator: ", "))") }
        }
        return problems
    }

    var isGood: Bool { problems.isEmpty }

    private static let conditions: [(SignalCondition, String)] = [
        (.noContact, "no contact with the skin"), (.poorContact, "poor contact"), (.railed, "railed"), (.flat, "flat"),
        (.lineNoise, "high line noise"),
    ]
}
