package import Bluetooth
package import Headsets

/// What the acquisition must know about an open recording to go on with it after any kind of stop.
package struct ResumeState: Hashable, Sendable {
    package var headset: HeadsetID
    package var recording: RecordingID
    /// Identifiers of the headset, best first: last success latest.
    package var identifiers: [PeripheralIdentifier]
    /// The serial number or other proof of identity; nil where none was seen yet.
    package var identityProof: String?
    /// The preserved state, or nil.
    package var preservedJSON: String?
    /// The recording's streams, by position.
    package var streams: [StreamState]
    /// The first stream key that no stream has yet.
    package var nextStreamID: Int64
    /// What earlier recordings have taught of the headset's clocks, latest first.
    package var learntRates: [LearntRate] = []
    /// The firmware of the headset's latest link that showed it; nil where none did.
    package var firmwareRevision: String?

    /// How fast the clock of a headset ran that paces a stream.
    package struct LearntRate: Hashable, Sendable {
        /// The stream's name.
        package var stream: String
        /// Its nominal frequency, in hertz.
        package var samplingFrequency: Double
        /// Nanoseconds between two samples, as measured over some minutes.
        package var periodNanoseconds: Double

        package init(stream: String, samplingFrequency: Double, periodNanoseconds: Double) {
            self.stream = stream
            self.samplingFrequency = samplingFrequency
            self.periodNanoseconds = periodNanoseconds
        }
    }

    /// One stream as the database has it.
    package struct StreamState: Hashable, Sendable {
        package var id: StreamID
        package var position: Int
        package var description: StreamDescription
        /// The channels as they were when the stream began; those of ``description`` may have been corrected since.
        package var declaredChannels: [ChannelDescription]
        /// One more than the highest n that a row or a closed gap covers; 0 where there is none.
        package var nextN: Int64
        /// True once a row or a gap exists.
        package var hasSamples: Bool
        /// The latest epoch, or nil.
        package var epoch: EpochRecord?
        /// The gap whose end is not known yet, or nil.
        package var openGap: MissingRange?
        /// The cause of ``openGap``.
        package var openGapCause: GapCause?
        /// Every n (whole rows) that the ledger calls missing, in ascending order.
        package var missing: [MissingRange]
        /// Every n whose row lacks one channel, in ascending order of n.
        package var missingChannels: [MissingRange]
        /// The latest segment, or nil. Its times are valid only if ``isSameHostBoot``.
        package var segment: SegmentRecord?
        /// True where the latest segment was measured in the host's present boot.
        package var isSameHostBoot: Bool

        package init(
            id: StreamID, position: Int, description: StreamDescription, declaredChannels: [ChannelDescription]? = nil,
            nextN: Int64, hasSamples: Bool, epoch: EpochRecord?, openGap: MissingRange?, openGapCause: GapCause? = nil,
            missing: [MissingRange], missingChannels: [MissingRange], segment: SegmentRecord?, isSameHostBoot: Bool
        ) {
            self.id = id
            self.position = position
            self.description = description
            self.declaredChannels = declaredChannels ?? description.channels
            self.nextN = nextN
            self.hasSamples = hasSamples
            self.epoch = epoch
            self.openGap = openGap
            self.openGapCause = openGapCause
            self.missing = missing
            self.missingChannels = missingChannels
            self.segment = segment
            self.isSameHostBoot = isSameHostBoot
        }
    }

    /// A run of missing samples, and the gap of the ledger that it belongs to.
    package struct MissingRange: Hashable, Sendable {
        package var firstN: Int64
        /// 0 only for an open gap.
        package var count: Int64
        /// 0 for whole rows, else the channel.
        package var channel: Int
        /// The first n of the gap of the ledger that the run belongs to.
        package var gapFirstN: Int64

        package init(firstN: Int64, count: Int64, channel: Int, gapFirstN: Int64) {
            self.firstN = firstN
            self.count = count
            self.channel = channel
            self.gapFirstN = gapFirstN
        }
    }

    package init(
        headset: HeadsetID, recording: RecordingID, identifiers: [PeripheralIdentifier], identityProof: String?,
        preservedJSON: String?, streams: [StreamState], nextStreamID: Int64
    ) {
        self.headset = headset
        self.recording = recording
        self.identifiers = identifiers
        self.identityProof = identityProof
        self.preservedJSON = preservedJSON
        self.streams = streams
        self.nextStreamID = nextStreamID
    }
}
