/// The events to come, ordered by time and, at the same time, by the order in which they were scheduled.
///
/// A binary heap in one array: scheduling and taking cost O(log n) and allocate nothing once the array has grown.
struct EventQueue {
    /// One event to come.
    private struct Entry {
        var time: Int64
        var order: UInt64
        var event: WorldEvent
    }

    private var heap: [Entry] = []
    private var nextOrder: UInt64 = 0

    /// The time of the first event in nanoseconds; nil where there is none.
    var firstTime: Int64? { heap.first?.time }

    /// The number of events to come.
    var count: Int { heap.count }

    /// Adds an event.
    mutating func schedule(_ event: WorldEvent, at time: Int64) {
        let entry = Entry(time: time, order: nextOrder, event: event)
        nextOrder += 1
        var position = heap.count
        heap.append(entry)
        while position > 0 {
            let parent = (position - 1) / 2
            guard Self.precedes(entry, heap[parent]) else { break }
            heap[position] = heap[parent]
            position = parent
        }
        heap[position] = entry
    }

    /// Takes the first event if its time is not after `limit`.
    mutating func next(until limit: Int64) -> (time: Int64, event: WorldEvent)? {
        guard let first = heap.first, first.time <= limit else { return nil }
        let moved = heap.removeLast()
        if heap.isEmpty { return (first.time, first.event) }
        var position = 0
        while true {
            var child = 2 * position + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, Self.precedes(heap[child + 1], heap[child]) { child += 1 }
            guard Self.precedes(heap[child], moved) else { break }
            heap[position] = heap[child]
            position = child
        }
        heap[position] = moved
        return (first.time, first.event)
    }

    private static func precedes(_ left: Entry, _ right: Entry) -> Bool {
        left.time < right.time || (left.time == right.time && left.order < right.order)
    }
}

/// What happens in the simulated world. Small and trivial, so that the queue never allocates for an event; whatever is
/// larger stays in a table of the world and is named by its slot. A generation makes an event void that was overtaken.
enum WorldEvent {
    /// A headset advertises while somebody scans.
    case advertise(headset: Int32, generation: UInt32)
    /// A headset answers a connection request.
    case establish(connect: UInt32)
    /// A request reaches a headset, or the system.
    case perform(slot: Int32)
    /// A delayed event reaches the process.
    case deliver(slot: Int32)
    /// A headset's own timer.
    case tick(headset: Int32, generation: UInt32)
    /// The supervision timeout of a link is over.
    case supervise(headset: Int32, link: UInt32)
    /// A notification that waited to be overtaken is not held back any longer.
    case release(headset: Int32, link: UInt32)
    /// The next of a link's late notifications arrives.
    case arrive(headset: Int32, link: UInt32)
    /// A headset finished to boot.
    case booted(headset: Int32, generation: UInt32)
    /// The link that a killed process had held closes with its socket.
    case closeOrphan(headset: Int32, link: UInt32)
    /// A fault begins; `duration` in nanoseconds, 0 for faults of an instant.
    case faultBegins(Fault, headset: Int32, duration: Int64)
    /// A fault ends.
    case faultEnds(Fault, headset: Int32, generation: UInt32)
    /// The random schedule of a fault comes to its next occurrence.
    case faultDraw(Fault, headset: Int32)
    /// All faults end for good.
    case faultsStop
}
