import Headsets

/// What a Ganglion sends of a tape.
extension GanglionHeadset {
    /// The first instant of the packet that carries an axis of an acceleration.
    static func packet(ofAxis axis: Int, _ position: Int64, _ firmware: GanglionFirmware) -> Int64 {
        let number = position % accelerationsPerCycle * 10 + Int64(axis) + 1
        return position / accelerationsPerCycle * cycle + (firmware == .version2 ? number * 2 - 1 : number * 2)
    }

    /// True where the packet of an instant is sent: a tape, where one is played, holds all of it. Of firmware 2 it has to
    /// hold all of the cycle before it, too, since the differences add up.
    func isThere(_ position: Int64, session number: Int? = nil) -> Bool {
        guard let tape = headset.world.tape else { return true }
        let session = number ?? sessions.count - 1
        let within = position % Self.cycle
        let (first, count): (Int64, Int64) =
            switch specification.firmware {
            case .version2: (0, (within + 1) / 2 * 2 + 1)
            case .version3: (within / 2 * 2, min(2, Self.cycle - within / 2 * 2))
            }
        let begin = sessions[session].tapePositions[0] + position - within + first
        if specification.firmware == .version2 {
            return wholeEnd(tape, from: begin) >= begin + count
        }
        return tape.isWhole(stream: 0, channels: 0..<4, positions: begin..<begin + count)
    }

    /// Up to where a tape holds all of a cycle; what is known of the cycle is kept.
    private func wholeEnd(_ tape: any SignalTape, from begin: Int64) -> Int64 {
        if let known = wholeCycle, known.begin == begin { return known.end }
        let end = (begin..<begin + Self.cycle).first { !tape.isWhole(stream: 0, channels: 0..<4, positions: $0..<$0 + 1) }
        wholeCycle = (begin, end ?? begin + Self.cycle)
        return end ?? begin + Self.cycle
    }
}
