import Bluetooth
import Headsets
import Reconnection
import Storage

/// From the bytes of a notification to rows, gaps and records.
extension HeadsetAcquisition {
    /// Takes a notification, or the value of a read.
    func take(_ value: [UInt8], from characteristic: BluetoothUUID, at arrival: MonotonicTime) {
        guard quarantine == nil else { return }
        decoded.removeAll()
        recorded.beginNotification()
        session.decoder.decode(value, from: characteristic, into: &decoded)
        var hasLiveSamples = false
        var isAlive = false
        for item in decoded.items {
            switch item {
            case .samples(let block):
                // Samples of a stream that nobody has described cannot be stored: they must not pass for streaming.
                if block.origin == .live, recorded.index(of: block.stream) != nil { hasLiveSamples = true }
                take(block, at: arrival)
            case .status(let status):
                replied(at: arrival)
                take(status, at: arrival)
            case .overwritten(let position, let from, let end):
                recorded.overwritten(position: position, from: from, end: end)
            case .drainEnded(let position, _): recorded.readEnded(position: position)
            case .damaged(let position, let count): recorded.damaged(position: position, count: count)
            case .unsent(let position, let counter, let count):
                // Before the first sample after impedances it is a cycle that has ended with them.
                guard isRecording, session.streaming?.impedance.hasPausedSamples == false else { continue }
                recorded.unsent(position: position, counter: counter, count: count, at: arrival)
            case .impedance(let electrode, let kilohms):
                isAlive = take(impedance: kilohms, ofElectrode: electrode, at: arrival) || isAlive
            case .event(let event):
                if isRecording { record(event, of: event.sample.flatMap(recorded.sample), at: arrival) }
            case .periodMark(let position, let count, let block):
                if isRecording { recorded.mark(position: position, period: count, blockLength: block, at: arrival) }
            case .discarded(let count):
                recorded.receivedNothing(at: arrival)
                noteUndecodable(count, of: value, at: arrival)
            case .answered: replied(at: arrival)
            case .refused(let command, let code):
                replied(isRefusal: true, at: arrival)
                noteRefusal(of: command, code: code, at: arrival)
            case .message(let text): note(text, at: arrival)
            case .deviceInformation(let information): take(information, at: arrival)
            }
        }
        if hasLiveSamples {
            receivedLiveSamples(from: characteristic, at: arrival)
        } else if isAlive {
            receivedSamples(from: characteristic, at: arrival)
        }
    }

    /// True while what arrives is to be recorded.
    private var isRecording: Bool { session.streaming != nil && !isFinishing }

    private func receivedLiveSamples(from characteristic: BluetoothUUID, at arrival: MonotonicTime) {
        if let streaming = session.streaming, streaming.awaitsFirstSample {
            session.streaming?.awaitsFirstSample = false
            context.request(.trustPeripheral(streaming.link.identifier))
            askInformation(on: streaming.link.identifier)
            if session.profile.impedance != nil {
                timers[.impedanceSettling] = arrival + ImpedanceProgress.settlingTime
            }
            let layer = streaming.link.layer.rawValue
            records.append(
                .streamingReturn(returnTiming.record(headset, recording, layer: layer, firstSample: arrival)))
            if returns.count < 64 {
                returns.append(
                    StreamingReturn(
                        headset: name, recording: recording, layer: layer,
                        lastSample: recorded.latestLiveSample, firstSample: arrival))
            }
        }
        // What comes while the link is still being prepared is not recorded: the last sample is the one before.
        if session.streaming != nil { recorded.receivedLiveSamples(at: arrival) }
        receivedSamples(from: characteristic, at: arrival)
        if let streaming = session.streaming, !isFinishing, !streaming.impedance.hasPausedSamples {
            recorded.endSilentStreams(streaming, of: session.profile, at: arrival)
        }
    }

    private func take(_ block: SampleBlock, at arrival: MonotonicTime) {
        if session.streaming?.impedance.hasPausedSamples ?? false { resumeSamples() }
        // The decoder hands out a block of a stream that it expects, and has found nothing else: the profile was right.
        if let expected = session.streaming?.expectedStreams, !recorded.hasStream(block.stream, of: expected) {
            session.streaming?.expectedStreams = nil
            follow(expected, at: arrival)
        }
        guard isRecording, quarantine == nil else { return }
        let taken = recorded.take(
            block, decoded.values[block.values], at: arrival, hasRoom: context.hasRoom,
            overflowCause: context.overflowCause, readsMemory: readsMemory)
        if taken.isFirst { records.append(.recording(.started(recording, at: arrival))) }
        for trigger in taken.triggers { record(trigger.event, of: trigger.sample, at: arrival) }
        if !taken.commands.isEmpty { send(taken.commands) }
    }

    private func take(_ status: HeadsetStatus, at arrival: MonotonicTime) {
        if session.streaming != nil { record(status, outcome: "polled", at: arrival) }
        // Whatever the state is: the decoder says it once.
        if let described = status.streams {
            session.announcedStreams = described
            session.streaming?.expectedStreams = nil
        }
        handle(.statusReceived(status), at: arrival)
        if let described = status.streams { follow(described, at: arrival) }
    }

    /// Records what the headset said, and its clock.
    func record(_ status: HeadsetStatus?, outcome: String, at now: MonotonicTime) {
        records.append(.statusReport(StatusReportRecord(headset: headset, at: now, status: status, outcome: outcome)))
        guard let status, let ticks = status.deviceTicks, let frequency = status.tickFrequency, frequency > 0 else { return }
        records.append(
            .clockObservation(
                ClockObservationRecord(
                    headset: headset, bootIdentifier: status.bootIdentifier, deviceTicks: ticks, tickFrequency: frequency,
                    at: now)))
    }

    /// Records what the headset marked, and of which sample where it says that.
    private func record(_ event: HeadsetEvent, of sample: AnnotatedSample?, at now: MonotonicTime) {
        records.append(
            .annotation(
                AnnotationRecord(
                    recording: recording, onset: now, durationSeconds: nil, description: event.description, source: "headset",
                    sample: sample, deviceTicks: event.deviceTicks, code: event.code)))
    }

    /// Records that something happened.
    func annotate(_ description: String, source: String, at now: MonotonicTime) {
        records.append(
            .annotation(
                AnnotationRecord(
                    recording: recording, onset: now, durationSeconds: nil, description: description, source: source)))
    }
}
