import Bluetooth
import Headsets
import Storage

/// All channels of a stream: the banks of a wide one beside each other, as they were sampled together.
struct JoinedStream: Sendable {
    /// The most channels of a stream, one bit of a word each.
    static let channelMaximum = 64

    /// In the order of their numbers; at least one.
    let banks: [StreamPart]
    /// From the first to the last n of any bank.
    let range: ClosedRange<Int64>

    /// What gives the times: banks are sampled together.
    var clock: StreamContents { banks[0].stream }
    var name: String { clock.description.name }
    var samplingFrequency: Double { clock.description.samplingFrequency }
    var channels: [ChannelDescription] { banks.flatMap(\.stream.description.channels) }

    /// The streams of the parts, in the order of their first banks.
    ///
    /// - Throws: `notRepresentable` where a stream has more than ``channelMaximum`` channels.
    static func join(_ parts: [StreamPart]) throws -> [JoinedStream] {
        var groups: [[StreamPart]] = []
        for part in parts {
            let description = part.stream.description
            // A stream that the headset described anew has a bank of the same number again.
            let match = groups.firstIndex { group in
                group.allSatisfy { $0.stream.description.isBesides(description) }
            }
            if let match { groups[match].append(part) } else { groups.append([part]) }
        }
        return try groups.map { group in
            let channelCount = group.reduce(0) { $0 + $1.stream.description.channels.count }
            guard channelCount <= channelMaximum else {
                throw ExportError.notRepresentable(
                    what: "The stream \(group[0].stream.description.name)",
                    reason: "it has \(channelCount) channels, and \(channelMaximum) are the most",
                    advice: "Export it as sqlite or csv.")
            }
            let first = group.map(\.range.lowerBound).min() ?? 0
            let last = group.map(\.range.upperBound).max() ?? first
            return JoinedStream(
                banks: group.sorted { $0.stream.description.bank < $1.stream.description.bank }, range: first...last)
        }
    }

    /// Samples before which the times jump though n goes on: between two boots of the host, ascending.
    var jumps: [Int64] {
        let segments = clock.segments
        let period = 1e9 / samplingFrequency
        return zip(segments, segments.dropFirst()).compactMap { before, after in
            let step = after.unixNanoseconds(ofSample: after.firstN) - before.unixNanoseconds(ofSample: after.firstN - 1)
            let jumps = abs(Double(step) - period) > period / 2
            return before.hostBoot != after.hostBoot || jumps ? after.firstN : nil
        }
    }

    /// How many samples are missing between two, without the two; for times that jump. That is what the time between them has
    /// room for, but where the headset has counted across two boots of the host: one of their clocks may never have been set.
    func samplesBetween(_ n: Int64, _ next: Int64) -> Int64 {
        guard !isCountedAcrossBoots(n, next), let from = clock.unixNanoseconds(ofSample: n),
            let to = clock.unixNanoseconds(ofSample: next)
        else { return max(0, next - n - 1) }
        return max(0, Int64(clamping: (Double(to - from) / 1e9 * samplingFrequency).rounded()) - 1)
    }

    /// Whether two samples are of different boots of the host, and the ledger has no gap of no count between them.
    private func isCountedAcrossBoots(_ n: Int64, _ next: Int64) -> Bool {
        func boot(_ n: Int64) -> Int64? { (clock.segments.last { $0.firstN <= n } ?? clock.segments.first)?.hostBoot }
        return boot(n) != boot(next)
            && !clock.gaps.contains { $0.channel == 0 && $0.count == 0 && $0.firstN > n && $0.firstN <= next }
    }

    /// How an export that leaves missing rows out reports the stream.
    func exported(rowCount: Int64, filledCount: Int64 = 0) -> ExportedStream {
        let uncertainties = banks.map(\.timeUncertaintySeconds)
        let known = uncertainties.compactMap(\.self)
        return ExportedStream(
            name: name, firstN: range.lowerBound, lastN: range.upperBound, rowCount: rowCount, filledCount: filledCount,
            gridOffsetSeconds: 0, maximumDeviationSeconds: 0,
            timeUncertaintySeconds: known.count == uncertainties.count ? known.max() : nil)
    }
}
