import GRDB

/// What the signal of a channel looked like for some seconds: a status for people. It alters no sample.
package struct SignalCheckRecord: Hashable, Sendable, Codable {
    package var stream: StreamID
    /// 1 ... 8.
    package var channel: Int
    /// The first and the last sample that were looked at; between them a gap may have been left out.
    package var firstN: Int64
    package var lastN: Int64
    /// The verdict.
    package var condition: SignalCondition
    /// How many samples were looked at, 1 or more.
    package var sampleCount: Int
    /// The part of them that lay within a tenth of the range's half from one of its ends, 0 ... 1.
    package var railedFraction: Double
    /// The largest difference between two samples of one window, in raw counts.
    package var peakToPeak: Int64
    /// The amplitude of 50 Hz, in the channel's unit; nil where the channel is sampled too slowly for it, or is no signal.
    package var line50Hz: Double?
    /// The amplitude of 60 Hz.
    package var line60Hz: Double?

    package init(
        stream: StreamID, channel: Int, firstN: Int64, lastN: Int64, condition: SignalCondition, sampleCount: Int,
        railedFraction: Double, peakToPeak: Int64, line50Hz: Double?, line60Hz: Double?
    ) {
        self.stream = stream
        self.channel = channel
        self.firstN = firstN
        self.lastN = lastN
        self.condition = condition
        self.sampleCount = sampleCount
        self.railedFraction = railedFraction
        self.peakToPeak = peakToPeak
        self.line50Hz = line50Hz
        self.line60Hz = line60Hz
    }
}

extension SignalCheckRecord: ChangeRecord {
    var subject: ChangeSubject { .stream(stream) }

    /// A result that is there already, from a batch that was given up and taken again, stays.
    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT OR IGNORE INTO signal_check (stream_id, channel, first_n, last_n, condition, sample_count, railed_fraction,
                peak_to_peak, line_50_hz, line_60_hz) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                stream.rawValue, channel, firstN, lastN, condition.rawValue, sampleCount, railedFraction, peakToPeak, line50Hz,
                line60Hz,
            ])
    }
}

/// The verdict of a signal check. The raw values are the database's.
package enum SignalCondition: String, Hashable, Sendable, CaseIterable, Codable {
    /// Nothing is wrong that a check could see.
    case good
    /// The mains are as strong as the EEG itself.
    case lineNoise
    /// The signal does not move: an electrode that is off, shorted or broken.
    case flat
    /// The amplifier is at the end of its range.
    case railed
    /// The headset says that an electrode has poor contact.
    case poorContact
    /// The headset says that it is not worn.
    case noContact
}
