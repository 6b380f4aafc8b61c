import Bluetooth
import Headsets

/// Sends a sequence of commands, one step after the other.
struct CommandRunner: Sendable {
    /// What the runner wants.
    enum Action: Hashable, Sendable {
        /// Write; with response, report the answer to ``CommandRunner/answered()``.
        case write([UInt8], to: BluetoothUUID, type: WriteType)
        /// Read, and report the answer.
        case read(BluetoothUUID)
        /// Nothing until ``CommandRunner/deadline`` or the answer.
        case wait
        /// All steps are done.
        case completed
        /// The sequence ends the link.
        case abandon(reason: String)
    }

    /// The number that the sequence's requests carry.
    let attempt: Attempt
    /// When a pause between two steps ends; nil while none is under way.
    private(set) var deadline: MonotonicTime?
    private var steps: ArraySlice<CommandStep>
    private var awaitsAnswer = false
    /// What comes next where the headset refuses or says nothing until the deadline; nil while no reply is waited for.
    private var otherwise: [CommandStep]?

    init(steps: [CommandStep], attempt: Attempt) {
        self.steps = steps[...]
        self.attempt = attempt
    }

    /// The next thing to do; call again until it says `wait` or `completed`.
    mutating func next(at now: MonotonicTime) -> Action {
        if awaitsAnswer { return .wait }
        if let deadline {
            if now < deadline { return .wait }
            endWait(isReplied: false)
        }
        guard let step = steps.popFirst() else { return .completed }
        switch step {
        case .write(let bytes, let characteristic, let type):
            awaitsAnswer = type == .withResponse
            return .write(bytes, to: characteristic, type: type)
        case .read(let characteristic):
            awaitsAnswer = true
            return .read(characteristic)
        case .wait(let duration):
            deadline = now + duration
            return .wait
        case .awaitReply(let timeout, let otherwise):
            deadline = now + timeout
            self.otherwise = otherwise
            return .wait
        case .abandonLink(let reason): return .abandon(reason: reason)
        }
    }

    /// The headset itself has answered.
    mutating func replied(isRefusal: Bool) {
        if otherwise != nil { endWait(isReplied: !isRefusal) }
    }

    private mutating func endWait(isReplied: Bool) {
        if let otherwise, !isReplied { steps = otherwise + steps }
        (deadline, otherwise) = (nil, nil)
    }

    /// The answer to a write with response, or to a read, came.
    mutating func answered() {
        awaitsAnswer = false
    }
}
