import Bluetooth
public import Headsets

/// The firmware of a headset with memory: speaks the Buffered EEG service.
public final class BufferedHeadset: PeripheralBehaviour {
    /// Everything that the headset did, boot by boot; the last one is the present.
    public private(set) var bootHistory: [BootRecord] = []
    /// Acknowledgements that ``takeAcknowledgements()`` did not take yet, in the order of their arrival.
    public private(set) var acknowledgements: [Acknowledgement] = []
    /// What the headset does; `idle` after each power-on.
    public private(set) var condition = HeadsetStatus.Condition.idle

    /// A read of a stream's memory.
    private struct Read {
        var next: Int64
        var end: Int64
        var credit: Int
    }

    let specification: BufferedHeadsetSpecification
    unowned let headset: SimulatedHeadset
    private let seed: UInt64
    private let interval: Int64
    private let heartbeat: Int64?
    private var memories: [BufferedMemory] = []
    private var reads: [Read?] = []
    /// The next position to send live, by stream; nil while nothing is sent.
    private var livePositions: [Int64]?
    private var controlMessages: [[UInt8]] = []
    private var nextTick: Int64?
    private var nextHeartbeat: Int64 = 0
    private var wrapCounts: [UInt64] = []
    private var values: [Int32] = []

    init(_ specification: BufferedHeadsetSpecification, headset: SimulatedHeadset) {
        self.specification = specification
        self.headset = headset
        seed = headset.world.seed
        interval = headset.specification.connectionInterval.nanoseconds
        heartbeat = headset.world.options.heartbeat?.nanoseconds
    }

    /// Takes the acknowledgements that arrived since the last call.
    public func takeAcknowledgements() -> [Acknowledgement] {
        var taken: [Acknowledgement] = []
        swap(&taken, &acknowledgements)
        return taken
    }

    /// The value of a sample that the headset took.
    public func value(boot: UInt32, stream: Int, channel: Int, index: UInt32) -> Int32 {
        SimulatedSignal.value(seed: seed, boot: boot, stream: stream, channel: channel, index: index)
    }

    private var boot: BootRecord { bootHistory[bootHistory.count - 1] }
    private var isSampling: Bool { condition == .streaming || condition == .sampling }

    // MARK: Power

    func boot(at time: Int64) {
        let number = UInt64(bootHistory.count) << 32 | UInt64(headset.number)
        var generator = SeededGenerator(seed: seed, purpose: 0xB007 ^ number << 16)
        let factor = 1 + specification.crystalErrorPPM * 1e-6
        bootHistory.append(
            BootRecord(
                bootIdentifier: UInt32(truncatingIfNeeded: generator.next()), began: MonotonicTime(nanoseconds: time),
                streams: specification.streams.map {
                    .init(
                        firstIndex: specification.firstIndex, samplingFrequency: $0.samplingFrequency * factor, runs: [])
                }))
        memories = specification.streams.map { _ in BufferedMemory(capacity: specification.capacity) }
        reads = specification.streams.map { _ in nil }
        wrapCounts = specification.streams.map { _ in 0 }
        livePositions = nil
        controlMessages = []
        nextTick = nil
        condition = .idle
        if specification.samplesFromBoot { startSampling(at: time) }
    }

    func shutDown(at time: Int64) {
        stopSampling(at: time, condition: .idle)
        bootHistory[bootHistory.count - 1].ended = MonotonicTime(nanoseconds: time)
        nextTick = nil
    }

    func sleep(at time: Int64) -> Bool {
        guard condition != .lowPower else { return false }
        stopSampling(at: time, condition: .lowPower)
        // The headset tells by itself when its condition changes.
        controlMessages += statusReport(at: time)
        wake(at: time + interval)
        return true
    }

    private func startSampling(at time: Int64) {
        condition = .sampling
        for stream in specification.streams.indices {
            let position = clockPosition(stream, at: time)
            bootHistory[bootHistory.count - 1].streams[stream].runs.append(.init(start: position, end: nil))
        }
    }

    private func stopSampling(at time: Int64, condition: HeadsetStatus.Condition) {
        if isSampling {
            for stream in specification.streams.indices {
                let end = clockPosition(stream, at: time)
                let last = boot.streams[stream].runs.count - 1
                bootHistory[bootHistory.count - 1].streams[stream].runs[last].end = end
            }
        }
        self.condition = condition
        livePositions = nil
    }

    // MARK: Positions

    private func clockPosition(_ stream: Int, at time: Int64) -> Int64 {
        boot.position(at: MonotonicTime(nanoseconds: time), stream: stream)
    }

    /// The position after the newest sample; overwrites what is too old.
    private func settledEnd(_ stream: Int, at time: Int64) -> Int64 {
        let record = boot.streams[stream]
        let end = isSampling ? clockPosition(stream, at: time) : record.runs.last?.end ?? 0
        if memories[stream].settle(end: end, runs: record.runs) { headset.world.injected[.bufferOverrun] += 1 }
        let wraps = (UInt64(record.firstIndex) + UInt64(max(0, end - 1))) >> 32
        if wraps > wrapCounts[stream] {
            wrapCounts[stream] = wraps
            headset.world.injected[.counterWrap] += 1
        }
        return end
    }

    // MARK: Link

    func linkChanged(at time: Int64) {
        if headset.link == nil || headset.link?.isOrphan == true && headset.notifying.isEmpty {
            controlMessages = []
            for stream in reads.indices { reads[stream] = nil }
        }
        if condition == .streaming, headset.isNotifying(BufferedEEGService.data) {
            if livePositions == nil { livePositions = specification.streams.indices.map { settledEnd($0, at: time) } }
            nextHeartbeat = time + (heartbeat ?? 0)
            wake(at: time + (heartbeat ?? interval))
        } else {
            livePositions = nil
        }
        if headset.isNotifying(BufferedEEGService.data), reads.contains(where: { $0 != nil }) { wake(at: time + interval) }
    }

    /// Asks for a turn at `time`, unless an earlier one is due.
    private func wake(at time: Int64) {
        if let nextTick, nextTick <= time { return }
        nextTick = time
        headset.scheduleTick(at: time)
    }

    // MARK: Commands

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        guard characteristic == BufferedEEGService.control else { return .writeNotPermitted }
        do throws(BufferedEEGError) {
            let command = try BufferedEEGCommand(decoding: value)
            perform(command, at: time)
        } catch {
            let code: BufferedEEGService.ResultCode
            if case .unknownOpcode = error { code = .unknownCommand } else { code = .malformed }
            answer(value.first ?? 0, code)
        }
        wake(at: time + interval)
        return nil
    }

    private func answer(_ opcode: UInt8, _ code: BufferedEEGService.ResultCode) {
        controlMessages.append(BufferedEEGMessage.result(command: opcode, code: code.rawValue).encoded())
    }

    private func perform(_ command: BufferedEEGCommand, at time: Int64) {
        switch command {
        case .status:
            if headset.world.strikes(.statusUnanswered, headset: headset.number) { return }
            controlMessages += statusReport(at: time)
            return
        case .wake:
            if condition == .lowPower { condition = .idle }
            answer(command.opcode, .success)
            return
        default: break
        }
        guard condition != .lowPower else { return answer(command.opcode, .wrongCondition) }
        answer(command.opcode, performAwake(command, at: time))
    }

    private func performAwake(_ command: BufferedEEGCommand, at time: Int64) -> BufferedEEGService.ResultCode {
        switch command {
        case .configure:
            if !isSampling { startSampling(at: time) }
        case .start:
            guard isSampling else { return .wrongCondition }
            condition = .streaming
            linkChanged(at: time)
        case .stop:
            let ends = reads.indices.map { settledEnd($0, at: time) }
            stopSampling(at: time, condition: .idle)
            for stream in ends.indices { endRead(stream, reason: .aborted) }
        case .read(let stream, let from, let credit): return read(stream, from: from, credit: Int(credit), at: time)
        case .credit(let stream, let blocks):
            guard reads.indices.contains(stream) else { return .noSuchStream }
            if let read = reads[stream] { reads[stream]?.credit = min(65_535, read.credit + Int(blocks)) }
        case .acknowledge(let stream, let upTo): return acknowledge(stream, upTo: upTo, at: time)
        case .abort(let stream):
            guard reads.indices.contains(stream) else { return .noSuchStream }
            endRead(stream, reason: .aborted)
        case .status, .wake, .setTime: break
        }
        return .success
    }

    private func read(_ stream: Int, from: UInt32, credit: Int, at time: Int64) -> BufferedEEGService.ResultCode {
        guard reads.indices.contains(stream) else { return .noSuchStream }
        let end = settledEnd(stream, at: time)
        let start = boot.streams[stream].position(of: from, near: end)
        guard start <= end else { return .indexOutOfRange }
        reads[stream] = Read(next: start, end: end, credit: credit)
        return .success
    }

    private func acknowledge(_ stream: Int, upTo: UInt32, at time: Int64) -> BufferedEEGService.ResultCode {
        guard reads.indices.contains(stream) else { return .noSuchStream }
        let end = settledEnd(stream, at: time)
        acknowledgements.append(
            Acknowledgement(
                time: MonotonicTime(nanoseconds: time), bootIdentifier: boot.bootIdentifier, stream: stream, upTo: upTo))
        let position = boot.streams[stream].position(of: upTo, near: end)
        guard position <= end else { return .indexOutOfRange }
        memories[stream].acknowledge(position)
        return .success
    }

    private func statusReport(at time: Int64) -> [[UInt8]] {
        let hours = Double(time - (bootHistory.first?.began.nanoseconds ?? 0)) / 3600e9
        let frequency = 32_768.0 * (1 + specification.crystalErrorPPM * 1e-6)
        let ticks = UInt64(Double(time - boot.began.nanoseconds) * frequency / 1e9)
        let header = BufferedEEGStatusHeader(
            condition: condition, batteryPercent: UInt8(max(1, min(100, specification.batteryPercent - 2 * hours))),
            bootIdentifier: boot.bootIdentifier, deviceTicks: ticks, tickFrequency: 32_768,
            ranges: specification.streams.indices.map { stream in
                let record = boot.streams[stream]
                let end = settledEnd(stream, at: time)
                let oldest = memories[stream].oldest(end: end, runs: record.runs)
                return .init(
                    oldest: record.index(at: oldest), end: record.index(at: end),
                    lost: UInt32(clamping: memories[stream].lostCount))
            })
        return BufferedEEGMessage.statusReport(header, streams: specification.streams).map { $0.encoded() }
    }

    // MARK: Sending

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

    /// Sends the newest sample alone, once per heartbeat; tells when the next one is due.
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
                let count = min(end - position, Int64(BufferedEEGBlock.instantCountMaximum(channelCount: channelCount)))
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
                    guard read.credit > 0 else { return }
                    let channelCount = specification.streams[stream].channels.count
                    let most = Int64(BufferedEEGBlock.instantCountMaximum(channelCount: channelCount))
                    let count = min(end - read.next, most)
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

    private func endRead(_ stream: Int, reason: BufferedEEGService.EndReason) {
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
        for instant in 0..<Int64(count) {
            let index = record.index(at: position + instant)
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
