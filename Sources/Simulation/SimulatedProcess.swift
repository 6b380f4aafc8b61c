import Bluetooth

/// What the system knows of the daemon's present process.
struct SimulatedProcess {
    /// The number of the process; events for an earlier one are void.
    var generation: UInt32 = 0
    /// False while no daemon runs.
    var isAlive = false
    /// The adapter's state as last reported.
    var reportedState = AdapterState.unknown
    /// What is scanned for; nil where nothing is.
    var scanFilter: ScanFilter?
    /// True where the scan reports nothing (``Fault/silentScan``).
    var scanIsSilent = false
    /// Connection requests that were not answered yet.
    var connects: [PendingConnect] = []
    /// Events that the process has not taken yet.
    var inbox: [CentralEvent] = []
}

/// A connection request that was not answered yet.
struct PendingConnect {
    /// What happens to the request.
    enum Fate: Equatable {
        /// It waits until the headset can be reached, or is about to be answered.
        case normal
        /// It ends with an error.
        case failing(CentralError)
        /// It is never answered.
        case lost
        /// The link is up, but the answer is under way.
        case answered(slot: Int)
    }

    /// A number that no other link or connection request has.
    var serial: UInt32
    var identifier: PeripheralIdentifier
    var attempt: Attempt
    var fate: Fate
    /// True from the call that cancels it until that is carried out.
    var isCancelled = false
    /// True once an ``WorldEvent/establish(connect:)`` is in the queue.
    var isArmed = false
}

/// A request on its way to the headset or through the system.
struct PendingRequest {
    enum Kind {
        case reportState
        case restore(identifiers: [PeripheralIdentifier], services: [BluetoothUUID])
        case retrieve(services: [BluetoothUUID])
        case cancel(PeripheralIdentifier, serial: UInt32)
        case discover(PeripheralIdentifier)
        case setNotify(Bool, BluetoothUUID, PeripheralIdentifier)
        case read(BluetoothUUID, PeripheralIdentifier)
        case write([UInt8], BluetoothUUID, WriteType, PeripheralIdentifier)
        case readRSSI(PeripheralIdentifier)
    }

    var kind: Kind
    var attempt: Attempt
    var generation: UInt32
}

/// An event on its way to the process.
struct PendingDelivery {
    var event: CentralEvent
    var generation: UInt32
    /// True for a late reply, which the end of all faults brings at once.
    var isLate: Bool
    /// The connection request that the event answers.
    var connect: UInt32?
}

/// Values that are named by small numbers, which are used again.
struct SlotTable<Value> {
    private(set) var values: [Value?] = []
    private var free: [Int] = []

    /// Stores a value and returns its slot.
    mutating func insert(_ value: Value) -> Int {
        if let slot = free.popLast() {
            values[slot] = value
            return slot
        }
        values.append(value)
        return values.count - 1
    }

    /// Takes the value out of a slot, which must hold one or be waited for by exactly one event.
    mutating func remove(_ slot: Int) -> Value? {
        let value = values[slot]
        values[slot] = nil
        free.append(slot)
        return value
    }

    /// Replaces a value by another.
    mutating func replace(_ slot: Int, with value: Value) {
        values[slot] = value
    }

    /// Makes the value void, but keeps the slot for the event that still names it.
    mutating func void(_ slot: Int) {
        values[slot] = nil
    }
}

extension SlotTable<PendingDelivery> {
    /// Lets a delivery answer no connection request any more.
    mutating func detach(_ slot: Int) {
        guard var delivery = values[slot] else { return }
        delivery.connect = nil
        replace(slot, with: delivery)
    }
}
