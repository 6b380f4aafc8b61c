package import Bluetooth
package import Storage

/// One message of the tap: what the daemon has just assembled, noticed or committed. Readers get it as a frame of bytes
/// (``encoded()``); the page Tap describes them.
package struct TapMessage: Hashable, Sendable {
    /// Counted from 1 by the process that acquires. Those of a greeting, which one reader gets alone, bear the number of the
    /// latest message before; to it, each further one is one more.
    package var number: UInt64
    /// When it was said, on the host's `CLOCK_BOOTTIME`.
    package var at: MonotonicTime
    /// What is said.
    package var content: TapContent

    /// Creates a message.
    package init(number: UInt64, at: MonotonicTime, content: TapContent) {
        (self.number, self.at, self.content) = (number, at, content)
    }
}

/// What a message of the tap says. Nothing of it is stored when it is said, but for marks that people make, until a
/// ``committed(_:)`` says so.
package enum TapContent: Hashable, Sendable {
    /// The first message to each reader.
    case hello(TapHello)
    /// A recording that is acquired, with its headset.
    case headset(TapHeadset)
    /// A stream of a recording; said before anything else of the stream.
    case stream(NewStream)
    /// Where the connection of a headset stands from now on.
    case state(TapState)
    /// UTC against `CLOCK_BOOTTIME` from now on.
    case clock(ClockOffsetRecord)
    /// Consecutive new rows of one stream.
    case samples(TapSamples)
    /// Values of one channel for rows that were said without it.
    case fill(ChannelFill)
    /// A change of the gap ledger.
    case gap(TapGap)
    /// Something said of an instant or a sample.
    case mark(TapMark)
    /// What the signal of a channel looks like.
    case check(SignalCheckRecord)
    /// What the headset says of itself.
    case battery(TapBattery)
    /// What an electrode was measured as.
    case impedance(ImpedanceRecord)
    /// A piece of the time map, new or fitted anew, as it will be stored.
    case segment(SegmentRecord)
    /// The first sample of a recording has come, or the recording has ended.
    case recording(RecordingChange)
    /// What is stored from now on.
    case committed(TapCommit)
    /// What the database has refused of one recording.
    case refused(TapRefusal)
}

/// Who speaks, to each reader first.
package struct TapHello: Hashable, Sendable {
    /// The version of the frames' format. Readers of another one must not go on.
    package static let version: UInt16 = 1

    /// The version of the frames that follow.
    package var version: UInt16
    /// The program's version.
    package var program: String
    /// How many readers were dropped since the process began, because they did not keep up.
    package var droppedReaders: UInt64

    /// Creates a greeting of this version.
    package init(program: String, droppedReaders: UInt64, version: UInt16 = TapHello.version) {
        (self.version, self.program, self.droppedReaders) = (version, program, droppedReaders)
    }
}

/// A recording that is acquired.
package struct TapHeadset: Hashable, Sendable {
    package var recording: RecordingID
    package var headset: HeadsetID
    /// The headset's name in the configuration.
    package var name: String
    /// Its model, as the catalog has it.
    package var model: String

    /// Creates a description.
    package init(recording: RecordingID, headset: HeadsetID, name: String, model: String) {
        (self.recording, self.headset, self.name, self.model) = (recording, headset, name, model)
    }
}

/// Where a connection stands.
package struct TapState: Hashable, Sendable {
    package var recording: RecordingID
    /// Since when.
    package var since: MonotonicTime
    /// A ``connection_event.state`` of the database, such as `streaming`.
    package var state: String
    /// What exactly is waited for, and what that leaves open; nil where the state says it all.
    package var cause: String?
    package var detail: String?

    /// Creates a state.
    package init(recording: RecordingID, since: MonotonicTime, state: String, cause: String?, detail: String?) {
        (self.recording, self.since, self.state, self.cause, self.detail) = (recording, since, state, cause, detail)
    }
}

/// Consecutive rows of one stream as they were assembled, with their times.
package struct TapSamples: Hashable, Sendable {
    /// The rows.
    package var rows: SampleRows
    /// The time of row n is that of the first one plus (n - first n) × ``periodNanoseconds``, by the time map as it is now.
    /// The map is fitted anew while evidence comes: ``TapContent/segment(_:)``. Nil where no time is known yet.
    package var time: TapTime?
    /// When the newest packet of the stream arrived, on `CLOCK_BOOTTIME`; nil for rows that are not live.
    package var arrival: MonotonicTime?
    /// True for rows below ones that were said before: they come from the headset's memory, or were overtaken.
    package var isLate: Bool

    /// Creates rows.
    package init(rows: SampleRows, time: TapTime?, arrival: MonotonicTime?, isLate: Bool) {
        (self.rows, self.time, self.arrival, self.isLate) = (rows, time, arrival, isLate)
    }

    /// The instant of a row, by its index from 0; nil where no time is known.
    package func time(ofRow row: Int) -> MonotonicTime? {
        time.map { $0.first + .nanoseconds(Int64(clamping: (Double(row) * $0.periodNanoseconds).rounded())) }
    }
}

/// The times of consecutive samples.
package struct TapTime: Hashable, Sendable {
    /// Of the first one.
    package var first: MonotonicTime
    /// Nanoseconds between two samples, greater than 0.
    package var periodNanoseconds: Double
    /// Within how many nanoseconds they are right, but for the headset's constant delay; nil where that is not known.
    package var uncertaintyNanoseconds: Double?

    /// Creates times.
    package init(first: MonotonicTime, periodNanoseconds: Double, uncertaintyNanoseconds: Double?) {
        self.first = first
        self.periodNanoseconds = periodNanoseconds
        self.uncertaintyNanoseconds = uncertaintyNanoseconds
    }
}

/// A change of the gap ledger, with the time of the first missing sample.
package struct TapGap: Hashable, Sendable {
    package var entry: LedgerEntry
    /// By the time map as it is now; nil where that does not know it.
    package var time: MonotonicTime?

    /// Creates a change.
    package init(entry: LedgerEntry, time: MonotonicTime?) {
        (self.entry, self.time) = (entry, time)
    }
}

/// Something said of an instant or a sample.
package struct TapMark: Hashable, Sendable {
    package var annotation: AnnotationRecord
    /// True for what a person or another program has written into the database: it is stored already.
    package var isStored: Bool

    /// Creates a mark.
    package init(annotation: AnnotationRecord, isStored: Bool) {
        (self.annotation, self.isStored) = (annotation, isStored)
    }
}

/// What a headset says of itself.
package struct TapBattery: Hashable, Sendable {
    package var headset: HeadsetID
    package var at: MonotonicTime
    /// 0 ... 100; nil where it did not say.
    package var percent: Double?
    /// What it does, in the words of ``Headsets/HeadsetStatus/Condition``.
    package var condition: String

    /// Creates a report.
    package init(headset: HeadsetID, at: MonotonicTime, percent: Double?, condition: String) {
        (self.headset, self.at, self.percent, self.condition) = (headset, at, percent, condition)
    }
}

/// What a transaction has stored.
package struct TapCommit: Hashable, Sendable {
    /// Consecutive rows of one stream.
    package struct Rows: Hashable, Sendable {
        package var stream: StreamID
        package var firstN: Int64
        package var count: Int64

        /// Creates a run of rows.
        package init(stream: StreamID, firstN: Int64, count: Int64) {
            (self.stream, self.firstN, self.count) = (stream, firstN, count)
        }
    }

    /// Every message up to this number is stored, but for those of recordings that a ``TapContent/refused(_:)`` before names.
    package var through: UInt64
    /// The rows that the transaction has stored.
    package var rows: [Rows]

    /// Creates a mark of a transaction.
    package init(through: UInt64, rows: [Rows]) {
        (self.through, self.rows) = (through, rows)
    }
}

/// What the database has refused: the recording goes on from what is stored.
package struct TapRefusal: Hashable, Sendable {
    package var recording: RecordingID
    /// What was said of the recording after the last ``TapContent/committed(_:)`` and up to this number is not stored.
    package var through: UInt64
    /// Why, for people.
    package var reason: String

    /// Creates a refusal.
    package init(recording: RecordingID, through: UInt64, reason: String) {
        (self.recording, self.through, self.reason) = (recording, through, reason)
    }
}
