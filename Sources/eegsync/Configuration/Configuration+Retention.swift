extension Configuration {
    /// Which recordings go by themselves: what `eegsync prune` does where nothing else is said.
    struct Retention: Hashable, Sendable {
        /// Recordings whose last sample is older go, 1 ... 36,500 days; nil for whatever age.
        var keepDays: Int?
        /// The oldest go until the database holds no more bytes; nil for whatever size.
        var sizeMaximum: ByteSize?
        /// True: only what somebody else has confirmed to hold goes.
        var requiresConfirmation = false
    }
}

/// A number of bytes as a person writes it: `500M`, `20G`, `1.5T`, in powers of ten, as disks are sold.
struct ByteSize: Hashable, Sendable {
    let bytes: Int64

    static let allowed = "allowed are sizes such as 500M, 20G or 1.5T, of at least 1M"

    init?(_ text: String) {
        let factors: [Character: Double] = ["M": 1e6, "G": 1e9, "T": 1e12]
        guard let unit = text.last, let factor = factors[Character(unit.uppercased())] else { return nil }
        let digits = text.dropLast()
        guard digits.first?.isNumber == true, digits.last?.isNumber == true,
            digits.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }), let number = Double(digits),
            number * factor >= 1e6, number * factor <= 1e15
        else { return nil }
        bytes = Int64((number * factor).rounded())
    }
}
