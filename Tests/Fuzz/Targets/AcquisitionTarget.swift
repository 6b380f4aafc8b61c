import Acquisition
import Bluetooth
import Headsets
import Rehearsal
import Simulation
import Storage
import Synchronization

extension FuzzTarget {
    /// From packets through the engine into SQLite.
    static let acquisitions = [FuzzTarget("acquisition") { bytes in AcquisitionRun(input: bytes).brokenRule() }]

    /// The same with an engine that forgets some of its gaps.
    static let plantedAcquisition = FuzzTarget("planted-acquisition") { bytes in
        AcquisitionRun(input: bytes).brokenRule { $0.changes.removeAll { if case .ledger = $0 { true } else { false } } }
    }
}

/// One headset and the whole daemon behind it, but for its threads: the real engine, and a real database in memory.
///
/// An input is a byte that chooses the model, the sampling frequency and the scale that a headset tells which describes itself,
/// and steps: what, length, bytes. A step is a notification of any bytes, a well-formed packet with a counter
/// of the fuzzer's choice, time that passes, a lost link, another description, or a commit.
struct AcquisitionRun {
    private static let profiles: [any HeadsetProfile] =
        [BufferedEEGProfile(), MuseProfile(preset: "p1041", variant: .unknown)]
        + HeadsetCatalog.builtIn.profiles.filter { !["buffered-eeg", "muse"].contains($0.model) }
        + [MuseProfile(preset: "p21", variant: .unknown)]
    private static let start = MonotonicTime(nanoseconds: 60_000_000_000)
    /// What is asked at most: an input is a test, not a day.
    private static let stepLimit = 400

    private let input: [UInt8]

    init(input: [UInt8]) {
        self.input = input
    }

    /// The first rule that does not hold.
    ///
    /// - Parameter spoil: may change a batch on its way to the database, as a defect does.
    func brokenRule(_ spoil: @escaping (inout WriteBatch) -> Void = { _ in }) -> String? {
        var input = FuzzInput(self.input)
        let index = input.byte() % Self.profiles.count
        let isAthena = index == 1
        let profile = Self.profiles[index]
        let type: PeripheralIdentifier.AddressType = profile.usesSerialPort ? .classic : .public
        let identifier = PeripheralIdentifier(address: 0x00_55_DA_B0_13_24, type: type)
        let characteristics = Self.characteristics(of: profile, isAthena: isAthena)
        let central = WillingCentral(identifier, characteristics: characteristics)
        let description = FuzzedDescription(&input)
        central.answer = { bytes, _ in
            guard profile.model == "buffered-eeg", bytes.first == BufferedEEGCommand.status.opcode else { return [] }
            return description.report()
        }
        do throws(StorageError) {
            let (store, number) = try StorePool.shared.take()
            defer { StorePool.shared.giveBack(store, inputs: number + 1) }
            let known = KnownHeadset(name: "fuzzed-\(number)", profile: profile, identifiers: [identifier])
            let engine = try FuzzedEngine(store, known, central, at: Self.start)
            for _ in 0..<Self.stepLimit where input.hasMore {
                let kind = input.byte()
                let bytes = input.piece() ?? []
                let characteristic = characteristics[kind >> 3 % characteristics.count]
                switch kind & 7 {
                case 0, 1: central.notify(bytes, from: characteristic, at: engine.now)
                case 2, 3: FuzzedPacket(bytes).send(to: central, model: profile.model, isAthena: isAthena, at: engine.now)
                case 4, 5: try engine.pass(.milliseconds(Int64(1) << Int64(min(bytes.count, 14))), spoil)
                case 6: central.breakLink()
                default: for (from, value) in description.report() { central.notify(value, from: from, at: engine.now) }
                }
                try engine.pass(.milliseconds(kind >> 3), spoil)
            }
            return try engine.end(spoil)
        } catch {
            return "the database refused what the engine wrote: \(error)"
        }
    }

    private static func characteristics(of profile: any HeadsetProfile, isAthena: Bool) -> [BluetoothUUID] {
        if isAthena { return [MuseService.control, MuseService.multiplexed] }
        guard profile.model == "muse" else { return profile.requiredCharacteristics }
        let others = [MuseService.accelerometer, MuseService.gyroscope, MuseService.telemetry]
        return [MuseService.control] + MuseService.eeg + others
    }
}

/// What a Buffered EEG headset says of itself: frequency and scale as the input has them, bit by bit.
private struct FuzzedDescription {
    private var stream = StreamDescription(name: "eeg", samplingFrequency: 250, counterModulus: 1 << 32, channels: [])

    init(_ input: inout FuzzInput) {
        // A first byte of 0 leaves what is usual, which no mutation would find in eight.
        let frequency = Self.number(&input) ?? 250
        let scale = Self.number(&input) ?? 0.5
        stream.samplingFrequency = frequency
        stream.channels = ["C3", "C4"].map {
            ChannelDescription(name: $0, scale: scale, rawMinimum: -1 << 23, rawMaximum: 1 << 23 - 1)
        }
    }

    private static func number(_ input: inout FuzzInput) -> Double? {
        guard input.byte() != 0 else { return nil }
        return Double(bitPattern: (0..<8).reduce(UInt64(0)) { sum, _ in sum << 8 | UInt64(input.byte()) })
    }

    func report() -> [(from: BluetoothUUID, value: [UInt8])] {
        let header = BufferedEEGStatusHeader(
            condition: .sampling, bootIdentifier: FuzzedPacket.boot,
            ranges: [BufferedEEGStatusHeader.StreamRange(oldest: 0, end: 0)])
        return BufferedEEGMessage.statusReport(header, streams: [stream]).map { (BufferedEEGService.control, $0.encoded()) }
    }
}

/// A packet as its model sends it, with the counter and the first samples of the fuzzer's choice.
private struct FuzzedPacket {
    static let boot: UInt32 = 7

    private let counter: UInt32
    private let bytes: [UInt8]

    /// The first byte says how many of the following ones are the counter.
    init(_ bytes: [UInt8]) {
        let length = Int(bytes.first ?? 0) % 5
        counter = bytes.dropFirst().prefix(length).reduce(0) { $0 << 8 | UInt32($1) }
        self.bytes = Array(bytes.dropFirst(1 + length))
    }

    func send(to central: WillingCentral, model: String, isAthena: Bool, at now: MonotonicTime) {
        let values = (0..<16).map { Int32($0 < bytes.count ? bytes[$0] : 0) }
        let low = UInt8(truncatingIfNeeded: counter)
        switch model {
        case "buffered-eeg":
            let header = BufferedEEGBlock.Header(
                isFromMemory: bytes.count > 20, bootIdentifier: Self.boot, stream: 0, channelCount: 2, instantCount: 8,
                firstIndex: counter)
            let block = BufferedEEGMessage.block(BufferedEEGBlock(header: header, values: values))
            central.notify(block.encoded(), from: BufferedEEGService.data, at: now)
        case "unicorn":
            let frame = UnicornFrame(battery: 9, eeg: values, motion: [], counter: counter)
            central.notify(frame.encoded(), from: .serialPort, at: now)
        case "cyton": central.notify(CytonFrame(number: low, eeg: values).encoded(), from: .serialPort, at: now)
        case "muse" where isAthena:
            let tag = [MuseAthenaPacket.Tag.eeg8, .eeg4, .optics16, .optics8][(bytes.first.map(Int.init) ?? 0) % 4]
            let content = [UInt8](repeating: 5, count: tag.contentLength ?? 0)
            let packet = MuseAthenaPacket.encoded(index: 0, deviceMilliseconds: 0, blocks: [(tag, low, content)])
            central.notify(packet, from: MuseService.multiplexed, at: now)
        case "muse":
            let packet = [UInt8(truncatingIfNeeded: counter >> 8), low] + [UInt8](repeating: 3, count: 18)
            for characteristic in MuseService.eeg.prefix(bytes.first == 1 ? 1 : 4) {
                central.notify(packet, from: characteristic, at: now)
            }
        default: break
        }
    }
}

/// The engine with its database, in virtual time.
private final class FuzzedEngine {
    private(set) var now: MonotonicTime
    private let store: AcquisitionStore
    private let driver: VirtualDriver
    private let recording: RecordingID
    private let start: MonotonicTime

    init(_ store: AcquisitionStore, _ known: KnownHeadset, _ central: WillingCentral, at start: MonotonicTime)
        throws(StorageError)
    {
        self.store = store
        self.start = start
        now = start
        let recording = try store.control.startRecording(headset: known.name, model: known.profile.model, at: now)
        self.recording = recording
        var limits = AcquisitionLimits()
        limits.wishesInterval = nil
        driver = try VirtualDriver(
            central: central, store: store, limits: limits, seed: 1,
            lookUp: { $0.recording == recording ? known : nil },
            readClock: VirtualDriver.rightClock(unixNanosecondsAtBoot: 1_790_000_000_000_000_000))
        // Time to connect and to prepare the headset.
        try pass(.seconds(6)) { _ in }
    }

    func pass(_ duration: Duration, _ spoil: @escaping (inout WriteBatch) -> Void) throws(StorageError) {
        var refusal: StorageError?
        driver.willCommit = spoil
        driver.refused = { error, _ in refusal = refusal ?? error }
        let end = now + duration
        driver.step(at: now)
        while let due = driver.deadline, due <= end {
            now = max(now + .microseconds(1), due)
            driver.step(at: now)
        }
        now = end
        if let refusal { throw refusal }
    }

    /// Ends the recording. Returns the rule that what was stored breaks.
    func end(_ spoil: @escaping (inout WriteBatch) -> Void) throws(StorageError) -> String? {
        try store.control.stopRecording(recording, at: now)
        driver.handle(.wishesChanged, at: now)
        for _ in 0..<4 { try pass(.seconds(4), spoil) }
        let audit = try store.audit(recording: recording)
        if let finding = audit.findings.first { return "the audit fails: \(finding.check): \(finding.detail)" }
        for stream in try store.reader(of: recording).contents.streams {
            guard let first = stream.firstN, let last = stream.lastN else { continue }
            // Samples that came at once may be as many as they are; what is missing takes time.
            let elapsed = (now - start).inSeconds * stream.description.samplingFrequency
            let turn = Double(stream.description.samplesPerCount) * 2
            let bearable = Double(stream.rowCount) + elapsed * 1.1 + turn + 16
            if Double(last - first) > bearable {
                return "stream \(stream.description.name) reaches from \(first) to \(last) with \(stream.rowCount) rows in "
                    + "\((now - start).inSeconds) s"
            }
        }
        return nil
    }
}

/// Databases are dear to make: one serves many inputs, each of which has a recording of its own.
private final class StorePool: Sendable {
    static let shared = StorePool()

    /// What an input leaves behind must not slow down the others.
    private static let inputLimit = 100

    private let kept = Mutex<[(store: AcquisitionStore, inputs: Int)]>([])

    /// A database that nobody else uses, and how many inputs it has had.
    func take() throws(StorageError) -> (store: AcquisitionStore, inputs: Int) {
        if let known = kept.withLock({ $0.popLast() }) { return known }
        return (try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "fuzz")), 0)
    }

    func giveBack(_ store: AcquisitionStore, inputs: Int) {
        guard inputs < Self.inputLimit else { return }
        kept.withLock { $0.append((store, inputs)) }
    }
}
