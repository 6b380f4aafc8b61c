import Bluetooth
import Export
import Foundation
import Storage

/// What the page shows of now: what `eegsync status` says, and per headset its electrodes and its latest gap.
struct NowFacts: Encodable {
    /// A channel that has been checked, or whose electrode has a nominal position.
    struct Electrode: Encodable {
        var name: String
        /// The name of a ``SignalCondition``; nil where the latest check is old, or there is none.
        var condition: String?
        /// Seen from above: to the right and to the front, 1 where the head ends; nil for other names.
        var x: Double?
        var y: Double?

        /// A check that is older says nothing about now.
        private static let ageLimitSeconds = 30.0

        init(_ signal: StatusFacts.Signal) {
            name = signal.channel
            if signal.ageSeconds <= Self.ageLimitSeconds { condition = signal.condition }
            guard let position = ElectrodePosition(signal.channel) else { return }
            // Equal angles from the vertex are equal distances: the rim is at 90 degrees.
            let angle = acos(position.z / ElectrodePosition.radius) / (.pi / 2)
            let length = (position.x * position.x + position.y * position.y).squareRoot()
            (x, y) = length > 0 ? (angle * position.x / length, angle * position.y / length) : (0, 0)
        }
    }

    /// The latest gap of a recording that runs.
    struct Gap: Encodable {
        var stream: String
        var cause: String
        var meaning: String
        /// Nil where it is not known, as while the gap lasts.
        var durationSeconds: Double?
        /// True while its end is not known.
        var isOpen: Bool
        /// Since it was noticed; nil where that is not known.
        var ageSeconds: Double?
    }

    private struct Headset: Encodable {
        var facts: StatusFacts.Headset
        var electrodes: [Electrode]
        var lastGap: Gap?
        var measuresImpedance: Bool

        private enum CodingKeys: CodingKey { case electrodes, lastGap, measuresImpedance }

        func encode(to encoder: any Encoder) throws {
            try facts.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(electrodes, forKey: .electrodes)
            try container.encodeIfPresent(lastGap, forKey: .lastGap)
            try container.encode(measuresImpedance, forKey: .measuresImpedance)
        }
    }

    private enum CodingKeys: CodingKey { case headsets, allowsControl }

    private var status: StatusFacts
    private var headsets: [Headset]
    private var allowsControl: Bool

    /// - Parameter measuresImpedance: whether headsets of a model do.
    init(
        store: some Store, configuration: Configuration?, allowsControl: Bool, measuresImpedance: (_ model: String) -> Bool,
        now: MonotonicTime
    ) throws {
        status = try StatusFacts(store: store, configuration: configuration, now: now)
        self.allowsControl = allowsControl
        let wall = Double(HostClock.offset().offsetNanoseconds + now.nanoseconds)
        headsets = try status.headsets.map { headset in
            let gap = try headset.recording.flatMap { try store.latestGap(of: RecordingID(rawValue: $0)) }
            return Headset(
                facts: headset,
                // Streams may be called anything, and electrodes have names of their own.
                electrodes: headset.streams.flatMap { stream in
                    stream.signals.filter { stream.name.hasPrefix("eeg") || ElectrodePosition($0.channel) != nil }
                }.map(Electrode.init),
                lastGap: gap.map { gap in
                    Gap(
                        stream: gap.stream, cause: gap.cause, meaning: gap.meaning, durationSeconds: gap.durationSeconds,
                        isOpen: gap.isOpen,
                        ageSeconds: gap.noticed.isSameHostBoot
                            ? (now - gap.noticed.time).inSeconds
                            : gap.noticed.unixNanoseconds.map { (wall - Double($0)) / 1e9 })
                }, measuresImpedance: measuresImpedance(headset.model))
        }
    }

    func encode(to encoder: any Encoder) throws {
        try status.encode(to: encoder)
        // Instead of those of the status, which say less.
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(headsets, forKey: .headsets)
        try container.encode(allowsControl, forKey: .allowsControl)
    }
}
