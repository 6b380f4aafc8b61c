package import Bluetooth

/// What the kernel's management channel adds to a central that works through bluetoothd: how links are supervised, and why they
/// ended.
///
/// Everything about it is optional: without CAP_NET_ADMIN, or without the channel, links have the kernel's own parameters and
/// end without a reason. To be used on the thread of its central.
package final class LinkSupervision {
    /// How it stands with the connection parameters on an adapter.
    package enum Condition: Hashable, Sendable {
        /// Nothing was loaded so far.
        case unknown
        /// The kernel uses what was loaded for connections from now on.
        case inForce
        /// It does not, and why.
        case impossible(reason: String)
    }

    /// Reasons that nobody took are forgotten beyond this many: other programs' devices disconnect, too.
    private static let reasonsMaximum = 64

    private let watch: DescriptorWatch
    private let open: () throws(ManagementError) -> ManagementSocket
    private var socket: ManagementSocket?
    private var loader = ConnectionParameterLoader()
    private var reasons: [(identifier: PeripheralIdentifier, reason: DisconnectionReason)] = []
    private var qualities: [(identifier: PeripheralIdentifier, quality: LinkQuality)] = []
    /// What went wrong last; nil where nothing did.
    package private(set) var error: ManagementError?

    /// Opens the channel; where that fails, everything else does nothing and ``condition(on:)`` says why.
    ///
    /// - Parameter watch: where the channel's file descriptor is watched.
    package convenience init(watch: DescriptorWatch) {
        self.init(watch: watch, open: { () throws(ManagementError) in try ManagementSocket() })
    }

    /// The same with another way to open the channel.
    init(watch: DescriptorWatch, open: @escaping () throws(ManagementError) -> ManagementSocket) {
        self.watch = watch
        self.open = open
        reopen()
    }

    deinit {
        if let socket { watch.unwatch(socket.descriptor) }
    }

    /// The channel's file descriptor; nil where it is closed.
    package var descriptor: Int32? { socket?.descriptor }

    /// Sets the parameters for links to a device from its next connection on.
    package func setParameters(_ parameters: ConnectionParameters, for identifier: PeripheralIdentifier) {
        loader.setParameters(parameters, for: identifier)
    }

    /// To be called right before each connection attempt on an adapter: gives the kernel the parameters once more, which it may
    /// have forgotten since. The kernel executes commands in the order in which they are sent, so the attempt finds them.
    package func willConnect(on adapter: ControllerIndex) {
        if socket == nil, error?.disposition == .retry { reopen() }
        guard let socket, let command = loader.command(beforeConnectingOn: adapter) else { return }
        do {
            try socket.send(command)
        } catch {
            self.error = error
        }
    }

    /// Takes what the kernel has reported. To be called before bluetoothd's signals are read: the kernel reports to all
    /// listeners at once why a link ended, and bluetoothd passes the end on only after that, without the reason.
    package func process() {
        while let socket {
            do {
                guard let event = try socket.receive() else { return }
                take(event)
            } catch {
                self.error = error
                // One packet that cannot be read is gone; the next may be better.
                if case .malformed = error { continue }
                close()
            }
        }
    }

    /// Why the last link to a device ended; nil where that was not reported, or was taken already.
    package func takeReason(of identifier: PeripheralIdentifier) -> DisconnectionReason? {
        guard let index = reasons.lastIndex(where: { $0.identifier == identifier }) else { return nil }
        let reason = reasons[index].reason
        reasons.removeAll { $0.identifier == identifier }
        return reason
    }

    /// Asks how strong the link to a device is. Nothing is reported where the kernel does not say it to this process.
    package func readQuality(of identifier: PeripheralIdentifier, on adapter: ControllerIndex) {
        guard let socket else { return }
        do {
            try socket.send(.getConnectionInformation(identifier, adapter))
        } catch {
            self.error = error
        }
    }

    /// What the kernel has said of links since the last time.
    package func takeQualities() -> [(identifier: PeripheralIdentifier, quality: LinkQuality)] {
        defer { qualities.removeAll() }
        return qualities
    }

    /// How it stands with the connection parameters on an adapter.
    package func condition(on adapter: ControllerIndex) -> Condition {
        if socket == nil { return .impossible(reason: error.map { "\($0)" } ?? "the management channel is closed") }
        switch loader.state(of: adapter) {
        case .unknown: return .unknown
        case .loaded: return .inForce
        case .refused(let status): return .impossible(reason: "\(status)")
        }
    }

    private func take(_ event: ManagementEvent) {
        loader.handle(event)
        switch event {
        case .reply(let reply):
            guard case .success(.connectionInformation(let identifier, let quality?)) = reply.result,
                qualities.count < Self.reasonsMaximum
            else { return }
            qualities.append((identifier, quality))
        case .deviceDisconnected(let identifier, let reason, _):
            reasons.removeAll { $0.identifier == identifier }
            reasons.append((identifier, reason))
            if reasons.count > Self.reasonsMaximum { reasons.removeFirst() }
        // A reason belongs to the link that has ended, not to the next.
        case .deviceConnected(let identifier, _, _): reasons.removeAll { $0.identifier == identifier }
        default: break
        }
    }

    private func reopen() {
        do {
            let socket = try open()
            self.socket = socket
            error = nil
            loader.reset()
            watch.watch(socket.descriptor)
        } catch {
            self.error = error
        }
    }

    private func close() {
        if let socket { watch.unwatch(socket.descriptor) }
        socket = nil
    }
}
