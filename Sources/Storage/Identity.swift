/// The key of a row of table `headset`.
public struct HeadsetID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    public static func < (left: HeadsetID, right: HeadsetID) -> Bool { left.rawValue < right.rawValue }
}

/// The key of a row of table `recording`; people write it in commands.
public struct RecordingID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    public static func < (left: RecordingID, right: RecordingID) -> Bool { left.rawValue < right.rawValue }
}

/// The key of a row of table `stream`. Allocated by the one process that acquires, from ``ResumeState/nextStreamID`` on.
public struct StreamID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    public static func < (left: StreamID, right: StreamID) -> Bool { left.rawValue < right.rawValue }
}
