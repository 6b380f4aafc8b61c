import Bluetooth

/// How long a link was silent before a block: nothing came, not even what could not be decoded.
struct LinkSilence: Hashable, Sendable {
    private var latest: MonotonicTime?
    private var longest = Duration.zero

    /// Something came.
    mutating func end(at arrival: MonotonicTime) {
        if let latest { longest = max(longest, arrival - latest) }
        latest = arrival
    }

    /// A block came. Returns the longest silence since the one before.
    mutating func taken(at arrival: MonotonicTime) -> Duration {
        end(at: arrival)
        defer { longest = .zero }
        return longest
    }
}
