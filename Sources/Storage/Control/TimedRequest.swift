package import Bluetooth

/// A person's wish that ends by itself, so that it does not outlive for long the command that wrote it.
package struct TimedRequest<ID: Hashable & Sendable>: Hashable, Sendable {
    package var id: ID
    package var headset: HeadsetID
    /// False where it was stopped, or belongs to an earlier boot of the host.
    package var isWanted: Bool
    /// When it ends at the latest.
    package var end: MonotonicTime

    /// Creates a request.
    package init(id: ID, headset: HeadsetID, isWanted: Bool, end: MonotonicTime) {
        self.id = id
        self.headset = headset
        self.isWanted = isWanted
        self.end = end
    }
}

/// A person's wish to see what goes over the air.
package typealias CaptureRequest = TimedRequest<CaptureID>

/// A person's wish to have impedances measured.
package typealias ImpedanceRequest = TimedRequest<ImpedanceMeasurementID>

/// The key of a row of a table of timed requests: written by a command, followed by the acquisition, removed by the command.
package protocol TimedRequestID: RawRepresentable<Int64>, Hashable, Sendable, Codable {
    /// The table.
    static var table: String { get }
    /// The desired state of a request that is wanted.
    static var wantedState: String { get }
    /// The key of a row.
    init(rawValue: Int64)
}

/// The key of a row of table `capture`.
package struct CaptureID: TimedRequestID, Comparable {
    package static let table = "capture"
    package static let wantedState = "capturing"
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package static func < (left: CaptureID, right: CaptureID) -> Bool { left.rawValue < right.rawValue }
}

/// The key of a row of table `impedance_measurement`.
package struct ImpedanceMeasurementID: TimedRequestID {
    package static let table = "impedance_measurement"
    package static let wantedState = "measuring"
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}
