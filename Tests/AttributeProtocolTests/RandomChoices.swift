import Simulation

extension SeededGenerator {
    /// Random bytes, as many as a random number of the range says.
    mutating func bytes(_ range: ClosedRange<Int>) -> [UInt8] { bytes(count: Int.random(in: range, using: &self)) }

    /// True once in `times`.
    mutating func once(in times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }
}
