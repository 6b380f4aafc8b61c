import Bluetooth
import Headsets
import Storage

/// How long a headset takes to be back, as far as that can be known from outside: whether it was in reach while nothing was
/// heard of it, nobody but the headset knows.
struct ReturnTiming {
    /// With a longer silence between two signs the headset counts as gone in between: a round of all layers takes at most 4 s
    /// and 1.5 s for known addresses, 0.5 s and a scan of 10 s, a pause of 1 s, and what it takes to cancel a connection.
    static let silenceLimit = Duration.seconds(20)

    /// Why samples are missing; nil before the first link of a recording.
    private var cause: GapCause?
    private var lost: MonotonicTime?
    /// From when on samples could flow, if the headset is in reach.
    private var able: MonotonicTime
    /// The first and the latest sign of the headset, without a long silence between them; nil for none since the loss.
    private var heard: (first: MonotonicTime, last: MonotonicTime)?
    /// Since when a link is being prepared; it may turn out to be another headset's.
    private var linkBegan: MonotonicTime?
    private var attempts = 0
    private var prepared: MonotonicTime?
    private var isAdapterOn = true

    /// - Parameter cause: why samples are missing that this process was to receive; nil for a recording that begins.
    init(cause: GapCause?, began: MonotonicTime) {
        self.cause = cause
        able = began
    }

    /// The headset showed itself: it advertised, or answered.
    mutating func noteSign(at now: MonotonicTime) {
        if let heard, now - heard.last <= Self.silenceLimit {
            self.heard = (heard.first, max(heard.last, now))
        } else {
            heard = (now, now)
        }
    }

    /// A link is being prepared, or none is.
    ///
    /// - Parameter isKnown: the address was the headset's before; any other may be another headset's.
    mutating func noteLink(isUp: Bool, isKnown: Bool, at now: MonotonicTime) {
        linkBegan = isUp ? linkBegan ?? now : nil
        if isUp, isKnown { noteSign(at: now) }
    }

    /// Samples have stopped.
    ///
    /// - Parameter lastSample: when the last one arrived; nil where none did on this link.
    mutating func noteLoss(_ cause: GapCause, lastSample: MonotonicTime?, at now: MonotonicTime) {
        self.cause = cause
        lost = now
        able = max(able, lastSample ?? prepared ?? able)
        heard = nil
        prepared = nil
        attempts = 0
    }

    /// The adapter is ready, or not: without one nobody is in reach.
    mutating func noteAdapter(isOn: Bool, at now: MonotonicTime) {
        defer { isAdapterOn = isOn }
        if !isOn { heard = nil }
        if isOn, !isAdapterOn, prepared == nil { able = now }
    }

    /// A layer ended.
    mutating func noteAttempt() { attempts += 1 }

    /// Everything is set up.
    mutating func notePrepared(at now: MonotonicTime) {
        prepared = now
        noteSign(at: linkBegan ?? now)
        heard?.last = now
    }

    /// The first live sample of a link.
    func record(
        _ headset: HeadsetID, _ recording: RecordingID, layer: String, firstSample: MonotonicTime
    ) -> StreamingReturnRecord {
        let able = min(able, firstSample)
        let heard = min(max(heard?.first ?? firstSample, able), firstSample)
        return StreamingReturnRecord(
            headset: headset, recording: recording, layer: layer, attempts: max(attempts, 1), cause: cause, lost: lost,
            able: able, heard: heard, prepared: min(prepared ?? firstSample, firstSample), firstSample: firstSample)
    }
}
