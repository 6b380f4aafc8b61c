package import Bluetooth

/// The layers of the reconnection pipeline, in the order in which they are tried.
package enum ReconnectionLayer: String, Hashable, Sendable, CaseIterable {
    /// What the system still holds for us from an earlier process.
    case restoration
    /// Addresses under which the headset was reached before: connect without a scan.
    case cachedIdentifier
    /// Peripherals connected to this machine that offer the headset's service.
    case serviceRetrieval
    /// Advertisements that match the headset's filter.
    case scan
}

/// How one layer ended.
package struct LayerOutcome: Hashable, Sendable {
    /// The result of a layer.
    package enum Result: Hashable, Sendable {
        /// Samples flow.
        case streaming
        /// The layer had nothing to offer, or found nothing in its time.
        case nothingFound
        /// No answer came in time.
        case silent
        /// The headset or the system refused.
        case failed(CentralError)
        /// It was another headset of the model.
        case otherHeadset
        /// The operator or the adapter ended it.
        case interrupted

        /// The result's name in the database.
        package var name: String {
            switch self {
            case .streaming: "streaming"
            case .nothingFound: "nothingFound"
            case .silent: "silent"
            case .failed: "failed"
            case .otherHeadset: "otherHeadset"
            case .interrupted: "interrupted"
            }
        }
    }

    /// The layer.
    package var layer: ReconnectionLayer
    /// The identifier that was tried, where there was one.
    package var identifier: PeripheralIdentifier?
    /// When the layer began.
    package var began: MonotonicTime
    /// How it ended.
    package var result: Result
}
