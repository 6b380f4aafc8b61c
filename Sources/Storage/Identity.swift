/// The key of a row of table `headset`.
package struct HeadsetID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package static func < (left: HeadsetID, right: HeadsetID) -> Bool { left.rawValue < right.rawValue }
}

/// The key of a row of table `recording`; people write it in commands.
package struct RecordingID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package static func < (left: RecordingID, right: RecordingID) -> Bool { left.rawValue < right.rawValue }
}

/// The key of a row of table `stream`. Allocated by the one process that acquires, from ``ResumeState/nextStreamID`` on.
package struct StreamID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package static func < (left: StreamID, right: StreamID) -> Bool { left.rawValue < right.rawValue }
}
