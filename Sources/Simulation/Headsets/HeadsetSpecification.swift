package import Bluetooth
import Headsets

/// What a simulated headset is like.
package struct HeadsetSpecification: Sendable {
    /// The local name in the advertisement.
    package var localName: String
    /// The address at the beginning.
    package var identifier: PeripheralIdentifier
    /// The value of the Serial Number String; nil where the headset has none.
    package var serialNumber: String?
    /// Services advertised in normal operation; empty for a headset that is found by name only.
    package var serviceUUIDs: [BluetoothUUID]
    /// Services advertised in pairing mode.
    package var pairingServiceUUIDs: [BluetoothUUID]
    /// What a discovery finds.
    package var database: GATTDatabase
    /// Makes what the headset does behind its GATT database: its firmware, so to speak.
    let firmware: @Sendable (SimulatedHeadset) -> any PeripheralBehaviour
    /// The time between two advertisements, less the random delay of up to 10 ms (Core Specification, Vol 6, Part B, 4.4.2.2).
    package var advertisingInterval = Duration.milliseconds(100)
    /// The time between two connection events; 7.5 ms ... 4 s.
    package var connectionInterval = Duration.milliseconds(30)
    /// How long a link survives without a packet; 100 ms ... 32 s.
    package var supervisionTimeout = Duration.seconds(2)
    /// How long the headset takes to boot until it advertises.
    package var bootDuration = Duration.milliseconds(800)
    /// How fast its own time runs: its samples' and its clock's.
    package var crystal = Crystal()
    /// Received signal strength in the room, in dBm.
    package var rssi: Int8 = -60
    /// True where a bond lets this machine resolve private addresses: every address of the headset is then the first.
    package var isBonded = false
    /// True where the headset uses resolvable private addresses, so that ``Fault/rotatedAddress`` can befall it.
    package var usesPrivateAddress = false

    /// For how long at most the headset itself holds back what waited for the radio once, over links and without a word of it.
    package internal(set) var heldBackMaximum: Duration = .zero

    /// True where the bytes of its notifications follow each other without regard to where one ends.
    package var sendsByteStream = false

    /// True where programs rely on the order in which the notifications of several characteristics come; they are short.
    package internal(set) var sendsInOrder = false

    /// By stream: how many indexes are a packet, or a cycle of packets that is numbered from 0; empty for one each.
    package internal(set) var indexesPerPacket: [Int64] = []

    /// How many times as fast as it fills a radio empties its transmit queue, which refuses packets once it is full; nil for
    /// one that keeps the newest, and empties at once.
    package var refusingQueueAhead: Double?

    /// True where it can send a ``SignalTape``.
    package internal(set) var playsTapes = false

    init(
        localName: String, identifier: PeripheralIdentifier, serialNumber: String? = nil, serviceUUIDs: [BluetoothUUID],
        pairingServiceUUIDs: [BluetoothUUID] = [], database: GATTDatabase,
        firmware: @escaping @Sendable (SimulatedHeadset) -> any PeripheralBehaviour
    ) {
        self.localName = localName
        self.identifier = identifier
        self.serialNumber = serialNumber
        self.serviceUUIDs = serviceUUIDs
        self.pairingServiceUUIDs = pairingServiceUUIDs
        self.database = database
        self.firmware = firmware
    }

    /// The address of the headset with a number, in the style of a static random address.
    static func address(number: Int) -> PeripheralIdentifier {
        PeripheralIdentifier(address: 0xC0_EE_60_00_00_00 + UInt64(number), type: .random)
    }
}

extension HeadsetSpecification {
    /// A headset of a built-in model, as it comes from its maker; nil for a model that is not simulated.
    ///
    /// - Parameter number: which headset of the model, from 1.
    package static func headset(ofModel model: String, number: Int = 1) -> HeadsetSpecification? {
        SimulatedModel.all.first { $0.profile.model == model }?.make(number)
    }
}
