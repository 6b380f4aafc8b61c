import Bluetooth
import Headsets
import Reconnection
import Storage

/// From the bytes of a notification to rows, gaps and commands for the headset's memory.
extension HeadsetAcquisition {
    /// Takes a notification, or the value of a read.
    func take(_ value: [UInt8], from characteristic: BluetoothUUID, at arrival: MonotonicTime) {
        guard quarantine == nil else { return }
        decoded.removeAll()
        decoder.decode(value, from: characteristic, into: &decoded)
        var hasLiveSamples = false
        var isAlive = false
        for item in decoded.items {
            switch item {
            case .samples(let block):
                // Samples of a stream that nobody has described cannot be stored: they must not pass for streaming.
                if block.origin == .live, index(of: block.stream) != nil { hasLiveSamples = true }
                if impedance.hasPausedSamples { resumeSamples() }
                if let expectedStreams { follow(expectedStreams, ifShownBy: block, at: arrival) }
                take(block, at: arrival)
            case .status(let status):
                if link != nil { noteStatus(status, outcome: "polled", at: arrival) }
                // Whatever the state is: the decoder says it once.
                if let described = status.streams { (toldStreams, expectedStreams) = (described, nil) }
                handle(.statusReceived(status), at: arrival)
                if let described = status.streams { follow(described, at: arrival) }
            case .overwritten(let position, let from, let end):
                guard let index = index(of: position) else { continue }
                streams[index].overwritten(from: from, end: end)
                memoryReaders[index].overwritten()
            case .drainEnded(let position, _):
                if let index = index(of: position) { memoryReaders[index].ended() }
            case .damaged(let position, let count):
                if let index = index(of: position) { streams[index].damaged(count: count) }
            case .unsent(let position, let counter, let count):
                // Before the first sample after impedances it is a cycle that has ended with them.
                guard link != nil, !isFinishing, !impedance.hasPausedSamples, let index = index(of: position) else { continue }
                streams[index].unsent(counter: counter, count: count, at: arrival)
            case .impedance(let electrode, let kilohms):
                isAlive = take(impedance: kilohms, ofElectrode: electrode, at: arrival) || isAlive
            case .annotation(let description):
                guard link != nil, !isFinishing else { continue }
                records.annotations.append(
                    AnnotationRecord(
                        recording: recording, onset: arrival, durationSeconds: nil, description: description,
                        source: "headset"))
                records.bound()
            case .periodMark(let position, let count):
                guard link != nil, !isFinishing, let index = index(of: position) else { continue }
                streams[index].mark(period: count, at: arrival)
            case .discarded: for index in streams.indices { streams[index].silence.end(at: arrival) }
            case .message, .refused: continue
            }
        }
        if hasLiveSamples {
            if awaitsFirstSample, let link {
                awaitsFirstSample = false
                beginSettling(at: arrival)
                if returns.count < 64 {
                    returns.append(
                        StreamingReturn(
                            recording: recording, layer: link.layer.rawValue, lastSample: lastLiveSample, firstSample: arrival))
                }
            }
            lastLiveSample = arrival
            noteSamples(from: characteristic, at: arrival)
            readMemory(at: arrival)
            noteSilentStreams(at: arrival)
        } else if isAlive {
            noteSamples(from: characteristic, at: arrival)
        }
    }

    private func take(_ block: SampleBlock, at arrival: MonotonicTime) {
        guard link != nil, quarantine == nil, !isFinishing, let index = index(of: block.stream) else { return }
        let isFirst = !streams[index].hasSamples
        if block.origin == .live { latestArrivals[index] = arrival }
        if streams[index].linkStart != nil { align(index, with: block.counter) }
        streams[index].overflowCause = acquirer.overflowCause
        streams[index].take(
            block, decoded.values[block.values], at: arrival, hasRoom: acquirer.hasRoom)
        if block.origin == .live, let ticks = block.deviceTicks, streams[index].mayLendStamp {
            for other in streams.indices where other != index { streams[other].borrow(ticks: ticks, at: arrival) }
        }
        if isFirst, streams[index].hasSamples, records.started == nil {
            records.started = RecordingChange(recording: recording, at: arrival)
        }
        if block.origin == .memory, linkProfile.memory == .bufferedEEGService {
            let end = streams[index].n(ofCounter: block.counter, plus: block.instantCount)
            send(memoryReaders[index].received(streams[index], end: end, at: arrival))
        }
    }

    /// The banks of a wide stream are sampled together: what has one counter has one n in each of them.
    private func align(_ index: Int, with counter: UInt32?) {
        let stream = streams[index]
        for other in streams where other.isBank(besides: stream) {
            if other.isPlaced, let n = other.n(ofCounter: counter, plus: 0) { streams[index].linkStart?.alignedN = n }
            let leastN = max(streams[index].linkStart?.leastN ?? 0, other.nextN)
            streams[index].linkStart?.leastN = leastN
        }
    }

    /// Asks for what is missing and may still be in the headset's memory.
    func readMemory(at now: MonotonicTime) {
        guard linkProfile.memory == .bufferedEEGService, link != nil, !isFinishing else { return }
        for index in streams.indices where streams[index].isPlaced {
            if streams[index].isComplete, memoryReaders[index].isIdle { continue }
            send(memoryReaders[index].next(streams[index], at: now))
        }
    }

    /// Tells the headset that it may forget everything below these n's, one for each stream: they are committed.
    func acknowledge(upTo committed: [(stream: StreamID, n: Int64)]) {
        guard linkProfile.memory == .bufferedEEGService, link != nil else { return }
        for (stream, n) in committed {
            guard let index = streams.firstIndex(where: { $0.id == stream }), n > acknowledgedN[index] else { continue }
            guard streams[index].isPlaced, let counter = streams[index].counter(of: n) else { continue }
            acknowledgedN[index] = n
            send([.acknowledge(stream: streams[index].position, upTo: counter)])
        }
    }

    private func send(_ commands: [BufferedEEGCommand]) {
        if !commands.isEmpty { sendInBackground(commands.map(\.step)) }
    }

    private func index(of position: Int) -> Int? {
        if position < streams.count, streams[position].position == position { return position }
        return streams.firstIndex { $0.position == position }
    }

    /// Keeps what the headset said, and its clock.
    func noteStatus(_ status: HeadsetStatus?, outcome: String, at now: MonotonicTime) {
        records.statusReports.append(StatusReportRecord(headset: headset, at: now, status: status, outcome: outcome))
        guard let status, let ticks = status.deviceTicks, let frequency = status.tickFrequency, frequency > 0 else { return }
        records.clockObservations.append(
            ClockObservationRecord(
                headset: headset, bootIdentifier: status.bootIdentifier, deviceTicks: ticks, tickFrequency: frequency,
                at: now))
    }

    /// Creates the streams that the headset has and the recording does not have yet. A headset that comes back with other
    /// channels or another frequency gets further streams: its samples are not the old ones with new columns.
    ///
    /// - Returns: the places of the new ones.
    @discardableResult
    func adoptStreams(_ descriptions: [StreamDescription], at now: MonotonicTime) -> [Int] {
        var adopted: [Int] = []
        let described = montage?.applied(to: descriptions) ?? descriptions
        do throws(QuarantineReason) {
            try admit(described, at: now)
        } catch {
            quarantine(error, at: now)
            return []
        }
        // One suffix for all, so that the banks of a stream go on to bear one name; for all that come later, as a name may have
        // been that of another place.
        let suffix = streams.isEmpty ? "" : "_\(acquirer.nextStreamID.rawValue)"
        for (position, described) in described.enumerated() {
            var description = described
            let id = acquirer.nextStreamID
            if let index = streams.firstIndex(where: { $0.position == position }) {
                if streams[index].hasShape(of: description) {
                    streams[index].adopt(description)
                    continue
                }
                retireStream(at: index, now)
            }
            description.name += suffix
            acquirer.useStreamID()
            records.newStreams.append(
                NewStream(id: id, recording: recording, position: position, description: description))
            var stream = StreamAssembler(id: id, position: position, description: description)
            stream.learn(from: learntRates)
            streams.append(stream)
            adopted.append(position)
        }
        // A headset that has not said yet what it sends has not changed it.
        while !descriptions.isEmpty, let index = streams.firstIndex(where: { $0.position >= descriptions.count }) {
            retireStream(at: index, now)
        }
        streams.sort { $0.position < $1.position }
        memoryReaders = streams.map { _ in MemoryReader() }
        latestArrivals = streams.map { _ in nil }
        acknowledgedN = streams.map { _ in .min }
        return adopted
    }

    /// The headset does not send it any more.
    private func retireStream(at index: Int, _ now: MonotonicTime) {
        var retired = streams.remove(at: index)
        // Where an earlier process died with it, nobody has opened the gap that lies between the two shapes.
        retired.endRecording(at: now, absenceCause: retired.isPlaced ? nil : absenceCause)
        retiredStreams.append(retired)
    }

    /// A headset that streams tells what it sends: where that is something else than it was taken for, further streams begin.
    func follow(_ descriptions: [StreamDescription], at now: MonotonicTime) {
        let described = montage?.applied(to: descriptions) ?? descriptions
        let isKnown = described.count == streams.count && zip(streams, described).allSatisfy { $0.hasShape(of: $1) }
        guard let link, !isKnown, !isFinishing, case .streaming = machine.state else { return }
        let adopted = adoptStreams(descriptions, at: now)
        for index in streams.indices where adopted.contains(streams[index].position) { beginStream(index, link) }
    }

    /// What an earlier process received last is missing for a reason of its own: the gap opens before a link does.
    func openAbsence(cause: GapCause, at now: MonotonicTime) {
        for index in streams.indices { streams[index].openAbsence(cause: cause, at: now) }
    }

    /// Moves everything that is to be written into a batch. Returns the n's that may be acknowledged after its commit.
    func move(into batch: inout WriteBatch) -> [(stream: StreamID, n: Int64)] {
        let present = streams.map(\.id)
        batch.parts.append(
            HeadsetPart(
                headset: headset, recording: recording, streams: retiredStreams.map(\.id) + present + quarantinedStreams,
                presentStreams: present))
        records.move(into: &batch, headset: headset)
        for index in retiredStreams.indices { retiredStreams[index].move(into: &batch) }
        retiredStreams.removeAll()
        for index in streams.indices { streams[index].move(into: &batch) }
        return streams.map { ($0.id, $0.isPlaced ? $0.settledN : .min) }
    }

    /// The operator's stop is complete: open gaps end.
    ///
    /// - Parameters:
    ///   - end: when the operator stopped it, on this boot's clock as far as that is known.
    ///   - wasAbsent: true where no process acquired at that time, so that nobody has opened a gap.
    func endRecording(at end: MonotonicTime, wasAbsent: Bool) {
        for index in streams.indices {
            streams[index].endRecording(
                at: end, absenceCause: wasAbsent ? absenceCause : nil)
        }
        hasEnded = true
        records.stopped = RecordingChange(recording: recording, at: end)
    }
}
