import Bluetooth

/// Connects that bluetoothd and the kernel go on with although their caller has given them up.
///
/// A caller that looks for a headset in several ways gives one up after some seconds, and may come back to it at once.
/// Device1.Connect is not cancelled then: a cancel in the moment in which the kernel connects to a headset that has just
/// returned blocks its radio for 4 s (Linux 6.1). Where the headset is connected to meanwhile, it advertises no longer, and is
/// reported as discovered.
struct GivenUpConnects {
    /// How long bluetoothd is left to go on: longer than callers take to come back to a headset that is away, and less than the
    /// 40 s after which bluetoothd gives up by itself.
    private static let limit = Duration.seconds(30)
    /// The same for one that a dead process had begun: bluetoothd itself ends it by then. It is not cancelled, as it is
    /// nobody's.
    private static let foreignLimit = Duration.seconds(40)
    /// How long a link that has come up so waits for a caller, who may first have to let another headset go: bluetoothd takes
    /// 2 s to close a link.
    private static let claimLimit = Duration.seconds(5)

    /// A connect without a caller.
    private struct Connect {
        let path: String
        var until: MonotonicTime
        /// True where the call was a dead process's, so that nobody will say what has become of it.
        var isForeign = false
        var isUp = false
    }

    private var connects: [Connect] = []

    /// Paths of devices that are connected to and that nobody has asked for since.
    var unclaimed: [String] { connects.filter(\.isUp).map(\.path) }

    /// Paths of all devices.
    var paths: [String] { connects.map(\.path) }

    /// A connect is pending, and its caller has given it up.
    mutating func add(_ path: String, isForeign: Bool, isUp: Bool, at now: MonotonicTime) {
        let limit = isForeign ? Self.foreignLimit : Self.limit
        connects.append(Connect(path: path, until: now + limit, isForeign: isForeign))
        if isUp { _ = connected(path, at: now) }
    }

    /// What somebody finds who asks for a device.
    enum Claim: Hashable {
        /// Nothing is pending or up.
        case nothing
        /// A connect that is still to be answered, or a link.
        case connect
        /// A connect of a dead process may be pending: bluetoothd is to be asked.
        case foreignConnect
    }

    /// Somebody asks for the device: whoever it is takes over what there is.
    mutating func claim(_ path: String) -> Claim {
        guard let index = connects.firstIndex(where: { $0.path == path }) else { return .nothing }
        let connect = connects.remove(at: index)
        return connect.isForeign && !connect.isUp ? .foreignConnect : .connect
    }

    /// The link is up. Returns false where nobody had given it up.
    mutating func connected(_ path: String, at now: MonotonicTime) -> Bool {
        guard let index = connects.firstIndex(where: { $0.path == path && !$0.isUp }) else { return false }
        connects[index].isUp = true
        connects[index].until = now + Self.claimLimit
        return true
    }

    /// A link has ended.
    mutating func disconnected(_ path: String) {
        connects.removeAll { $0.path == path && $0.isUp }
    }

    /// The connect has failed, or the device is gone.
    mutating func ended(_ path: String) {
        connects.removeAll { $0.path == path }
    }

    /// The adapter or bluetoothd is gone.
    mutating func reset() {
        connects.removeAll()
    }

    /// When ``takeOverdue(at:)`` is due; nil for never.
    var deadline: MonotonicTime? { connects.map(\.until).min() }

    /// Takes the paths of devices for which nobody has come back in time, and whose connects or links are to be ended.
    mutating func takeOverdue(at now: MonotonicTime) -> [String] {
        defer { connects.removeAll { $0.until <= now } }
        return connects.filter { $0.until <= now && ($0.isUp || !$0.isForeign) }.map(\.path)
    }
}
