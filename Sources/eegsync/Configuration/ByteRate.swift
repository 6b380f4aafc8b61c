/// Bytes a second as a person writes them: `50k`, `2M`, in powers of ten, as lines are sold.
struct ByteRate: Hashable, Sendable {
    static let allowed = "allowed are bytes a second, such as 50k or 2M, of at least 1k"

    let bytesPerSecond: Int64

    init?(_ text: String) {
        let factors: [Character: Int64] = ["k": 1_000, "M": 1_000_000]
        guard let unit = text.last, let factor = factors[unit], let number = Int64(text.dropLast()),
            text.first?.isNumber == true, (1...100_000).contains(number)
        else { return nil }
        bytesPerSecond = number * factor
    }
}
