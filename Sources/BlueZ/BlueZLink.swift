import Bluetooth

/// What the conversation knows of one peripheral that it was asked to connect to, or found connected.
struct BlueZLink {
    /// Where the connection stands.
    enum Phase: Hashable {
        /// Device1.Connect is under way.
        case connecting(recovery: Recovery)
        /// A pause before Device1.Connect is called: bluetoothd is busy with this device, or the kernel still gives up an
        /// earlier connect.
        case pausing(recovery: Recovery, until: MonotonicTime)
        /// A connect of an earlier process is under way; what it leads to is waited for.
        case joining(until: MonotonicTime)
        /// bluetoothd called the connect a success; the signal that the link is up is waited for.
        case confirming(until: MonotonicTime)
        /// Up.
        case connected
    }

    /// How far the way out of a stuck `InProgress` has been gone.
    enum Recovery: Int, Hashable {
        case none, disconnected, paused, removed
    }

    /// The object of the peripheral.
    let path: String
    /// Under which it was asked for.
    let identifier: PeripheralIdentifier
    /// The attempt that connected, or tries to; ``Attempt/none`` for a restored link.
    var attempt: Attempt
    var phase: Phase
    /// The attempts that cancelled it and wait for the end.
    var cancels: [Attempt] = []
    /// True where the link was up before we asked for it: somebody else may own its ATT channel.
    var wasUp = false

    /// True where the connect is one that an earlier caller had begun and given up.
    var isRejoined = false

    /// True where nothing but Device1.Connect is under way, for a link that was not up before.
    var isPending: Bool { phase == .connecting(recovery: .none) && cancels.isEmpty && !wasUp }

    /// True where the connect of an earlier process is waited for.
    var isJoining: Bool { if case .joining = phase { cancels.isEmpty } else { false } }

    /// True where requests may be made on it.
    var isUsable: Bool { phase == .connected && cancels.isEmpty }

    /// True where nothing but the signal that the link is up is waited for.
    var awaitsLink: Bool {
        switch phase {
        case .confirming, .joining: cancels.isEmpty
        case .connecting, .pausing, .connected: false
        }
    }

    /// When something is due; nil for never. What was cancelled ends with the reply to Device1.Disconnect.
    var deadline: MonotonicTime? {
        switch phase {
        case .pausing(_, let until), .confirming(let until), .joining(let until): cancels.isEmpty ? until : nil
        case .connecting, .connected: nil
        }
    }
}
