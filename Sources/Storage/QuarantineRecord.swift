public import Bluetooth

/// Streams whose headset was let go: a gap opens after their last row, where none is open and there is a row at all.
public struct QuarantineRecord: Hashable, Sendable {
    public var streams: [StreamID]
    public var at: MonotonicTime

    public init(streams: [StreamID], at: MonotonicTime) {
        self.streams = streams
        self.at = at
    }
}
