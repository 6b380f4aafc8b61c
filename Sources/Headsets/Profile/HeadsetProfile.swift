package import Bluetooth

/// What the program must know about one model of headset: how to recognise, prepare, query, wake, start, drain, stop and
/// decode it.
///
/// A profile is a value without state. What changes while a headset is connected lives in the ``HeadsetDecoder`` that
/// ``makeDecoder()`` returns, and in the connection machine.
package protocol HeadsetProfile: Sendable {
    /// The model's identifier in configuration and database, such as `buffered-eeg`.
    var model: String { get }

    /// The model's name for people, such as `Buffered EEG headset`.
    var displayName: String { get }

    /// Who makes it; nil where that may be anybody.
    var manufacturer: String? { get }

    /// Which advertisements belong to the model.
    var recognition: Recognition { get }

    /// The services that mark a connected peripheral as one of this model; asked for in service retrieval.
    var services: [BluetoothUUID] { get }

    /// The characteristic whose value distinguishes two headsets of the model (a serial number), or nil where there is none.
    var identityCharacteristic: BluetoothUUID? { get }

    /// True where the status holds a serial number, which then replaces ``identityCharacteristic``.
    var sendsIdentityInStatus: Bool { get }

    /// False where the status query would stop a headset that streams: it is asked before the start only.
    var isAskedWhileStreaming: Bool { get }

    /// False where the answer to the status query says nothing new once the headset is initialised: it is not waited for again.
    var isAskedOnceInitialised: Bool { get }

    /// True where only the GATT database shows which of several kinds of headset this one is; see ``adapted(to:)``.
    var isDiscriminatedByDatabase: Bool { get }

    /// Characteristics whose notifications are switched on before the status query, in this order.
    var controlCharacteristics: [BluetoothUUID] { get }

    /// Characteristics that carry samples; switched on after the headset has been prepared, in this order.
    var dataCharacteristics: [BluetoothUUID] { get }

    /// Data characteristics each of which must keep sending: where one of them is silent for
    /// ``ProfileTiming/silenceLimit``, the link counts as lost, whatever the others send. Empty where any data will do, as with
    /// a single data characteristic.
    var vitalCharacteristics: [BluetoothUUID] { get }

    /// Characteristics whose notifications each bear a count, or answer commands of which one is under way at a time: one that
    /// arrives twice is recognised. Others are only taken from a system that hands each notification over once.
    var countedCharacteristics: [BluetoothUUID] { get }

    /// The streams of the model. Empty where the headset itself describes them in its status.
    var streams: [StreamDescription] { get }

    /// What one run of the headset's counters lasts for.
    var epochRule: EpochRule { get }

    /// Whether and how the headset hands over samples from its memory.
    var memory: MemoryCapability { get }

    /// The clock that samples are stamped with; nil where they bear no stamps.
    var sampleStamps: SampleStamps? { get }

    /// What is known of the delay that the times of EEG samples contain; nil where nothing is.
    var constantDelay: ConstantDelay? { get }

    /// Limits on the headset's silence.
    var timing: ProfileTiming { get }

    /// The commands for a purpose, in order. Empty where the model needs none.
    ///
    /// - Parameter status: what the headset said last; nil before it said anything.
    func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep]

    /// The profile of the very headset whose services were discovered. It keeps the model and the timing of this profile, and
    /// has control characteristics where this one has some.
    func adapted(to database: GATTDatabase) -> any HeadsetProfile

    /// How the impedance of the electrodes is measured; nil where the headset cannot, or nobody knows how.
    var impedance: ImpedanceMeasurement? { get }

    /// The presets that a person may choose from, in the maker's words; empty where there is nothing to choose.
    var presets: [String] { get }

    /// The profile of a headset of which a person wants a preset.
    ///
    /// - Parameter preset: one of ``presets``.
    func choosing(preset: String) -> any HeadsetProfile

    /// What a person may set beside that; empty where there is nothing to set.
    var settings: [HeadsetSetting] { get }

    /// The profile of a headset that a person has set; what is not stated is as usual.
    ///
    /// - Parameter stated: some of ``settings``.
    func choosing(settings stated: HeadsetSettings) -> any HeadsetProfile

    /// The stream of bytes that carries the samples; nil where a notification is more than its bytes.
    ///
    /// - Parameter beginning: the first bytes of a recorded stream, by which some headsets show how much they send.
    func byteStream(beginning: [UInt8]) -> HeadsetByteStream?

    /// A decoder for one link.
    func makeDecoder() -> any HeadsetDecoder
}

extension HeadsetProfile {
    package var manufacturer: String? { nil }
    /// None in particular.
    package var vitalCharacteristics: [BluetoothUUID] { [] }
    /// None: nothing is taken for counted that is not.
    package var countedCharacteristics: [BluetoothUUID] { [] }
    package var sampleStamps: SampleStamps? { nil }
    package var constantDelay: ConstantDelay? { nil }
    package var sendsIdentityInStatus: Bool { false }
    package var isAskedWhileStreaming: Bool { true }
    package var isAskedOnceInitialised: Bool { true }
    package var isDiscriminatedByDatabase: Bool { false }
    package func adapted(to database: GATTDatabase) -> any HeadsetProfile { self }
    package var impedance: ImpedanceMeasurement? { nil }
    package var presets: [String] { [] }
    package func choosing(preset: String) -> any HeadsetProfile { self }
    package var settings: [HeadsetSetting] { [] }
    package func choosing(settings stated: HeadsetSettings) -> any HeadsetProfile { self }
    package func byteStream(beginning: [UInt8]) -> HeadsetByteStream? { nil }

    /// True where a headset can prove which one it is.
    package var provesIdentity: Bool { identityCharacteristic != nil || sendsIdentityInStatus }

    /// True for a headset with a serial port over Bluetooth Classic: its addresses are classic ones.
    package var usesSerialPort: Bool { services == [.serialPort] }

    /// All characteristics that a link needs before it counts as discovered.
    package var requiredCharacteristics: [BluetoothUUID] {
        controlCharacteristics + dataCharacteristics.filter { !controlCharacteristics.contains($0) }
    }

    /// True where a status query can be asked.
    package var answersStatusQuery: Bool { !commands(for: .queryStatus, status: nil).isEmpty }
}

/// Which advertisements belong to a model, in each of its advertising modes.
package struct Recognition: Hashable, Sendable {
    /// Services advertised in normal operation.
    package var serviceUUIDs: [BluetoothUUID]
    /// Services advertised in pairing mode.
    package var pairingServiceUUIDs: [BluetoothUUID]
    /// Prefixes of the local name; used for models that advertise no service.
    package var namePrefixes: [String]
    /// Company identifiers in manufacturer specific data.
    package var companies: [UInt16]

    /// Creates a recognition rule.
    package init(
        serviceUUIDs: [BluetoothUUID], pairingServiceUUIDs: [BluetoothUUID] = [], namePrefixes: [String] = [],
        companies: [UInt16] = []
    ) {
        self.serviceUUIDs = serviceUUIDs
        self.pairingServiceUUIDs = pairingServiceUUIDs
        self.namePrefixes = namePrefixes
        self.companies = companies
    }

    /// The scan filter that reports the model in every advertising mode.
    package var scanFilter: ScanFilter {
        ScanFilter(serviceUUIDs: serviceUUIDs + pairingServiceUUIDs, namePrefixes: namePrefixes, companies: companies)
    }
}

/// What one run of a headset's counters lasts for. Indexes of different epochs do not continue each other.
package enum EpochRule: String, Hashable, Sendable {
    /// From power-on to power-off, known by a boot identifier; a reconnect continues the epoch.
    case boot
    /// As long as one link; each connection begins a new epoch.
    case connection
}

/// Whether and how a headset hands over samples from its memory.
package enum MemoryCapability: String, Hashable, Sendable {
    /// What is not received is gone.
    case none
    /// By the Buffered EEG service: status, read from index, credit, cumulative acknowledgement.
    case bufferedEEGService
}

/// Limits on a headset's silence, per model.
package struct ProfileTiming: Hashable, Sendable {
    /// The expected time between two notifications of samples while streaming.
    package var packetPeriod: Duration
    /// How long streaming may be silent before people are warned: long enough for a radio that repeats a packet or two.
    package var silenceNotice: Duration { min(max(.milliseconds(1000), packetPeriod * 8), silenceLimit) }
    /// How long streaming, or one of the ``HeadsetProfile/vitalCharacteristics``, may be silent before the link counts as lost.
    /// Longer than the stalls of a headset that is there: what it holds back meanwhile arrives after all, and a headset that is
    /// gone is noticed by the controller.
    package var silenceLimit: Duration
    /// How long the answer to a status query may take; one retry follows.
    package var statusLimit: Duration
    /// How long any other step of the establish flow may take.
    package var stepLimit: Duration
    /// How often ``CommandPurpose/keepAlive`` is sent while streaming; nil for never.
    package var keepAliveInterval: Duration?

    /// Creates the limits.
    package init(
        packetPeriod: Duration, silenceLimit: Duration, statusLimit: Duration = .milliseconds(1000),
        stepLimit: Duration = .milliseconds(3000), keepAliveInterval: Duration? = nil
    ) {
        self.packetPeriod = packetPeriod
        self.silenceLimit = silenceLimit
        self.statusLimit = statusLimit
        self.stepLimit = stepLimit
        self.keepAliveInterval = keepAliveInterval
    }
}
