package import Bluetooth

/// Knows which connection parameters the kernel shall use, and when it must be given them. Pure: it sends nothing itself.
///
/// The kernel keeps one list per adapter, which each Load Connection Parameters replaces, bluetoothd's at its start as well as
/// ours. An entry goes away where
/// - anybody loads another list, and the device has not been connected since the entry was made
///   (`hci_conn_params_clear_disabled`);
/// - a list is loaded while a connection to the device is pending, and that connection is given up;
/// - the adapter goes away; switching it off and on, or blocking its radio, keeps the list.
///
/// It cannot be read back. So the whole list is sent right before every connection attempt: that costs one packet, and comes
/// after whatever bluetoothd has loaded, since bluetoothd loads before it takes requests. A link that is up keeps what it has
/// (before version 1.23 of the interface).
package struct ConnectionParameterLoader: Hashable, Sendable {
    /// What is known of one adapter.
    package enum State: Hashable, Sendable {
        /// No answer yet.
        case unknown
        /// The kernel took the list that was sent last.
        case loaded
        /// The kernel refused it.
        case refused(ManagementStatus)
    }

    /// How many devices are kept: more than anybody has headsets, addresses that changed included. The oldest goes first.
    package static let maximumDevices = 256

    /// The devices, in the order in which they became known.
    package private(set) var devices: [DeviceConnectionParameters] = []
    private var states: [ControllerState] = []

    private struct ControllerState: Hashable, Sendable {
        var index: ControllerIndex
        var state: State
    }

    /// Creates a loader that knows no device.
    package init() {}

    /// Sets the parameters for links to a device from its next connection on. Classic addresses have none and are ignored.
    package mutating func setParameters(_ parameters: ConnectionParameters, for identifier: PeripheralIdentifier) {
        guard identifier.addressType != .classic else { return }
        let device = DeviceConnectionParameters(identifier: identifier, parameters: parameters)
        if let known = devices.firstIndex(where: { $0.identifier == identifier }) {
            devices[known] = device
        } else {
            devices.append(device)
        }
        if devices.count > Self.maximumDevices { devices.removeFirst() }
    }

    /// The command to send before a connection attempt on an adapter; nil where no device is known, or where this socket will
    /// never be allowed.
    package func command(beforeConnectingOn index: ControllerIndex) -> ManagementCommand? {
        switch state(of: index) {
        case .refused(.permissionDenied), .refused(.notSupported), .refused(.unknownCommand): nil
        default: devices.isEmpty ? nil : .loadConnectionParameters(devices, index)
        }
    }

    /// What the kernel said on an adapter.
    package func state(of index: ControllerIndex) -> State {
        states.first { $0.index == index }?.state ?? .unknown
    }

    /// Takes what the kernel reports; events that do not concern the parameters change nothing.
    package mutating func handle(_ event: ManagementEvent) {
        switch event {
        case .reply(let reply) where reply.opcode == .loadConnectionParameters:
            switch reply.result {
            case .success: set(.loaded, of: reply.index)
            case .failure(let status): set(.refused(status), of: reply.index)
            }
        case .indexAdded(let index), .indexRemoved(let index): states.removeAll { $0.index == index }
        default: break
        }
    }

    /// Forgets what the kernel said; to be called with a new socket, whose capabilities may be others.
    package mutating func reset() {
        states = []
    }

    private mutating func set(_ state: State, of index: ControllerIndex) {
        states.removeAll { $0.index == index }
        states.append(ControllerState(index: index, state: state))
    }
}
