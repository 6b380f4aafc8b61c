public import Bluetooth

/// A person's wish that ends by itself, so that it does not outlive for long the command that wrote it.
public struct TimedRequest<ID: Hashable & Sendable>: Hashable, Sendable {
    public var id: ID
    public var headset: HeadsetID
    /// False where it was stopped, or belongs to an earlier boot of the host.
    public var isWanted: Bool
    /// When it ends at the latest.
    public var end: MonotonicTime

    /// Creates a request.
    public init(id: ID, headset: HeadsetID, isWanted: Bool, end: MonotonicTime) {
        self.id = id
        self.headset = headset
        self.isWanted = isWanted
        self.end = end
    }
}

/// A person's wish to see what goes over the air.
public typealias CaptureRequest = TimedRequest<CaptureID>

/// A person's wish to have impedances measured.
public typealias ImpedanceRequest = TimedRequest<ImpedanceMeasurementID>

/// The key of a row of table `capture`.
public struct CaptureID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    public static func < (left: CaptureID, right: CaptureID) -> Bool { left.rawValue < right.rawValue }
}

/// The key of a row of table `impedance_measurement`.
public struct ImpedanceMeasurementID: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}
