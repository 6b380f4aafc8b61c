import Bluetooth
import Headsets

/// What the headset sends at its turns: answers, live blocks, and the memory that is read.
extension BufferedHeadset {
    func tick(at time: Int64) -> Int64? {
        nextTick = nil
        guard headset.link != nil else { return nil }
        guard headset.isHeard else { return wakeAfter(time + interval) }
        for message in controlMessages { headset.notify(message, from: BufferedEEGService.control) }
        controlMessages.removeAll(keepingCapacity: true)
        var next: Int64?
        if headset.isNotifying(BufferedEEGService.data) {
            if let heartbeat {
                if livePositions != nil { next = sendHeartbeat(heartbeat, at: time) }
                for stream in reads.indices {
                    if let read = reads[stream] { reads[stream]?.next = read.end }
                    endRead(stream, reason: .complete)
                }
            } else {
                var budget = specification.packetsPerInterval
                sendLive(&budget, at: time)
                sendReads(&budget, at: time)
                if livePositions != nil || reads.contains(where: { ($0?.credit ?? 0) > 0 }) { next = time + interval }
            }
        }
        return next.map { wakeAfter($0) }
    }

    private func wakeAfter(_ time: Int64) -> Int64 {
        nextTick = time
        return time
    }

    /// Sends the newest sample alone, once per heartbeat; returns when the next one is due.
    private func sendHeartbeat(_ heartbeat: Int64, at time: Int64) -> Int64 {
        guard time >= nextHeartbeat else { return nextHeartbeat }
        nextHeartbeat = time + heartbeat
        let end = settledEnd(0, at: time)
        sendBlock(stream: 0, from: end - 1, count: 1, isFromMemory: false, channels: 0..<1)
        return nextHeartbeat
    }

    private func sendLive(_ budget: inout Int, at time: Int64) {
        guard let positions = livePositions else { return }
        for stream in specification.streams.indices {
            let end = settledEnd(stream, at: time)
            // What the radio could not carry for 64 instants is dropped here; it stays in memory.
            var position = max(positions[stream], end - 64)
            let channelCount = specification.streams[stream].channels.count
            let split = specification.splitsChannels && channelCount > 1
            let oldest = boot.time(of: position, stream: stream).nanoseconds
            while position < end, budget > 0 {
                // A block waits until it is worth a packet, but never for long: silence means a lost link.
                guard end - position >= 6 || time - oldest >= 100_000_000 else { break }
                let most = Int64(BufferedEEGBlock.instantCountMaximum(channelCount: channelCount))
                let taped = taped(stream: stream, from: position, end: end, most: most)
                guard taped.isThere else {
                    position = taped.end
                    continue
                }
                let count = taped.end - position
                if split || channelCount > 1 && headset.world.isPossible(.lostChannelPacket, headset: headset.number) {
                    sendHalves(stream: stream, from: position, count: Int(count), split: split)
                } else {
                    sendBlock(stream: stream, from: position, count: Int(count), isFromMemory: false)
                }
                budget -= split ? 2 : 1
                position += count
            }
            livePositions?[stream] = position
        }
    }

    /// Sends a live block as two packets, of which one may be lost; whole where nothing is lost and halves are not usual.
    private func sendHalves(stream: Int, from position: Int64, count: Int, split: Bool) {
        let total = specification.streams[stream].channels.count
        let world = headset.world
        let isLost = world.strikes(.lostChannelPacket, headset: headset.number)
        let losesFirst = isLost && world.chance.below(2) == 0
        if !isLost, !split {
            sendBlock(stream: stream, from: position, count: count, isFromMemory: false)
            return
        }
        if !losesFirst {
            sendBlock(stream: stream, from: position, count: count, isFromMemory: false, channels: 0..<total / 2)
        }
        if !isLost || losesFirst {
            sendBlock(stream: stream, from: position, count: count, isFromMemory: false, channels: total / 2..<total)
        }
    }

    private func sendReads(_ budget: inout Int, at time: Int64) {
        for stream in reads.indices {
            _ = settledEnd(stream, at: time)
            while let read = reads[stream], budget > 0 {
                guard read.next < read.end else {
                    endRead(stream, reason: .complete)
                    budget -= 1
                    continue
                }
                let record = boot.streams[stream]
                switch memories[stream].content(at: read.next, end: read.end, runs: record.runs) {
                case .samples(let end):
                    let channelCount = specification.streams[stream].channels.count
                    let most = Int64(BufferedEEGBlock.instantCountMaximum(channelCount: channelCount))
                    let taped = taped(stream: stream, from: read.next, end: end, most: most)
                    guard taped.isThere else {
                        sendGap(stream, read.next, taped.end, .notSampled)
                        break
                    }
                    guard read.credit > 0 else { return }
                    let count = taped.end - read.next
                    sendBlock(stream: stream, from: read.next, count: Int(count), isFromMemory: true)
                    reads[stream]?.next += count
                    reads[stream]?.credit -= 1
                case .overwritten(let end): sendGap(stream, read.next, end, .overwritten)
                case .notSampled(let end): sendGap(stream, read.next, end, .notSampled)
                }
                budget -= 1
            }
        }
    }

    private func sendGap(_ stream: Int, _ from: Int64, _ end: Int64, _ reason: BufferedEEGService.GapReason) {
        let record = boot.streams[stream]
        let message = BufferedEEGMessage.gap(
            stream: stream, from: record.index(at: from), end: record.index(at: end), reason: reason)
        headset.notify(message.encoded(), from: BufferedEEGService.data)
        reads[stream]?.next = end
    }

    func endRead(_ stream: Int, reason: BufferedEEGService.EndReason) {
        guard let read = reads[stream] else { return }
        reads[stream] = nil
        let next = boot.streams[stream].index(at: read.next)
        headset.notify(
            BufferedEEGMessage.end(stream: stream, next: next, reason: reason).encoded(), from: BufferedEEGService.data)
    }

    private func sendBlock(
        stream: Int, from position: Int64, count: Int, isFromMemory: Bool, channels: Range<Int>? = nil
    ) {
        let record = boot.streams[stream]
        let identifier = boot.bootIdentifier
        let sent = channels ?? 0..<specification.streams[stream].channels.count
        values.removeAll(keepingCapacity: true)
        for instant in position..<position + Int64(count) {
            if let tape = headset.world.tape {
                let onTape = tapePosition(of: instant, bootNumber: bootHistory.count - 1, stream: stream)
                values += sent.map { tape.value(stream: stream, channel: $0, position: onTape) ?? 0 }
                continue
            }
            let index = record.index(at: instant)
            for channel in sent {
                values.append(
                    SimulatedSignal.value(seed: seed, boot: identifier, stream: stream, channel: channel, index: index))
            }
        }
        let header = BufferedEEGBlock.Header(
            isFromMemory: isFromMemory, bootIdentifier: identifier, stream: stream, firstChannel: sent.lowerBound,
            channelCount: sent.count, instantCount: count, firstIndex: record.index(at: position))
        headset.notify(BufferedEEGBlock(header: header, values: values).encoded(), from: BufferedEEGService.data)
    }
}
