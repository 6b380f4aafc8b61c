import Bluetooth
import Foundation
import Storage

/// What is wrong with a headset's signals, in one sentence for the person who wears it.
struct SignalSituation: Hashable {
    /// A check that is older says nothing about now: results come every ten seconds where the signal has no gaps.
    private static let ageLimitSeconds = 30.0
    /// What comes later than others by so much, or not at all, is no matter of batches and queues.
    private static let silenceLimitSeconds = 10.0
    /// From this charge on a battery is low: an hour or so for most headsets.
    private static let lowBatteryPercent = 15.0

    /// Nil where nothing is wrong, or nothing is known.
    var sentence: String?
    /// True where nothing comes of the EEG while other streams of the headset flow: not everything that is wanted is stored.
    var lacksEEG = false

    /// Worst first.
    init(_ activity: HeadsetActivity) {
        let recent = activity.streams.flatMap(\.signals).filter { $0.ageSeconds <= Self.ageLimitSeconds }
        func channels(_ condition: SignalCondition) -> [SignalActivity] { recent.filter { $0.check.condition == condition } }
        var parts: [String] = []
        let silent = Self.silentStreams(activity.streams)
        if !silent.isEmpty { parts.append("nothing comes of \(Self.list(silent.map(\.words)))") }
        lacksEEG = silent.contains { $0.view == "eeg" }
        if !channels(.noContact).isEmpty { parts.append("no contact with the skin") }
        if !channels(.poorContact).isEmpty { parts.append("contact is poor") }
        for (condition, words) in [(SignalCondition.railed, "railed"), (.flat, "flat")] {
            let names = channels(condition).map(\.channel)
            if !names.isEmpty { parts.append("\(Self.list(names)) \(names.count == 1 ? "is" : "are") \(words)") }
        }
        for (hertz, isStronger) in [(50, { $0 >= $1 }), (60, { $0 < $1 })] as [(Int, (Double, Double) -> Bool)] {
            let noisy = channels(.lineNoise).filter { isStronger($0.check.line50Hz ?? 0, $0.check.line60Hz ?? 0) }
            if !noisy.isEmpty { parts.append("line noise of \(hertz) Hz is high on \(Self.list(noisy.map(\.channel)))") }
        }
        if let battery = activity.batteryPercent, battery <= Self.lowBatteryPercent {
            parts.append(String(format: "the battery is low (%.0f %%)", battery))
        }
        sentence = parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// Streams that stand still while others of the headset flow: it sends something else than what it is taken for, such as
    /// another preset of a Muse S Athena, whose streams share one characteristic.
    private static func silentStreams(_ streams: [StreamActivity]) -> [StreamActivity] {
        let newest = streams.compactMap(\.lastSample).filter(\.isSameHostBoot).map(\.time).max()
        return streams.filter { stream in
            if streams.contains(where: { $0.id > stream.id && StreamName($0.name).continues(stream.name) }) { return false }
            let patience = max(silenceLimitSeconds, 5 / stream.samplingFrequency)
            if let newest, let last = stream.lastSample, last.isSameHostBoot {
                return (newest - last.time).inSeconds > patience
            }
            return stream.rows == 0 && streams.contains { Double($0.rows) / $0.samplingFrequency > patience }
        }
    }

    /// `TP9`, `TP9 and AF7`, `TP9, AF7 and AF8`.
    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
