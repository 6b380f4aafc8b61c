import Bluetooth
import BluetoothManagement

/// A scan through the management channel: which commands it takes, from what the kernel reports. Pure.
///
/// The kernel ends each discovery after about 10 s, and may be asked for one at a time; this keeps one going as long as it is
/// wanted.
struct KernelScan: Hashable {
    /// After a refusal (another program's discovery, an adapter that is just coming up) it is tried again.
    private static let retryPause = Duration.milliseconds(500)
    /// How long the kernel may say nothing of a discovery before it counts as over: it ends each by itself after 10.24 s
    /// (DISCOV_LE_TIMEOUT), and drops its word of that without a trace where the channel is full.
    private static let silenceLimit = Duration.seconds(20)

    /// What is looked for; nil while nobody scans.
    private(set) var filter: ScanFilter?
    /// True from the command to the kernel's word that the discovery has ended.
    private var isRunning = false
    /// True where the running discovery is to end, because it is another one than is wanted.
    private var isStopping = false
    /// True while the kernel says that it discovers, for whomever.
    private var isDiscovering = false
    /// When it is tried again.
    private var retry: MonotonicTime?
    /// Until when something must be heard of the running discovery.
    private var silentUntil = MonotonicTime.boot

    /// Begins, or changes the filter. Returns what to send.
    mutating func begin(
        _ filter: ScanFilter, on index: ControllerIndex, at now: MonotonicTime
    ) -> ManagementCommand? {
        let old = self.filter
        self.filter = filter
        endSilent(at: now)
        if !isRunning { return start(on: index, at: now) }
        if let old, Self.services(old) == Self.services(filter), !isStopping { return nil }
        return stopRunning(on: index)
    }

    /// Ends. Returns what to send.
    mutating func end(on index: ControllerIndex?) -> ManagementCommand? {
        filter = nil
        retry = nil
        return index.flatMap { stopRunning(on: $0) }
    }

    /// Everything ended with the adapter. Returns whether somebody was scanning.
    mutating func adapterLost() -> Bool {
        defer { self = KernelScan() }
        return filter != nil
    }

    /// The command that ends a discovery which is not ours, where that is what a reply complains of: a process that was killed
    /// leaves one for up to 10 s, with its own filter.
    func remedy(for reply: ManagementReply) -> ManagementCommand? {
        guard filter != nil, reply.opcode == .startDiscovery || reply.opcode == .startServiceDiscovery,
            case .failure(.busy) = reply.result
        else { return nil }
        return .stopDiscovery(reply.index)
    }

    /// Takes a reply of the kernel. Returns an error where the scan cannot be.
    mutating func handle(_ reply: ManagementReply, at now: MonotonicTime) -> CentralError? {
        // One that has not quite begun is not ended: it is asked again once it has, or by whoever wants it next.
        if case .failure = reply.result, reply.opcode == .stopDiscovery, isDiscovering { isStopping = false }
        guard case .failure(let status) = reply.result,
            reply.opcode == .startDiscovery || reply.opcode == .startServiceDiscovery
        else { return nil }
        isRunning = false
        isStopping = false
        guard filter != nil else { return nil }
        if status == .permissionDenied {
            filter = nil
            return .notPermitted(what: "scan (it needs CAP_NET_ADMIN)")
        }
        retry = now + Self.retryPause
        return nil
    }

    /// The kernel's discovery began or ended. Returns what to send.
    mutating func discovering(_ isOn: Bool, on index: ControllerIndex, at now: MonotonicTime) -> ManagementCommand? {
        isDiscovering = isOn
        silentUntil = now + Self.silenceLimit
        // The kernel refuses to end a discovery that it is just beginning (`hci_discovery_active` in net/bluetooth).
        if isOn { return isStopping ? .stopDiscovery(index) : nil }
        isRunning = false
        isStopping = false
        return filter == nil ? nil : start(on: index, at: now)
    }

    /// The kernel is to connect to a device. Returns what to send first.
    ///
    /// The kernel lets controllers report each device once in a discovery (`filter_dup` in net/bluetooth/hci_sync.c), and
    /// connects to what is reported to it: one that was found already would not be connected to before the discovery ends, up
    /// to 10 s later (seen on 6.1). One that is still wanted begins anew by itself.
    mutating func connectBegins(on index: ControllerIndex) -> ManagementCommand? {
        guard isDiscovering || isRunning, !isStopping else { return nil }
        isStopping = isRunning
        return .stopDiscovery(index)
    }

    /// When ``due(at:on:)`` is to be called; nil for never.
    var deadline: MonotonicTime? { filter == nil ? nil : isRunning ? silentUntil : retry }

    /// Returns what is due to be sent.
    mutating func due(at now: MonotonicTime, on index: ControllerIndex) -> ManagementCommand? {
        guard let deadline, deadline <= now else { return nil }
        endSilent(at: now)
        return start(on: index, at: now)
    }

    /// A discovery of which nothing was heard for too long is over. Where it is not, the kernel refuses the next one, which is
    /// cleared away as another program's.
    private mutating func endSilent(at now: MonotonicTime) {
        guard isRunning, silentUntil <= now else { return }
        isRunning = false
        isStopping = false
        isDiscovering = false
    }

    private mutating func start(on index: ControllerIndex, at now: MonotonicTime) -> ManagementCommand? {
        guard let filter else { return nil }
        isRunning = true
        silentUntil = now + Self.silenceLimit
        retry = nil
        return Self.services(filter).map { .startServiceDiscovery($0, index) } ?? .startDiscovery(index)
    }

    private mutating func stopRunning(on index: ControllerIndex) -> ManagementCommand? {
        guard isRunning, !isStopping else { return nil }
        isStopping = true
        return .stopDiscovery(index)
    }

    /// The services by which the kernel itself can filter; nil where there is more to look for.
    private static func services(_ filter: ScanFilter) -> [BluetoothUUID]? {
        let isByServiceAlone = !filter.isUnfiltered && filter.namePrefixes.isEmpty && filter.companies.isEmpty
        return isByServiceAlone && !filter.serviceUUIDs.isEmpty ? filter.serviceUUIDs : nil
    }
}
