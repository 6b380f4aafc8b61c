import Bluetooth
import Capture
import Headsets
import Storage

/// What an engine and its headsets share: the way out, the bounds, and who uses which identifier.
final class EngineContext {
    let limits: AcquisitionLimits
    /// What all links are made with.
    let hostFacts: LinkFacts
    /// What is to be done, in this order.
    var effects: [EngineEffect] = []
    /// What goes over the air, for captures.
    var packets = PacketReconstruction()
    /// The first key that no stream has.
    var nextStreamID: StreamID
    /// True while samples may be buffered. Looked up once before each round of events, whose rows may exceed the bound.
    var hasRoom = true
    /// Why samples are missing that found no room.
    var overflowCause = GapCause.queueOverflow
    /// True where what a headset has to write must not wait for the next interval.
    var wantsCommit = false
    /// True where the phase of a headset's connection has changed, or its cause, which people look for.
    var hasChangedPhase = false
    /// What is said to the readers of the tap.
    var tap = TapFeed()
    /// Who uses which identifier.
    var claims: [RecordingID: IdentifierClaim] = [:]

    init(limits: AcquisitionLimits, nextStreamID: StreamID, hostFacts: LinkFacts = LinkFacts()) {
        self.limits = limits
        self.hostFacts = hostFacts
        self.nextStreamID = nextStreamID
    }

    /// Something is to be done.
    func emit(_ effect: EngineEffect) { effects.append(effect) }

    /// Asks the central.
    func request(_ request: CentralRequest) {
        packets.note(request)
        effects.append(.request(request))
    }

    /// True where another headset uses or tries the identifier.
    func isUsed(_ identifier: PeripheralIdentifier, byAnotherThan recording: RecordingID) -> Bool {
        claims.contains { $0.key != recording && $0.value.inUse == identifier }
    }

    /// True where another headset uses, tries or owns the identifier. What one that was never reached had tried when an earlier
    /// process died is left to it, where no proof can distinguish the two.
    func isTaken(_ identifier: PeripheralIdentifier, by recording: RecordingID) -> Bool {
        let own = claims[recording]
        let isOwn = own.map { $0.known.contains(identifier) || $0.unproven == identifier } ?? false
        return claims.contains { other, claim in
            guard other != recording else { return false }
            if claim.inUse == identifier || claim.known.contains(identifier) { return true }
            return !isOwn && claim.unproven == identifier && claim.known.isEmpty && !claim.provesIdentity
        }
    }
}

/// The identifiers that a headset claims for itself.
struct IdentifierClaim {
    /// The one that it uses or tries now.
    var inUse: PeripheralIdentifier?
    /// Those under which it was reached, or that a person has named.
    var known: [PeripheralIdentifier]
    /// One that was connected to and is not proven to be the headset's.
    var unproven: PeripheralIdentifier?
    /// True where the headset says who it is.
    var provesIdentity: Bool
}
