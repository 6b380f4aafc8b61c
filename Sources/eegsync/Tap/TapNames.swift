import Bluetooth
import Headsets
import Storage
import Tap

/// What the messages of a tap have said so far of headsets, streams and the clock: what later ones refer to by their keys.
struct TapNames {
    private(set) var headsets: [RecordingID: TapHeadset] = [:]
    private(set) var streams: [StreamID: NewStream] = [:]
    /// UTC minus `CLOCK_BOOTTIME` in nanoseconds; nil before it was said.
    private(set) var clockOffset: Int64?

    /// Takes what a message says of them.
    mutating func take(_ content: TapContent) {
        switch content {
        case .headset(let headset): headsets[headset.recording] = headset
        case .stream(let stream): streams[stream.id] = stream
        case .clock(let clock): clockOffset = clock.offsetNanoseconds
        default: break
        }
    }

    /// UTC of an instant in nanoseconds since 1970; nil before the clock was said.
    func unixNanoseconds(_ time: MonotonicTime) -> Int64? {
        clockOffset.flatMap { offset in
            let (sum, overflow) = time.nanoseconds.addingReportingOverflow(offset)
            return overflow ? nil : sum
        }
    }

    /// What a stream is called, such as `eeg` or `optics-2`.
    func streamName(_ stream: StreamID) -> String? {
        streams[stream].map { StreamDescription.bankName($0.description.name, $0.description.bank) }
    }

    /// The recording that a message is about; nil for none, or for one that was not said.
    func recording(of content: TapContent) -> RecordingID? {
        switch content {
        case .hello, .clock, .committed: nil
        case .headset(let headset): headset.recording
        case .stream(let stream): stream.recording
        case .state(let state): state.recording
        case .samples(let samples): streams[samples.rows.stream]?.recording
        case .fill(let fill): streams[fill.stream]?.recording
        case .gap(let gap): streams[gap.entry.stream]?.recording
        case .mark(let mark): mark.annotation.recording
        case .check(let check): streams[check.stream]?.recording
        case .battery(let battery): headsets.values.first { $0.headset == battery.headset }?.recording
        case .impedance(let impedance): impedance.recording
        case .segment(let segment): streams[segment.stream]?.recording
        case .recording(.started(let recording, _)), .recording(.stopped(let recording, _)): recording
        case .refused(let refusal): refusal.recording
        }
    }
}
