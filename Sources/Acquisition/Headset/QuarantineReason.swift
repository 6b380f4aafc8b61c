/// Why a headset was let go until a person looks.
package enum QuarantineReason: Error, Hashable, Sendable {
    /// It describes itself in a way that nothing can be computed from; `fault` completes "it describes ...".
    case description(fault: String)
    /// The same, in a recording that an earlier version has begun.
    case storedDescription(fault: String)
    /// What it sends has changed so often that the recording has too many streams.
    case tooManyStreams(limit: Int)
    /// What it sends changes again and again.
    case changesTooOften
    /// The database refused what was to be stored of it.
    case refusedByDatabase(reason: String)
    /// The configuration demands another serial number than the one that the database has of the name: a recording is of one
    /// headset.
    case otherSerialNumber(stored: String)
}

/// The form of a reason in the database; see ``ConnectionCause``.
extension QuarantineReason {
    /// The name of the case.
    package var code: String {
        switch self {
        case .description: "description"
        case .storedDescription: "storedDescription"
        case .tooManyStreams: "tooManyStreams"
        case .changesTooOften: "changesTooOften"
        case .refusedByDatabase: "refusedByDatabase"
        case .otherSerialNumber: "otherSerialNumber"
        }
    }

    /// What the case leaves open; nil where it says all.
    package var parameter: String? {
        switch self {
        case .description(let fault), .storedDescription(let fault): fault
        case .tooManyStreams(let limit): "\(limit)"
        case .changesTooOften: nil
        case .refusedByDatabase(let reason): reason
        case .otherSerialNumber(let stored): stored
        }
    }

    /// The reason of a code and its parameter; nil where there is none.
    package init?(code: String, parameter: String?) {
        switch (code, parameter) {
        case ("description", let fault?): self = .description(fault: fault)
        case ("storedDescription", let fault?): self = .storedDescription(fault: fault)
        case ("tooManyStreams", let limit?):
            guard let limit = Int(limit) else { return nil }
            self = .tooManyStreams(limit: limit)
        case ("changesTooOften", _): self = .changesTooOften
        case ("refusedByDatabase", let reason?): self = .refusedByDatabase(reason: reason)
        case ("otherSerialNumber", let stored?): self = .otherSerialNumber(stored: stored)
        default: return nil
        }
    }
}

extension QuarantineReason: CustomStringConvertible {
    /// The reason in words; completes "is quarantined: ...".
    package var description: String {
        switch self {
        case .description(let fault): "it describes \(fault)"
        case .storedDescription(let fault): "the recording has \(fault)"
        case .tooManyStreams(let limit): "it has changed what it sends until the recording had \(limit) further streams"
        case .changesTooOften: "it changes what it sends again and again within seconds"
        case .refusedByDatabase(let reason): "the database refuses what it sends (\(reason))"
        case .otherSerialNumber(let stored):
            "the configuration demands another serial number than \(stored), from which everything under its name was recorded"
        }
    }
}
