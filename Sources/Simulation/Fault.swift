package import Bluetooth

/// Everything that can go wrong in a rehearsal, by name. The numbers are indices in counters and are not stored.
package enum Fault: UInt8, Hashable, Sendable, CaseIterable {
    // MARK: Of a headset, for a while

    /// The headset is carried out of range and comes back.
    case outOfRange
    /// The headset stays connected, but says and answers nothing.
    case silence
    /// Another program has connected the headset: it does not advertise, service retrieval finds it.
    case heldByOtherProgram
    /// The headset advertises its pairing mode's service UUIDs instead of the normal ones.
    case pairingMode
    /// The headset advertises no service UUID, only its name.
    case noServiceAdvertised

    // MARK: Of a headset, at an instant

    /// The headset restarts: its memory is empty and its boot identifier is new.
    case reboot
    /// The headset falls into low power: it samples nothing until it is woken.
    case lowPower
    /// A random private address is replaced by the next; the link, if any, stays.
    case rotatedAddress
    /// The headset's address changes for good, as with new firmware; every identifier in a cache is stale.
    case staleAddress
    /// The headset closes the link.
    case headsetDisconnect
    /// A person or another program disconnects the headset on this machine.
    case operatorDisconnect
    /// The headset's services change: what was discovered is void.
    case servicesChanged

    // MARK: Of one request or notification; as a scripted fault, of every one within the duration

    /// A connection takes seconds.
    case slowConnect
    /// A connection request is never answered.
    case lostConnect
    /// A connection request ends with an error.
    case connectFailure
    /// The system says at once that it knows no headset under a stale address, instead of waiting for it.
    case unknownPeripheral
    /// The request for restored state is not answered.
    case silentRestoration
    /// The request for connected peripherals is not answered.
    case silentRetrieval
    /// A scan starts, but reports nothing for as long as it runs.
    case silentScan
    /// Service discovery ends with an error.
    case discoveryFailure
    /// A write with response ends with an error and has no effect.
    case writeError
    /// Switching notifications ends with an error.
    case notifyError
    /// A reply is delivered long after its time.
    case lateReply
    /// A notification arrives twice.
    case duplicatedNotification
    /// A notification arrives after the one that follows it.
    case reorderedNotification
    /// A notification does not arrive.
    case lostNotification
    /// Of a live block in two packets, one does not arrive: half of the channels are missing.
    case lostChannelPacket
    /// A status query is not answered.
    case statusUnanswered
    /// Something comes in the headset's name that it never sends: nothing at all, too little, too much, or from a
    /// characteristic that it does not have.
    case malformedNotification

    // MARK: Of the headsets' memory; they follow from the headset's specification and are counted when they happen

    /// The memory overwrote samples that had not been acknowledged.
    case bufferOverrun
    /// An index wrapped from 2^32 - 1 to 0.
    case counterWrap

    // MARK: Of the machine's Bluetooth, for a while

    /// A person switches the adapter off and on again.
    case adapterOff
    /// A person blocks the radio (rfkill) and unblocks it.
    case radioBlocked
    /// The adapter disappears and returns.
    case adapterVanished
    /// bluetoothd restarts: links are gone, the state is `resetting` meanwhile.
    case systemRestarted

    // MARK: Of the daemon's machine; scheduled here, carried out by the rehearsal

    /// The daemon is killed and started again.
    case daemonKilled
    /// The wall clock steps.
    case wallClockStep
    /// Commits take long.
    case slowCommit
    /// The disk is full.
    case diskFull
    /// Another program holds the database's write lock (SQLITE_BUSY).
    case databaseBusy
    /// The disk cannot make what is committed survive a power cut.
    case flushRefused
    /// The daemon is ended in order and started again.
    case daemonEnded

    /// What a fault befalls.
    package enum Scope: Hashable, Sendable {
        /// One headset.
        case headset
        /// The machine's Bluetooth.
        case adapter
        /// The daemon's machine: the rehearsal carries it out.
        case host
    }

    /// What the fault befalls.
    package var scope: Scope {
        switch self {
        case .adapterOff, .radioBlocked, .adapterVanished, .systemRestarted, .silentRestoration, .silentRetrieval, .silentScan,
            .unknownPeripheral:
            .adapter
        case .daemonKilled, .wallClockStep, .slowCommit, .diskFull, .databaseBusy, .flushRefused, .daemonEnded: .host
        default: .headset
        }
    }

    /// The fault's name in reports and on the command line, such as `outOfRange`.
    package var name: String { "\(self)" }

    /// The fault of a name; nil where there is none.
    package init?(name: String) {
        guard let fault = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = fault
    }
}

/// A fault at a chosen instant.
package struct ScriptedFault: Hashable, Sendable {
    /// When it begins.
    package var time: MonotonicTime
    /// What happens.
    package var fault: Fault
    /// How long it lasts; of no meaning for faults of an instant.
    package var duration: Duration
    /// The headset's index in the world's list; of no meaning for other scopes.
    package var headset: Int

    /// Creates a scripted fault.
    package init(at time: MonotonicTime, _ fault: Fault, for duration: Duration = .zero, headset: Int = 0) {
        self.time = time
        self.fault = fault
        self.duration = duration
        self.headset = headset
    }
}

/// A fault of the daemon's machine, which the rehearsal carries out.
package struct HostFault: Hashable, Sendable {
    /// When it begins.
    package var time: MonotonicTime
    /// What happens.
    package var fault: Fault
    /// How long it lasts.
    package var duration: Duration
}

/// How often each fault was really injected.
package struct InjectedFaults: Hashable, Sendable {
    private var counts = [Int](repeating: 0, count: Fault.allCases.count)

    /// Creates a counter of zeros.
    package init() {}

    /// The count of one fault.
    package subscript(fault: Fault) -> Int {
        get { counts[Int(fault.rawValue)] }
        set { counts[Int(fault.rawValue)] = newValue }
    }

    /// All faults that occurred, in the order of their declaration.
    package var occurred: [(fault: Fault, count: Int)] {
        Fault.allCases.compactMap { self[$0] == 0 ? nil : ($0, self[$0]) }
    }

    /// Adds the counts of another run.
    package mutating func add(_ other: InjectedFaults) {
        for fault in Fault.allCases { self[fault] += other[fault] }
    }
}
