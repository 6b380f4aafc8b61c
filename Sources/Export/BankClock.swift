import Headsets
import Storage

extension RecordingContents {
    /// The recording with one time map for all banks of a stream, that of the first one: equal n are one instant, and maps of
    /// banks whose packets follow each other differ by the time between the packets.
    var timedByFirstBanks: RecordingContents {
        var timed = self
        for index in timed.streams.indices {
            let description = timed.streams[index].description
            let first = streams.filter { $0.description.isBesides(description) }
                .min { $0.description.bank < $1.description.bank }
            guard let first, first.description.bank < description.bank else { continue }
            timed.streams[index].segments = TimeSegment.map(first.segments, for: timed.streams[index].segments)
        }
        return timed
    }
}

extension StreamDescription {
    /// Whether both are banks of one stream, which are sampled together.
    func isBesides(_ other: StreamDescription) -> Bool {
        name == other.name && samplingFrequency == other.samplingFrequency && bank != other.bank
    }
}

extension TimeSegment {
    /// A bank's time map, as far as it goes, for all n of another one's.
    ///
    /// - Parameters:
    ///   - map: that of the first bank; ascending, as all of them.
    ///   - own: that of the other one, which stands for the boots of the host that the first bank has nothing of.
    fileprivate static func map(_ map: [TimeSegment], for own: [TimeSegment]) -> [TimeSegment] {
        var result = map
        var others: [TimeSegment] = []
        for segment in own {
            guard let first = result.firstIndex(where: { $0.hostBoot == segment.hostBoot }),
                let last = result.lastIndex(where: { $0.hostBoot == segment.hostBoot })
            else {
                others.append(segment)
                continue
            }
            result[first].firstN = min(result[first].firstN, segment.firstN)
            result[last].lastN = max(result[last].lastN, segment.lastN)
        }
        return (result + others).sorted { $0.firstN < $1.firstN }
    }
}
