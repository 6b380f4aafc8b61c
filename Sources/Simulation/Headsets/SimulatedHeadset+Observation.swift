import Headsets

/// What a checker may know of a headset, and a daemon may not.
extension SimulatedHeadset {
    /// True where everything on the headset's side is there for a connection: powered, booted, in range, answering.
    package var canBeReached: Bool { isBooted && isHeard }

    /// True while live samples are sent and can arrive.
    package var isStreamingLive: Bool {
        guard let link, canBeReached, !link.subscriptions.isEmpty, !link.isOrphan else { return false }
        return behaviour.isStreaming
    }

    /// What the headset sends of an electrode, in kΩ; nil where it measures none.
    ///
    /// - Parameter electrode: the electrode's index in the profile's list.
    package func impedance(ofElectrode electrode: Int) -> Double? {
        behaviour is GanglionHeadset ? Double(GanglionHeadset.impedance(ofElectrode: electrode)) : nil
    }
}
