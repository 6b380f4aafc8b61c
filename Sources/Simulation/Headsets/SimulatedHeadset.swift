package import Bluetooth

/// A headset in the simulated world: its radio, its address and, through its behaviour, its firmware.
package final class SimulatedHeadset {
    /// What the headset is like.
    package let specification: HeadsetSpecification
    /// The headset's index in the world's list.
    package let number: Int
    /// The address that the headset uses now.
    package internal(set) var identifier: PeripheralIdentifier
    /// All addresses that the headset ever used, the first one first.
    package internal(set) var identifiers: [PeripheralIdentifier]
    /// True while the headset is where the radio reaches it.
    package internal(set) var isInRange = true

    /// One link, from this machine's system to the headset.
    struct Link {
        /// A number that no other link has.
        var serial: UInt32
        /// The identifier under which it was established.
        var identifier: PeripheralIdentifier
        /// The attempt that established it; none for a link that a later process found.
        var attempt: Attempt
        /// True once the present process knows of the link.
        var isReported: Bool
        /// True for the link of a killed process.
        var isOrphan = false
        /// True once a discovery succeeded.
        var isDiscovered = false
        /// The characteristics whose notifications are on.
        var subscriptions: [BluetoothUUID] = []
        /// A notification that waits to be overtaken.
        var held: (characteristic: BluetoothUUID, value: [UInt8])?
        /// Notifications that arrive late, in order, and when the last of them does.
        var late: [(time: Int64, characteristic: BluetoothUUID, value: [UInt8])] = []
        var lastArrival: Int64 = 0
    }

    unowned let world: SimulatedWorld
    var behaviour: any PeripheralBehaviour { behaviourStorage.unsafelyUnwrapped }
    /// Set once in the initializer; optional because a behaviour refers to its headset.
    private var behaviourStorage: (any PeripheralBehaviour)?

    var link: Link?
    /// True while another program on this machine is connected.
    var isHeldByOther = false
    var isBooted = true
    /// When the present absence began, from which the supervision timeout counts.
    var unheardSince: Int64 = 0
    /// True where a discovery must ask the headset, because the system has no copy of its services.
    var servicesAreUnknown = true
    /// Requests of one headset are carried out in order: the time of the last one in the queue.
    var lastRequestTime: Int64 = 0
    var advertisingGeneration: UInt32 = 0
    var isAdvertisementScheduled = false
    var bootGeneration: UInt32 = 0
    private var tickGeneration: UInt32 = 0

    init(_ specification: HeadsetSpecification, number: Int, world: SimulatedWorld) {
        self.specification = specification
        self.number = number
        self.world = world
        identifier = specification.identifier
        identifiers = [specification.identifier]
        behaviourStorage = specification.firmware(self)
    }

    /// The firmware, where it is that of a headset with memory.
    package var buffered: BufferedHeadset? { behaviourStorage as? BufferedHeadset }

    /// What the headset sent from each start to its stop, where that can be computed again.
    package var sessions: (any SessionHeadset)? { behaviourStorage as? any SessionHeadset }

    /// The headset's own time at an instant of the world.
    func headsetTime(at time: Int64) -> Int64 { specification.crystal.headsetTime(at: MonotonicTime(nanoseconds: time)) }

    /// What a discovery finds now.
    var database: GATTDatabase { behaviour.database ?? specification.database }

    /// True for a headset of Bluetooth Classic.
    var hasSerialPort: Bool { identifier.addressType == .classic }

    /// True while the link is up, whoever uses it.
    package var isConnected: Bool { link != nil || isHeldByOther }

    /// Characteristics that notify now.
    package var notifying: [BluetoothUUID] { link?.subscriptions ?? [] }

    /// True where nothing hinders radio packets at this instant.
    var isHeard: Bool { isInRange && !world.isUnder(.silence, headset: number) }

    /// What scans report of the headset now.
    var advertisement: Advertisement {
        var advertisement = Advertisement(localName: specification.localName)
        if world.isUnder(.noServiceAdvertised, headset: number) { return advertisement }
        let isPairing = world.isUnder(.pairingMode, headset: number)
        advertisement.serviceUUIDs = isPairing ? specification.pairingServiceUUIDs : specification.serviceUUIDs
        return advertisement
    }

    /// The identifier under which the system reports the headset.
    var reportedIdentifier: PeripheralIdentifier { specification.isBonded ? identifiers[0] : identifier }

    /// True where a connection request to the identifier reaches the headset.
    func answers(to wanted: PeripheralIdentifier) -> Bool {
        wanted == identifier || (specification.isBonded && identifiers.contains(wanted))
    }

    /// True where notifications of the characteristic are on.
    func isNotifying(_ characteristic: BluetoothUUID) -> Bool {
        link?.subscriptions.contains(characteristic) ?? false
    }

    /// Sends a notification, if somebody has switched it on.
    func notify(_ value: [UInt8], from characteristic: BluetoothUUID) {
        guard isNotifying(characteristic), isHeard else { return }
        world.notify(value, from: characteristic, headset: self)
    }

    /// Asks for the next turn, instead of an earlier wish; nil for none.
    func scheduleTick(at time: Int64?) {
        tickGeneration &+= 1
        guard let time else { return }
        world.queue.schedule(.tick(headset: Int32(truncatingIfNeeded: number), generation: tickGeneration), at: time)
    }

    /// Carries out a turn of the behaviour.
    func tick(generation: UInt32, at time: Int64) {
        guard generation == tickGeneration, let next = behaviour.tick(at: time) else { return }
        world.queue.schedule(.tick(headset: Int32(truncatingIfNeeded: number), generation: tickGeneration), at: next)
    }
}
