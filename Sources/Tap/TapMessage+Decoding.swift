import Bluetooth
import Headsets
import Storage

extension TapMessage {
    /// Reads what follows the length of a frame. Bytes behind the fields that this version knows are left out.
    ///
    /// - Returns: nil for a kind or a word that a later version has added.
    /// - Throws: ``TapError/malformed(kind:)`` where the bytes break the format.
    package init?(frame bytes: [UInt8]) throws(TapError) {
        let rawKind = bytes.first ?? 0
        var reader = ByteReader(bytes, truncated: TapError.malformed(kind: rawKind))
        _ = try reader.slice(4)
        number = try reader.integer()
        at = try reader.time()
        guard let kind = TapKind(rawValue: rawKind), let content = try Self.content(kind, &reader) else { return nil }
        self.content = content
    }

    private static func content(_ kind: TapKind, _ reader: inout ByteReader<TapError>) throws(TapError) -> TapContent? {
        switch kind {
        case .hello:
            let (version, dropped) = (try reader.integer(UInt16.self), try reader.integer(UInt64.self))
            return .hello(TapHello(program: try reader.text(), droppedReaders: dropped, version: version))
        case .headset:
            let (recording, headset) = (try reader.recording(), try reader.headset())
            let name = try reader.text()
            return .headset(TapHeadset(recording: recording, headset: headset, name: name, model: try reader.text()))
        case .stream: return .stream(try reader.newStream())
        case .state:
            let (recording, since, state) = (try reader.recording(), try reader.time(), try reader.text())
            let cause = try reader.optional { (reader) throws(TapError) in try reader.text() }
            let detail = try reader.optional { (reader) throws(TapError) in try reader.text() }
            return .state(TapState(recording: recording, since: since, state: state, cause: cause, detail: detail))
        case .clock:
            let (at, offset, step) = (try reader.time(), try reader.integer(Int64.self), try reader.integer(Int64.self))
            return .clock(
                ClockOffsetRecord(
                    at: at, offsetNanoseconds: offset, stepNanoseconds: step, isSynchronised: try reader.isSet()))
        case .samples: return .samples(try reader.samples())
        case .fill:
            let (stream, firstN, channel) = (
                try reader.stream(), try reader.integer(Int64.self), try reader.integer(UInt8.self)
            )
            let count = try reader.integer(UInt32.self)
            return .fill(
                ChannelFill(stream: stream, channel: Int(channel), firstN: firstN, values: try reader.values(Int(count))))
        case .gap: return try reader.gap().map(TapContent.gap)
        case .mark: return .mark(try reader.mark())
        case .check: return try reader.check().map(TapContent.check)
        case .battery:
            let (headset, at) = (try reader.headset(), try reader.time())
            let percent = try reader.optional { (reader) throws(TapError) in try reader.real() }
            return .battery(TapBattery(headset: headset, at: at, percent: percent, condition: try reader.text()))
        case .impedance:
            let (recording, at, kilohms) = (try reader.recording(), try reader.time(), try reader.real())
            return .impedance(ImpedanceRecord(recording: recording, at: at, electrode: try reader.text(), kilohms: kilohms))
        case .segment: return .segment(try reader.segment())
        case .recording: return try reader.recordingChange().map(TapContent.recording)
        case .committed: return .committed(try reader.commit())
        case .refused:
            let (recording, through) = (try reader.recording(), try reader.integer(UInt64.self))
            return .refused(TapRefusal(recording: recording, through: through, reason: try reader.text()))
        }
    }
}

extension ByteReader<TapError> {
    // MARK: Fields

    fileprivate mutating func time() throws(TapError) -> MonotonicTime { MonotonicTime(nanoseconds: try integer()) }

    fileprivate mutating func real() throws(TapError) -> Double { Double(bitPattern: try integer()) }

    fileprivate mutating func isSet() throws(TapError) -> Bool { try integer(UInt8.self) != 0 }

    fileprivate mutating func stream() throws(TapError) -> StreamID { StreamID(rawValue: try integer()) }

    fileprivate mutating func recording() throws(TapError) -> RecordingID { RecordingID(rawValue: try integer()) }

    fileprivate mutating func headset() throws(TapError) -> HeadsetID { HeadsetID(rawValue: try integer()) }

    fileprivate mutating func text() throws(TapError) -> String {
        let length = try integer(UInt16.self)
        return String(decoding: try slice(Int(length)), as: UTF8.self)
    }

    fileprivate mutating func optional<Value>(
        _ read: (inout ByteReader<TapError>) throws(TapError) -> Value
    ) throws(TapError) -> Value? {
        try isSet() ? try read(&self) : nil
    }

    /// So many numbers, which are there: what a length announces is compared with the bytes before there is room made for it.
    fileprivate mutating func values(_ count: Int) throws(TapError) -> [Int32] {
        let (size, overflow) = count.multipliedReportingOverflow(by: 4)
        guard !overflow, size <= remaining else { throw truncated }
        var values: [Int32] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try integer()) }
        return values
    }

    // MARK: Records

    fileprivate mutating func newStream() throws(TapError) -> NewStream {
        let (id, recording, position) = (try stream(), try recording(), try integer(Int32.self))
        let (name, bank, frequency) = (try text(), try integer(Int32.self), try real())
        let samplesPerCount = try integer(Int32.self)
        let modulus = try optional { (reader) throws(TapError) in try reader.integer(Int64.self) }
        let count = try integer(UInt8.self)
        guard (1...StreamDescription.channelsPerBank).contains(Int(count)), frequency > 0, frequency.isFinite else {
            throw truncated
        }
        var channels: [ChannelDescription] = []
        for _ in 0..<count {
            let (name, type, unit) = (try text(), try text(), try text())
            let (scale, offset) = (try real(), try real())
            let (minimum, maximum) = (try integer(Int32.self), try integer(Int32.self))
            channels.append(
                ChannelDescription(
                    name: name, type: type, unit: unit, scale: scale, offset: offset, rawMinimum: minimum, rawMaximum: maximum))
        }
        return NewStream(
            id: id, recording: recording, position: Int(position),
            description: StreamDescription(
                name: name, bank: Int(bank), samplingFrequency: frequency, samplesPerCount: Int(samplesPerCount),
                counterModulus: modulus, channels: channels))
    }

    fileprivate mutating func samples() throws(TapError) -> TapSamples {
        let (stream, firstN, rowCount) = (try stream(), try integer(Int64.self), try integer(UInt32.self))
        let (channelCount, flags) = (try integer(UInt8.self), try integer(UInt8.self))
        guard (1...StreamDescription.channelsPerBank).contains(Int(channelCount)), rowCount > 0,
            !firstN.addingReportingOverflow(Int64(rowCount)).overflow
        else { throw truncated }
        let time = try optional { (reader) throws(TapError) in
            let (first, period) = (try reader.time(), try reader.real())
            guard period > 0, period.isFinite else { throw reader.truncated }
            let uncertainty = try reader.optional { (reader) throws(TapError) in try reader.real() }
            return TapTime(first: first, periodNanoseconds: period, uncertaintyNanoseconds: uncertainty)
        }
        let arrival = try optional { (reader) throws(TapError) in try reader.time() }
        let values = try values(Int(rowCount) * Int(channelCount))
        let missing = flags & 2 == 0 ? [] : try bytes(Int(rowCount))
        let rows = SampleRows(
            stream: stream, channelCount: Int(channelCount), firstN: firstN, values: values, missingChannels: missing)
        return TapSamples(rows: rows, time: time, arrival: arrival, isLate: flags & 1 != 0)
    }

    fileprivate mutating func gap() throws(TapError) -> TapGap? {
        let (change, stream, firstN) = (try integer(UInt8.self), try stream(), try integer(Int64.self))
        let channel = Int(try integer(UInt8.self))
        let time = try optional { (reader) throws(TapError) in try reader.time() }
        switch change {
        case 0:
            let count = try optional { (reader) throws(TapError) in try reader.integer(Int64.self) }
            let (word, noticed) = (try text(), try self.time())
            guard let cause = GapCause(rawValue: word), let certainty = try certainty() else { return nil }
            return TapGap(
                entry: .open(
                    stream: stream, firstN: firstN, channel: channel, count: count, cause: cause, noticed: noticed,
                    certainty: certainty), time: time)
        case 1:
            let count = try integer(Int64.self)
            guard let certainty = try certainty() else { return nil }
            return TapGap(
                entry: .close(stream: stream, firstN: firstN, channel: channel, count: count, certainty: certainty), time: time)
        case 2:
            return TapGap(
                entry: .recover(stream: stream, firstN: firstN, channel: channel, count: try integer()), time: time)
        case 3: return TapGap(entry: .withdraw(stream: stream, firstN: firstN, channel: channel), time: time)
        default: return nil
        }
    }

    private mutating func certainty() throws(TapError) -> GapCertainty? {
        switch try integer(UInt8.self) {
        case 0: .unknown
        case 1: .counted
        case 2: .timed(uncertainty: try integer())
        default: nil
        }
    }

    fileprivate mutating func mark() throws(TapError) -> TapMark {
        let (recording, onset, isStored) = (try recording(), try time(), try isSet())
        let duration = try optional { (reader) throws(TapError) in try reader.real() }
        let sample = try optional { (reader) throws(TapError) in
            AnnotatedSample(stream: try reader.stream(), n: try reader.integer())
        }
        let ticks = try optional { (reader) throws(TapError) in try reader.integer(UInt64.self) }
        let code = try optional { (reader) throws(TapError) in try reader.integer(Int64.self) }
        let (description, source) = (try text(), try text())
        return TapMark(
            annotation: AnnotationRecord(
                recording: recording, onset: onset, durationSeconds: duration, description: description, source: source,
                sample: sample, deviceTicks: ticks, code: code), isStored: isStored)
    }

    fileprivate mutating func check() throws(TapError) -> SignalCheckRecord? {
        let (stream, channel) = (try stream(), try integer(UInt8.self))
        let (firstN, lastN, word) = (try integer(Int64.self), try integer(Int64.self), try text())
        let (count, railed, peakToPeak) = (try integer(Int64.self), try real(), try integer(Int64.self))
        let line50Hz = try optional { (reader) throws(TapError) in try reader.real() }
        let line60Hz = try optional { (reader) throws(TapError) in try reader.real() }
        guard let condition = SignalCondition(rawValue: word) else { return nil }
        return SignalCheckRecord(
            stream: stream, channel: Int(channel), firstN: firstN, lastN: lastN, condition: condition, sampleCount: Int(count),
            railedFraction: railed, peakToPeak: peakToPeak, line50Hz: line50Hz, line60Hz: line60Hz)
    }

    fileprivate mutating func segment() throws(TapError) -> SegmentRecord {
        let (stream, firstN, lastN) = (try stream(), try integer(Int64.self), try integer(Int64.self))
        let (epoch, referenceN, time) = (try integer(Int64.self), try integer(Int64.self), try time())
        let period = try real()
        let residual = try optional { (reader) throws(TapError) in try reader.real() }
        let count = try integer(Int64.self)
        let uncertainty = try optional { (reader) throws(TapError) in try reader.real() }
        return SegmentRecord(
            stream: stream, firstN: firstN, lastN: lastN, epoch: Int(epoch), referenceN: referenceN, referenceTime: time,
            periodNanoseconds: period, residualNanoseconds: residual, observationCount: Int(count),
            uncertaintyNanoseconds: uncertainty)
    }

    fileprivate mutating func recordingChange() throws(TapError) -> RecordingChange? {
        let (kind, recording, time) = (try integer(UInt8.self), try recording(), try time())
        switch kind {
        case 0: return .started(recording, at: time)
        case 1: return .stopped(recording, at: time)
        default: return nil
        }
    }

    fileprivate mutating func commit() throws(TapError) -> TapCommit {
        let (through, count) = (try integer(UInt64.self), try integer(UInt32.self))
        guard Int(count) <= remaining / 24 else { throw truncated }
        var rows: [TapCommit.Rows] = []
        rows.reserveCapacity(Int(count))
        for _ in 0..<count {
            rows.append(TapCommit.Rows(stream: try stream(), firstN: try integer(), count: try integer()))
        }
        return TapCommit(through: through, rows: rows)
    }
}
