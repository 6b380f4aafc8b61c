package import Bluetooth
package import Headsets

/// Reads what a stream lacks from the headset's memory, beside the live samples: one read at a time, with credit, so that the
/// headset never sends more than the link and this program can take.
package struct MemoryReader: Sendable {
    /// When a read that makes no progress is asked again, or what is missing is looked at again.
    package private(set) var deadline: MonotonicTime?

    private var isReading = false
    /// Blocks that the headset may still send.
    private var credit = 0
    /// Reads in a row that brought nothing that was missing.
    private var fruitless = 0
    private var progressed = false
    /// What was missing first when last looked.
    private var sought: Range<Int64>?

    /// Blocks allowed at once: at 30 blocks/s about a second of samples, 4 KiB in flight.
    private static let creditWindow = 32
    /// A read without any block for so long is asked again.
    private static let timeout: Duration = .seconds(2)
    /// A lost packet may be merely reordered; only then it is read from memory.
    private static let reorderDelay: Duration = .milliseconds(300)
    /// After so many reads that brought nothing the memory is left alone for a while.
    private static let fruitlessLimit = 3
    /// How long: a headset that sends something else than it was asked for must not cost the link more than a read each 10 s;
    /// a full buffer, whose reads bring nothing either, is emptied sooner or later.
    private static let rest: Duration = .seconds(10)

    /// Creates a reader that has asked for nothing.
    package init() {}

    /// True where nothing is being read, or waited for.
    package var isIdle: Bool { !isReading && deadline == nil }

    /// Begins anew on a new link.
    package mutating func beginLink() {
        self = MemoryReader()
    }

    /// Looks at what is missing and asks for it. Returns commands for the headset.
    package mutating func next(_ stream: StreamAssembler, at now: MonotonicTime) -> [BufferedEEGCommand] {
        guard fruitless < Self.fruitlessLimit else {
            fruitless = Self.fruitlessLimit - 1
            deadline = now + Self.rest
            return []
        }
        guard let run = stream.firstRecoverable(), let from = stream.counter(of: run.lowerBound) else {
            deadline = nil
            defer { isReading = false }
            return isReading ? [.abort(stream: stream.position)] : []
        }
        if isReading {
            guard let deadline, now >= deadline else { return [] }
            fruitless += 1
            isReading = false
            return next(stream, at: now)
        }
        if let deadline, now < deadline { return [] }
        if deadline == nil, stream.hasFreshGap {
            deadline = now + Self.reorderDelay
            return []
        }
        isReading = true
        progressed = false
        sought = run
        credit = Self.creditWindow
        deadline = now + Self.timeout
        return [.read(stream: stream.position, from: from, credit: UInt16(Self.creditWindow))]
    }

    /// A block came from memory. Returns commands for the headset.
    package mutating func received(_ stream: StreamAssembler, end: Int64?, at now: MonotonicTime) -> [BufferedEEGCommand] {
        guard isReading else { return [] }
        credit -= 1
        deadline = now + Self.timeout
        let run = stream.firstRecoverable()
        if run != sought {
            sought = run
            progressed = true
            fruitless = 0
        }
        guard let run else {
            isReading = false
            deadline = nil
            return [.abort(stream: stream.position)]
        }
        // What is missing next lies far ahead: a new read is cheaper than everything between, which is here already.
        if let end, run.lowerBound > end + 1024, let from = stream.counter(of: run.lowerBound) {
            credit = Self.creditWindow
            return [.read(stream: stream.position, from: from, credit: UInt16(Self.creditWindow))]
        }
        guard credit <= Self.creditWindow / 2 else { return [] }
        let more = Self.creditWindow - credit
        credit = Self.creditWindow
        return [.credit(stream: stream.position, blocks: UInt16(more))]
    }

    /// The headset has sent everything of the read.
    package mutating func ended() {
        guard isReading else { return }
        isReading = false
        deadline = nil
        if !progressed { fruitless += 1 }
    }

    /// The headset said that a part of the read cannot be had.
    package mutating func overwritten() {
        progressed = true
    }
}
