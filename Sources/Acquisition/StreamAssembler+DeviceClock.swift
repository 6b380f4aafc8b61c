import Bluetooth
import Headsets
import Storage

/// What a headset's own clock tells, where its packets bear stamps.
extension StreamAssembler {
    /// Where the stream stands with the last sample of a block: by the headset's own clock, where that knows it better.
    func predicted(_ block: SampleBlock, at arrival: MonotonicTime) -> StreamPosition? {
        let predicted = predicted(at: arrival)
        guard hasSamples, let ticks = block.deviceTicks, let own = deviceClock?.position(ticks: ticks, at: arrival),
            own.uncertainty < predicted?.uncertainty ?? .max
        else { return predicted }
        return StreamPosition(n: max(nextN, own.n), uncertainty: own.uncertainty)
    }

    /// True where the latest stamp tells something of the other streams of the headset.
    var mayLendStamp: Bool { deviceClock.map { $0.stamps.isExact && $0.isSteady } ?? false }

    /// Takes what the latest stamp of another stream tells: had the latest sample of this one come with that packet, it would
    /// have come so much earlier than the packet as the headset's clock says.
    mutating func borrow(ticks: UInt64, at arrival: MonotonicTime) {
        guard isLinked, let period = timeMap?.segment.periodNanoseconds,
            let (n, own, seconds) = deviceClock?.latestSample(near: ticks, at: arrival, period: period / 1e9)
        else { return }
        timeMap?.borrow(n: n, at: arrival - .nanoseconds(Int64(clamping: seconds * 1e9)), deviceTicks: own)
    }
}
