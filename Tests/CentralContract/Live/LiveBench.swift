import BlueZ
import Bluetooth
import BluetoothManagement
import CLinux
import CentralContract
import Glibc
import Headsets
import KernelBluetooth

/// A bench in real time: a poll(2) loop around a central of this machine, beside the lab's headsets.
///
/// In the lab's machine the time of `CLOCK_BOOTTIME` is simulated, so waiting costs nothing there.
final class LiveBench: ContractBench {
    let headset: ContractHeadset
    let profile: any HeadsetProfile
    /// bluetoothd holds the links to headsets of Bluetooth Low Energy; a socket's link ends with it.
    var keepsLinks: Bool { route == .bluez && !profile.usesSerialPort }

    var leavesLinks: Bool { !profile.usesSerialPort }

    /// Which central is put to the test.
    enum Route: String {
        case bluez, kernel
    }

    private let route: Route
    private let control: HeadsetControl
    private let watched = WatchedDescriptors()
    private let timer: Int32
    /// What a person does later.
    private var due: [(time: MonotonicTime, power: String)] = []
    /// Until when a headset is away.
    private var awayUntil = MonotonicTime.boot
    private var problems: [String] = []

    init(route: Route, control: HeadsetControl, headset: ContractHeadset) {
        self.route = route
        self.control = control
        self.headset = headset
        profile = headset.identifier.addressType == .classic ? ThinkGearProfile() : BufferedEEGProfile()
        timer = clinux_timerfd()
        precondition(timer >= 0, "no file descriptor is left")
    }

    deinit { close(timer) }

    var now: MonotonicTime { MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()) }

    func makeCentral() -> any Central {
        if profile.usesSerialPort { return SerialPortCentral(watch: watched.watch) }
        return switch route {
        case .bluez: BlueZCentral(watch: watched.watch)
        case .kernel: KernelCentral(powersOn: true, watch: watched.watch)
        }
    }

    func pass(until instant: MonotonicTime) {
        if let index = due.firstIndex(where: { $0.time <= now }) {
            switchAdapter(due.remove(at: index).power)
            return
        }
        let wake = due.map(\.time).reduce(instant, min)
        _ = clinux_timerfd_arm(timer, max(0, wake.nanoseconds))
        var descriptors = ([timer] + watched.descriptors).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // An interrupted call is a wake-up like any other.
        poll(&descriptors, nfds_t(descriptors.count), -1)
        // What nobody takes out of the timer would wake the next call at once.
        _ = clinux_timerfd_arm(timer, -1)
    }

    func takeAway(for duration: Duration) {
        awayUntil = now + duration
        command("vanish", "\(duration.inSeconds)")
    }

    func closeLinkFromHeadset() { command("disconnect") }

    func switchAdapterOff(for duration: Duration) {
        switchAdapter("off")
        due.append((now + duration, "on"))
    }

    /// `on` or `off`: with bluetoothd as a person does it, without it on the management channel.
    private func switchAdapter(_ word: String) {
        if route == .bluez { return run(["bluetoothctl", "power", word]) }
        do {
            try ManagementSocket().send(.setPowered(word == "on", ControllerIndex(rawValue: 0)))
        } catch {
            problems.append("the adapter could not be switched \(word): \(error)")
        }
    }

    /// Waits until everything is as it was in the beginning.
    func settle() {
        let end = max(due.map(\.time).reduce(now, max), awayUntil) + .seconds(1)
        while now < end { pass(until: end) }
    }

    /// What the bench itself could not do since the last call.
    func takeProblems() -> [String] {
        defer { problems = [] }
        return problems
    }

    private func command(_ words: String...) {
        if let problem = control.command(words) { problems.append(problem) }
    }

    private func run(_ command: [String]) {
        if let problem = HostCommand.run(command) { problems.append(problem) }
    }
}

/// The descriptors that centrals have watched.
private final class WatchedDescriptors {
    private(set) var descriptors: [Int32] = []

    var watch: DescriptorWatch {
        DescriptorWatch(
            watch: { [weak self] in self?.descriptors.append($0) },
            unwatch: { [weak self] descriptor in self?.descriptors.removeAll { $0 == descriptor } })
    }
}
