/// The number of one attempt to do something with a headset: sent out with every request, brought back by its reply.
///
/// A reply that carries another attempt than the one that is waited for is late; it is dropped and counted.
public struct Attempt: Hashable, Sendable {
    /// What a request is made for; see ``Attempt/lane``.
    public enum Lane: UInt8, Hashable, Sendable {
        /// The connection machine's own.
        case connection
        /// Made beside it; the answer moves nothing.
        case background
        /// To begin or to end a measurement of impedances.
        case impedance
    }

    /// Whose attempt it is: the number of the machine on its central, from 1 upwards; 0 for the only one.
    public let machine: UInt32
    /// What it is made for. Attempts of different lanes are independent of each other.
    public let lane: Lane
    /// The number, from 1 upwards in the life of one machine; 0 belongs to no request.
    public let number: UInt64

    /// Creates an attempt.
    public init(number: UInt64, machine: UInt32 = 0, lane: Lane = .connection) {
        self.number = number
        self.machine = machine
        self.lane = lane
    }

    /// The attempt that belongs to no request.
    public static let none = Attempt(number: 0)

    /// The machine's attempt that follows this one.
    public var next: Attempt { Attempt(number: number &+ 1, machine: machine, lane: lane) }
}

extension Attempt: CustomStringConvertible {
    public var description: String {
        let name = machine == 0 ? "#\(number)" : "#\(machine).\(number)"
        return lane == .connection ? name : "\(name) (\(lane))"
    }
}
