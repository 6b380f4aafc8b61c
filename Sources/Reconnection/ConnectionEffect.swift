package import Bluetooth
package import Headsets

/// What the machine asks for, in this order.
package enum ConnectionEffect: Hashable, Sendable {
    /// Layer 0: ask what the system still holds.
    case restoreState(identifiers: [PeripheralIdentifier], attempt: Attempt)
    /// Layer 2: ask for connected peripherals with the profile's services.
    case retrieveConnected(attempt: Attempt)
    /// Layer 3: report advertisements that match the profile.
    case startScan
    /// End of layer 3.
    case stopScan
    /// Connect.
    case connect(PeripheralIdentifier, attempt: Attempt)
    /// Cancel the pending connection, or close the link.
    case cancelConnection(PeripheralIdentifier, attempt: Attempt)
    /// Discover services and characteristics, and check that the profile's are there.
    case discover(PeripheralIdentifier, attempt: Attempt)
    /// Read what proves which headset this is.
    case identify(PeripheralIdentifier, attempt: Attempt)
    /// Switch on notifications of the control characteristics.
    case subscribeControl(PeripheralIdentifier, attempt: Attempt)
    /// Send a sequence of commands.
    case run(CommandPurpose, on: PeripheralIdentifier, attempt: Attempt)
    /// Switch on notifications of the data characteristics.
    case subscribeData(PeripheralIdentifier, attempt: Attempt)
    /// The identifier is proven to be the headset's: remember it.
    case identifierProven(PeripheralIdentifier, proof: String?)
    /// The identifier belongs to another headset.
    case identifierRejected(PeripheralIdentifier, proof: String?)
    /// The headset streams at an address that nothing proves to be its own: a person said so, or it was the only one in sight.
    case adopted(PeripheralIdentifier, replacing: PeripheralIdentifier?, isAutomatic: Bool)
    /// The headset streams at another address than the one that was adopted by itself, which was somebody else's.
    case adoptionWithdrawn(PeripheralIdentifier, for: PeripheralIdentifier)
    /// What was concluded from the status query; `status` is nil where there was no answer.
    case statusConcluded(StatusConclusion, status: HeadsetStatus?)
    /// Everything is set up: samples are expected from now on, and what the headset's memory holds can be drained.
    case streamingBegan(Link)
    /// Samples are not expected any longer: a gap opens.
    case streamingEnded(GapCause)
    /// A layer ended.
    case layerEnded(LayerOutcome)
}

/// What the answer to the status query, or its absence, means.
package enum StatusConclusion: String, Hashable, Sendable, CaseIterable {
    /// The first status in this recording.
    case first
    /// Live samples flow; leave it alone.
    case stillStreaming
    /// It sampled on into its memory.
    case stillSampling
    /// Another boot identifier: it restarted in between.
    case headsetRestarted
    /// Low power or bootloader: it must be woken.
    case asleep
    /// It does not sample, or with another configuration.
    case needsInitialisation
    /// No answer, twice: treated as restarted.
    case noAnswer
}
