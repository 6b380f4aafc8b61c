import Bluetooth
import BluetoothManagement

/// What bluetoothd does not offer and the kernel does, beside it on the management channel: the parameters of a connection,
/// and why a link ended. Both need CAP_NET_ADMIN; without it links have the kernel's parameters, and no reason is told.
final class LinkManagement {
    /// How long before bluetoothd's word the kernel's may have come: both hear of it at once.
    private static let reasonAge = Duration.seconds(2)

    private let socket: ManagementSocket?
    private var loader = ConnectionParameterLoader()
    private var reasons: [(identifier: PeripheralIdentifier, reason: DisconnectionReason, at: MonotonicTime)] = []

    /// Opens the channel, where the kernel has one for this process.
    init() {
        socket = try? ManagementSocket()
    }

    /// To be watched; nil where there is no channel.
    var descriptor: Int32? { socket?.descriptor }

    /// Sets the parameters for links to a peripheral from its next connection on.
    func setParameters(_ parameters: ConnectionParameters, for identifier: PeripheralIdentifier) {
        loader.setParameters(parameters, for: identifier)
    }

    /// Tells the kernel the parameters, right before a connection attempt on an adapter such as `hci0`.
    func prepareConnection(adapter: String) {
        guard let index = ControllerIndex(name: adapter), let command = loader.command(beforeConnectingOn: index) else {
            return
        }
        // Where it fails the link has the kernel's parameters, as `eegsync doctor` says.
        try? socket?.send(command)
    }

    /// Takes what the kernel told.
    func receive(at now: MonotonicTime) {
        reasons.removeAll { now - $0.at > Self.reasonAge }
        // A packet that cannot be read is gone; the next may be read.
        while let event = try? socket?.receive() {
            loader.handle(event)
            if case .deviceDisconnected(let identifier, let reason, _) = event {
                reasons.append((identifier, reason, now))
            }
        }
    }

    /// Why the link to a peripheral ended just now, in the central's words; nil where nobody told.
    func takeReason(for identifier: PeripheralIdentifier) -> CentralError? {
        guard let index = reasons.lastIndex(where: { $0.identifier == identifier }) else { return nil }
        let reason = reasons[index].reason
        reasons.removeAll { $0.identifier == identifier }
        switch reason {
        case .connectionTimeout: return .linkLost
        case .localHost: return .disconnectedByOperator
        case .remoteHost: return .peripheralDisconnected
        case .authenticationFailure: return .att(.insufficientAuthentication)
        case .unspecified, .localHostForSuspend: return nil
        }
    }
}
