/// The number of one attempt to do something with a headset: sent out with every request, brought back by its reply.
///
/// A reply that carries another number than the one that is waited for is late; it is dropped and counted.
public struct Attempt: Hashable, Comparable, Sendable {
    /// The number, from 1 upwards in the life of one machine; 0 belongs to no request.
    public let number: UInt64

    /// Creates an attempt number.
    public init(number: UInt64) {
        self.number = number
    }

    /// The number that belongs to no request.
    public static let none = Attempt(number: 0)

    /// The number that follows this one.
    public var next: Attempt { Attempt(number: number &+ 1) }

    public static func < (left: Attempt, right: Attempt) -> Bool { left.number < right.number }
}

extension Attempt: CustomStringConvertible {
    public var description: String { "#\(number)" }
}
