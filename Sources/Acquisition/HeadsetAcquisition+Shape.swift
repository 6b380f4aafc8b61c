import Bluetooth
import Headsets

/// Which streams a headset sends just now, where it does not say it before its samples, and which of them have ended.
extension HeadsetAcquisition {
    /// True where the recording has streams of another shape than the profile expects. A headset that sends another preset than
    /// it was told tells its streams by its first samples: until then, neither is believed.
    func awaitsShape(_ expected: [StreamDescription]) -> Bool {
        (montage?.applied(to: expected) ?? expected).enumerated().contains { position, description in
            streams.contains { $0.position == position && !$0.hasShape(of: description) }
        }
    }

    /// The decoder hands out a block of a stream that it expects, and has found nothing else: the profile was right.
    func follow(_ expected: [StreamDescription], ifShownBy block: SampleBlock, at now: MonotonicTime) {
        let described = montage?.applied(to: expected) ?? expected
        guard link != nil, described.indices.contains(block.stream) else { return }
        let known = streams.first { $0.position == block.stream }
        guard known?.hasShape(of: described[block.stream]) != true else { return }
        expectedStreams = nil
        follow(expected, at: now)
    }

    /// How long a stream is waited for whose samples do not come any more while others flow, in limits of the link's
    /// silence. It costs nothing: what is missing begins with the last sample.
    private static let patience = 2
    /// How often that is looked at.
    private static let silencePeriod = Duration.seconds(1)
    /// So many of its packets must be missing.
    private static let packetLimit = 8

    /// Streams that have ended while others flow: what is missing of them is in the ledger from now on.
    func noteSilentStreams(at now: MonotonicTime) {
        guard now >= nextSilenceLook, let link, !isFinishing, !impedance.hasPausedSamples else { return }
        nextSilenceLook = now + Self.silencePeriod
        for index in streams.indices where isSilent(index, for: profile.timing.silenceLimit * Self.patience) {
            streams[index].endLink(cause: .silence, at: now)
            beginStream(index, link)
        }
    }

    /// True where a stream has sent on this link, and now has not for `limit` and for some of its packets before the latest
    /// sample of any stream.
    func isSilent(_ index: Int, for limit: Duration) -> Bool {
        guard link != nil, let arrival = latestArrivals[index], streams[index].isPlaced, let lastLiveSample else {
            return false
        }
        let packet = streams[index].description.samplePeriod * streams[index].description.samplesPerCount
        return lastLiveSample - arrival > max(limit, packet * Self.packetLimit)
    }
}
