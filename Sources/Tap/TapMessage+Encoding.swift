import Bluetooth
import Headsets
import Storage

extension TapMessage {
    /// The frame: its length in 4 bytes, then as many. Numbers are little-endian.
    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// Appends the frame.
    package func append(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(littleEndian: UInt32(0))
        bytes.append(TapKind(content).rawValue)
        bytes += [0, 0, 0]
        bytes.append(littleEndian: number)
        bytes.append(at)
        content.append(to: &bytes)
        let length = UInt32(clamping: bytes.count - start - 4)
        for offset in 0..<4 { bytes[start + offset] = UInt8(truncatingIfNeeded: length >> (8 * offset)) }
    }
}

extension TapContent {
    fileprivate func append(to bytes: inout [UInt8]) {
        switch self {
        case .hello(let hello):
            bytes.append(littleEndian: hello.version)
            bytes.append(littleEndian: hello.droppedReaders)
            bytes.append(text: hello.program)
        case .headset(let headset):
            bytes.append(littleEndian: headset.recording.rawValue)
            bytes.append(littleEndian: headset.headset.rawValue)
            bytes.append(text: headset.name)
            bytes.append(text: headset.model)
        case .stream(let stream): bytes.append(stream)
        case .state(let state):
            bytes.append(littleEndian: state.recording.rawValue)
            bytes.append(state.since)
            bytes.append(text: state.state)
            bytes.append(state.cause) { $0.append(text: $1) }
            bytes.append(state.detail) { $0.append(text: $1) }
        case .clock(let clock):
            bytes.append(clock.at)
            bytes.append(littleEndian: clock.offsetNanoseconds)
            bytes.append(littleEndian: clock.stepNanoseconds)
            bytes.append(clock.isSynchronised ? 1 : 0)
        case .samples(let samples): bytes.append(samples)
        case .fill(let fill):
            bytes.append(littleEndian: fill.stream.rawValue)
            bytes.append(littleEndian: fill.firstN)
            bytes.append(UInt8(clamping: fill.channel))
            bytes.append(littleEndian: UInt32(clamping: fill.values.count))
            bytes.append(values: fill.values)
        case .gap(let gap): bytes.append(gap)
        case .mark(let mark): bytes.append(mark)
        case .check(let check): bytes.append(check)
        case .battery(let battery):
            bytes.append(littleEndian: battery.headset.rawValue)
            bytes.append(battery.at)
            bytes.append(battery.percent) { $0.append(real: $1) }
            bytes.append(text: battery.condition)
        case .impedance(let impedance):
            bytes.append(littleEndian: impedance.recording.rawValue)
            bytes.append(impedance.at)
            bytes.append(real: impedance.kilohms)
            bytes.append(text: impedance.electrode)
        case .segment(let segment): bytes.append(segment)
        case .recording(let change): bytes.append(change)
        case .committed(let commit):
            bytes.append(littleEndian: commit.through)
            bytes.append(littleEndian: UInt32(clamping: commit.rows.count))
            for rows in commit.rows {
                bytes.append(littleEndian: rows.stream.rawValue)
                bytes.append(littleEndian: rows.firstN)
                bytes.append(littleEndian: rows.count)
            }
        case .refused(let refusal):
            bytes.append(littleEndian: refusal.recording.rawValue)
            bytes.append(littleEndian: refusal.through)
            bytes.append(text: refusal.reason)
        }
    }
}

extension [UInt8] {
    // MARK: Fields

    fileprivate mutating func append(_ time: MonotonicTime) { append(littleEndian: time.nanoseconds) }

    fileprivate mutating func append(real: Double) { append(littleEndian: real.bitPattern) }

    /// A byte that is 0 for nil, else 1 and the value.
    fileprivate mutating func append<Value>(_ value: Value?, _ encode: (inout [UInt8], Value) -> Void) {
        append(value == nil ? 0 : 1)
        if let value { encode(&self, value) }
    }

    /// A length of 2 bytes and as many of UTF-8; what is longer is cut between two characters.
    fileprivate mutating func append(text: String) {
        var kept = text
        while kept.utf8.count > Int(UInt16.max) { kept.removeLast() }
        append(littleEndian: UInt16(clamping: kept.utf8.count))
        append(contentsOf: kept.utf8)
    }

    fileprivate mutating func append(values: [Int32]) {
        // Every machine that this is built for is little-endian; another one takes the longer way.
        if Int32(1).littleEndian == 1 {
            values.withUnsafeBytes { append(contentsOf: $0) }
        } else {
            for value in values { append(littleEndian: value) }
        }
    }

    // MARK: Records

    fileprivate mutating func append(_ stream: NewStream) {
        append(littleEndian: stream.id.rawValue)
        append(littleEndian: stream.recording.rawValue)
        append(littleEndian: Int32(clamping: stream.position))
        let description = stream.description
        append(text: description.name)
        append(littleEndian: Int32(clamping: description.bank))
        append(real: description.samplingFrequency)
        append(littleEndian: Int32(clamping: description.samplesPerCount))
        append(description.counterModulus) { $0.append(littleEndian: $1) }
        append(UInt8(clamping: description.channels.count))
        for channel in description.channels {
            append(text: channel.name)
            append(text: channel.type)
            append(text: channel.unit)
            append(real: channel.scale)
            append(real: channel.offset)
            append(littleEndian: channel.rawMinimum)
            append(littleEndian: channel.rawMaximum)
        }
    }

    fileprivate mutating func append(_ samples: TapSamples) {
        let rows = samples.rows
        append(littleEndian: rows.stream.rawValue)
        append(littleEndian: rows.firstN)
        append(littleEndian: UInt32(clamping: rows.rowCount))
        append(UInt8(clamping: rows.channelCount))
        append((samples.isLate ? 1 : 0) | (rows.missingChannels.isEmpty ? 0 : 2))
        append(samples.time) { bytes, time in
            bytes.append(time.first)
            bytes.append(real: time.periodNanoseconds)
            bytes.append(time.uncertaintyNanoseconds) { $0.append(real: $1) }
        }
        append(samples.arrival) { $0.append($1) }
        append(values: rows.values)
        append(contentsOf: rows.missingChannels)
    }

    fileprivate mutating func append(_ gap: TapGap) {
        let (change, stream, firstN, channel): (UInt8, StreamID, Int64, Int) =
            switch gap.entry {
            case .open(let stream, let firstN, let channel, _, _, _, _): (0, stream, firstN, channel)
            case .close(let stream, let firstN, let channel, _, _): (1, stream, firstN, channel)
            case .recover(let stream, let firstN, let channel, _): (2, stream, firstN, channel)
            case .withdraw(let stream, let firstN, let channel): (3, stream, firstN, channel)
            }
        append(change)
        append(littleEndian: stream.rawValue)
        append(littleEndian: firstN)
        append(UInt8(clamping: channel))
        append(gap.time) { $0.append($1) }
        switch gap.entry {
        case .open(_, _, _, let count, let cause, let noticed, let certainty):
            append(count) { $0.append(littleEndian: $1) }
            append(text: cause.rawValue)
            append(noticed)
            append(certainty)
        case .close(_, _, _, let count, let certainty):
            append(littleEndian: count)
            append(certainty)
        case .recover(_, _, _, let count): append(littleEndian: count)
        case .withdraw: break
        }
    }

    private mutating func append(_ certainty: GapCertainty) {
        switch certainty {
        case .unknown: append(0)
        case .counted: append(1)
        case .timed(let uncertainty):
            append(2)
            append(littleEndian: uncertainty)
        }
    }

    fileprivate mutating func append(_ mark: TapMark) {
        let annotation = mark.annotation
        append(littleEndian: annotation.recording.rawValue)
        append(annotation.onset)
        append(mark.isStored ? 1 : 0)
        append(annotation.durationSeconds) { $0.append(real: $1) }
        append(annotation.sample) { bytes, sample in
            bytes.append(littleEndian: sample.stream.rawValue)
            bytes.append(littleEndian: sample.n)
        }
        append(annotation.deviceTicks) { $0.append(littleEndian: $1) }
        append(annotation.code) { $0.append(littleEndian: $1) }
        append(text: annotation.description)
        append(text: annotation.source)
    }

    fileprivate mutating func append(_ check: SignalCheckRecord) {
        append(littleEndian: check.stream.rawValue)
        append(UInt8(clamping: check.channel))
        append(littleEndian: check.firstN)
        append(littleEndian: check.lastN)
        append(text: check.condition.rawValue)
        append(littleEndian: Int64(check.sampleCount))
        append(real: check.railedFraction)
        append(littleEndian: check.peakToPeak)
        append(check.line50Hz) { $0.append(real: $1) }
        append(check.line60Hz) { $0.append(real: $1) }
    }

    fileprivate mutating func append(_ segment: SegmentRecord) {
        append(littleEndian: segment.stream.rawValue)
        append(littleEndian: segment.firstN)
        append(littleEndian: segment.lastN)
        append(littleEndian: Int64(segment.epoch))
        append(littleEndian: segment.referenceN)
        append(segment.referenceTime)
        append(real: segment.periodNanoseconds)
        append(segment.residualNanoseconds) { $0.append(real: $1) }
        append(littleEndian: Int64(segment.observationCount))
        append(segment.uncertaintyNanoseconds) { $0.append(real: $1) }
    }

    fileprivate mutating func append(_ change: RecordingChange) {
        let (kind, recording, time): (UInt8, RecordingID, MonotonicTime) =
            switch change {
            case .started(let recording, let time): (0, recording, time)
            case .stopped(let recording, let time): (1, recording, time)
            }
        append(kind)
        append(littleEndian: recording.rawValue)
        append(time)
    }
}
