public import Bluetooth

/// What a simulated headset is like.
public struct HeadsetSpecification: Sendable {
    /// What the headset does behind its GATT database.
    public enum Behaviour: Sendable {
        /// Notifies a counter; for tests of a central.
        case counting
        /// A headset with memory that speaks the Buffered EEG service.
        case buffered(BufferedHeadsetSpecification)
        /// A NeuroSky headset that sends the ThinkGear stream from a characteristic, at once or after a command: no memory, no
        /// counter.
        case thinkGear(from: BluetoothUUID, startedBy: [UInt8]?)
        /// A MindWave Mobile 2: no memory, no counter.
        case mindWave
        /// A Nucleus-Kit headset: no memory, a counter of 5.12 s.
        case hermes(HermesSpecification)
        /// An OpenBCI Ganglion: no memory, a counter of a second.
        case ganglion(GanglionSpecification)
        /// A Muse: no memory; each channel of the EEG in packets of its own, but for an Athena.
        case muse(MuseSpecification)
        /// An OpenBCI Cyton at a serial port: no memory, a counter of a second, and it streams on when its link ends.
        case cyton(CytonSpecification)
        /// An OpenBCI Cyton with a radio of its own: no memory, a counter of two seconds, and it streams on when its link ends.
        case cytonBLE
        /// A Mentalab Explore: no memory; its packets are told apart by their times.
        case explore(ExploreSpecification)
        /// A g.tec Unicorn Hybrid Black at a serial port: no memory, a counter of 32 bits.
        case unicorn(UnicornSpecification)
    }

    /// The local name in the advertisement.
    public var localName: String
    /// The address at the beginning.
    public var identifier: PeripheralIdentifier
    /// The value of the Serial Number String; nil where the headset has none.
    public var serialNumber: String?
    /// Services advertised in normal operation; empty for a headset that is found by name only.
    public var serviceUUIDs: [BluetoothUUID]
    /// Services advertised in pairing mode.
    public var pairingServiceUUIDs: [BluetoothUUID]
    /// What a discovery finds.
    public var database: GATTDatabase
    /// What the headset does.
    public var behaviour: Behaviour
    /// The time between two advertisements, less the random delay of up to 10 ms (Core Specification, Vol 6, Part B, 4.4.2.2).
    public var advertisingInterval = Duration.milliseconds(100)
    /// The time between two connection events; 7.5 ms ... 4 s.
    public var connectionInterval = Duration.milliseconds(30)
    /// How long a link survives without a packet; 100 ms ... 32 s.
    public var supervisionTimeout = Duration.seconds(2)
    /// How long the headset takes to boot until it advertises.
    public var bootDuration = Duration.milliseconds(800)
    /// How fast its own time runs: its samples' and its clock's.
    public var crystal = Crystal()
    /// Received signal strength in the room, in dBm.
    public var rssi: Int8 = -60
    /// True where a bond lets this machine resolve private addresses: every address of the headset is then the first.
    public var isBonded = false
    /// True where the headset uses resolvable private addresses, so that ``Fault/rotatedAddress`` can befall it.
    public var usesPrivateAddress = false

    /// True where no firmware can change the headset's address.
    public var hasFixedAddress = false

    /// Creates a specification.
    public init(
        localName: String, identifier: PeripheralIdentifier, serialNumber: String? = nil, serviceUUIDs: [BluetoothUUID],
        pairingServiceUUIDs: [BluetoothUUID] = [], database: GATTDatabase, behaviour: Behaviour
    ) {
        self.localName = localName
        self.identifier = identifier
        self.serialNumber = serialNumber
        self.serviceUUIDs = serviceUUIDs
        self.pairingServiceUUIDs = pairingServiceUUIDs
        self.database = database
        self.behaviour = behaviour
    }

    /// The address of the headset with a number, in the style of a static random address.
    static func address(number: Int) -> PeripheralIdentifier {
        PeripheralIdentifier(address: 0xC0_EE_60_00_00_00 + UInt64(number), type: .random)
    }

    /// The characteristic of ``Behaviour/counting``: notifies a little-endian 16-bit counter at each connection interval.
    public static let countingCharacteristic = BluetoothUUID(UInt16(0xFFF1))
    /// The service of ``Behaviour/counting``.
    public static let countingService = BluetoothUUID(UInt16(0xFFF0))

    /// A headset that notifies a counter.
    public static func counting(number: Int = 1) -> HeadsetSpecification {
        HeadsetSpecification(
            localName: "Counter-\(number)", identifier: address(number: number), serialNumber: "CN-\(1000 + number)",
            serviceUUIDs: [countingService], pairingServiceUUIDs: [BluetoothUUID(UInt16(0xFFE0))],
            database: GATTDatabase(characteristics: [
                Characteristic(service: .deviceInformation, uuid: .serialNumberString, properties: [.read]),
                Characteristic(
                    service: countingService, uuid: countingCharacteristic, properties: [.write, .notify]),
            ]),
            behaviour: .counting)
    }
}

extension HeadsetSpecification {
    /// A headset of a built-in model, as it comes from its maker; nil for a model that is not simulated.
    ///
    /// - Parameter number: which headset of the model, from 1.
    public static func headset(ofModel model: String, number: Int = 1) -> HeadsetSpecification? {
        switch model {
        case "buffered-eeg": .buffered(number: number, BufferedHeadsetSpecification())
        case "cyton": .cyton(number: number)
        case "cyton-ble": .cytonBLE(number: number)
        case "explore": .explore(number: number)
        case "ganglion": .ganglion(number: number)
        case "hermes": .hermes(number: number)
        case "mindwave": .mindWave(number: number)
        case "muse": .muse(number: number)
        case "tgam": .tgam(number: number)
        // Found by its name alone, which therefore stays.
        case "thinkgear": .thinkGear(number: number)
        case "unicorn": .unicorn(number: number)
        default: nil
        }
    }
}
