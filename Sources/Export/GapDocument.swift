import Bluetooth
import Headsets
import Storage

/// What a sidecar says of a gap of the ledger.
struct GapDocument: Codable, Hashable {
    var firstN: Int64
    var count: Int64
    /// UTC of the first sample that is missing; absent where the stream has no times.
    var from: String?
    /// UTC of the first sample behind it.
    var to: String?
    /// Nil for whole rows.
    var channel: String?
    var cause: String
    var recovered: Int64
    /// How many are missing for good, also between two boots of the machine, where `count` is 0; absent while nobody knows.
    var missing: Int64?
    /// `counted`, `timed` or `unknown`.
    var certainty: String
    /// Of a timed length: right within so many samples; absent where that is not known.
    var uncertainty: Int64?

    init(_ gap: GapContents, of stream: StreamContents) {
        let channels = stream.description.channels
        firstN = gap.firstN
        count = gap.count
        // The time before a loss goes on at its own rate; what follows begins at the time of its own segment.
        from = stream.unixNanoseconds(ofSample: gap.firstN - 1).map { before in
            CivilTime.iso8601(unixNanoseconds: before + Int64((1e9 / stream.description.samplingFrequency).rounded()))
        }
        to = stream.unixNanoseconds(ofSample: gap.firstN.addingClamped(gap.count)).map(CivilTime.iso8601)
        channel = channels.indices.contains(gap.channel - 1) ? channels[gap.channel - 1].name : nil
        cause = gap.cause.rawValue
        recovered = gap.recovered
        missing = gap.missing
        certainty = gap.certainty
        uncertainty = gap.uncertainty
    }
}
