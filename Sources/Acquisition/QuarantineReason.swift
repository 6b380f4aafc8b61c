public import Headsets

/// Why a headset was let go until a person looks.
public enum QuarantineReason: Error, Hashable, Sendable {
    /// It describes itself in a way that nothing can be computed from.
    case description(StreamDescriptionError)
    /// The same, in a recording that an earlier version has begun.
    case storedDescription(StreamDescriptionError)
    /// What it sends has changed so often that the recording has too many streams.
    case tooManyStreams(limit: Int)
    /// What it sends changes again and again.
    case changesTooOften
    /// The database refused what was to be stored of it.
    case refusedByDatabase(reason: String)
}

extension QuarantineReason: CustomStringConvertible {
    /// The reason in words; completes "is quarantined: ...".
    public var description: String {
        switch self {
        case .description(let error): "it describes \(error)"
        case .storedDescription(let error): "the recording has \(error)"
        case .tooManyStreams(let limit): "it has changed what it sends until the recording had \(limit) further streams"
        case .changesTooOften: "it changes what it sends again and again within seconds"
        case .refusedByDatabase(let reason): "the database refuses what it sends (\(reason))"
        }
    }
}
