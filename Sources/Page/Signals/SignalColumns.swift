/// The least and the greatest value of each channel in each column of a picture: a spike of one sample stands in it at any
/// zoom.
package struct SignalColumns: Hashable, Sendable {
    /// Stands where a column has no sample of a channel; no headset sends it.
    package static let nothing = Int32.min

    package let columns: Int
    package let channels: Int
    /// Channel after channel.
    package private(set) var minimum: [Int32]
    package private(set) var maximum: [Int32]

    package init(columns: Int, channels: Int) {
        self.columns = columns
        self.channels = channels
        minimum = Array(repeating: Self.nothing, count: columns * channels)
        maximum = minimum
    }

    /// Takes a value, or the least and the greatest of several.
    @inline(__always)
    package mutating func insert(_ low: Int32, _ high: Int32, channel: Int, column: Int) {
        let index = channel * columns + column
        if minimum[index] == Self.nothing {
            minimum[index] = low
            maximum[index] = high
            return
        }
        if low < minimum[index] { minimum[index] = low }
        if high > maximum[index] { maximum[index] = high }
    }

    /// Takes one value.
    @inline(__always)
    package mutating func insert(_ value: Int32, channel: Int, column: Int) {
        insert(value, value, channel: channel, column: column)
    }
}
