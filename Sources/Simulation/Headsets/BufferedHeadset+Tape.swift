import Headsets

/// What a headset with memory sends of a tape.
extension BufferedHeadset {
    /// Where on a tape a position of a boot stands: the headset's first sample is its beginning.
    func tapePosition(of position: Int64, bootNumber: Int, stream: Int) -> Int64 {
        let boot = bootHistory[bootNumber]
        let origin = bootHistory.first { !$0.streams[stream].runs.isEmpty } ?? boot
        let elapsed = boot.crystal.headsetTime(at: boot.began) - boot.crystal.headsetTime(at: origin.began)
        let record = origin.streams[stream]
        let periods = Crystal.periods(in: elapsed, frequency: record.samplingFrequency)
        return periods + position - (record.runs.first?.start ?? 0)
    }

    /// True where a tape holds the whole row of a position.
    func isOnTape(_ tape: any SignalTape, bootNumber: Int, stream: Int, _ position: Int64) -> Bool {
        let onTape = tapePosition(of: position, bootNumber: bootNumber, stream: stream)
        let channels = specification.streams[stream].channels.indices
        return tape.isWhole(stream: stream, channels: channels, positions: onTape..<onTape + 1)
    }

    /// What stands on the tape from a position of the present boot on, as far as it is of one kind: up to `most` samples, or
    /// as many as are missing, before `end`. Without a tape everything is there.
    func taped(stream: Int, from position: Int64, end: Int64, most: Int64) -> (isThere: Bool, end: Int64) {
        guard let tape = headset.world.tape else { return (true, min(end, position + most)) }
        let number = bootHistory.count - 1
        let isThere = isOnTape(tape, bootNumber: number, stream: stream, position)
        let limit = isThere ? min(end, position + most) : end
        let change = (position..<limit).first { isOnTape(tape, bootNumber: number, stream: stream, $0) != isThere }
        return (isThere, change ?? limit)
    }
}
