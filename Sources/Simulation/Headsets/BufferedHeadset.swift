import Bluetooth
package import Headsets

/// The firmware of a headset with memory: speaks the Buffered EEG service.
package final class BufferedHeadset: PeripheralBehaviour {
    /// Everything that the headset did, boot by boot; the last one is the present.
    package private(set) var bootHistory: [BootRecord] = []
    /// Acknowledgements that ``takeAcknowledgements()`` did not take yet, in the order of their arrival.
    package private(set) var acknowledgements: [Acknowledgement] = []
    /// What the headset does; `idle` after each power-on.
    package private(set) var condition = HeadsetStatus.Condition.idle

    /// A read of a stream's memory.
    struct Read {
        var next: Int64
        var end: Int64
        var credit: Int
    }

    let specification: BufferedHeadsetSpecification
    unowned let headset: SimulatedHeadset
    let seed: UInt64
    let interval: Int64
    let heartbeat: Int64?
    var memories: [BufferedMemory] = []
    var reads: [Read?] = []
    /// The next position to send live, by stream; nil while nothing is sent.
    var livePositions: [Int64]?
    var controlMessages: [[UInt8]] = []
    var nextTick: Int64?
    var nextHeartbeat: Int64 = 0
    private var wrapCounts: [UInt64] = []
    var values: [Int32] = []

    init(_ specification: BufferedHeadsetSpecification, headset: SimulatedHeadset) {
        self.specification = specification
        self.headset = headset
        seed = headset.world.seed
        interval = headset.specification.connectionInterval.nanoseconds
        heartbeat = headset.world.options.heartbeat?.nanoseconds
    }

    /// Takes the acknowledgements that arrived since the last call.
    package func takeAcknowledgements() -> [Acknowledgement] {
        var taken: [Acknowledgement] = []
        swap(&taken, &acknowledgements)
        return taken
    }

    /// The value of a sample that the headset took.
    package func value(boot: UInt32, stream: Int, channel: Int, index: UInt32) -> Int32 {
        SimulatedSignal.value(seed: seed, boot: boot, stream: stream, channel: channel, index: index)
    }

    /// The value of a sample, by the number of its boot; nil where a tape does not hold all of its row.
    func value(bootNumber: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        let boot = bootHistory[bootNumber]
        guard let tape = headset.world.tape else {
            let index = boot.streams[stream].index(at: position)
            return value(boot: boot.bootIdentifier, stream: stream, channel: channel, index: index)
        }
        guard isOnTape(tape, bootNumber: bootNumber, stream: stream, position) else { return nil }
        let onTape = tapePosition(of: position, bootNumber: bootNumber, stream: stream)
        return tape.value(stream: stream, channel: channel, position: onTape)
    }

    /// True where the sample with an index of the present boot was taken and has not been overwritten, acknowledged or not.
    package func holds(stream: Int, index: UInt32) -> Bool {
        let end = settledEnd(stream, at: headset.world.now.nanoseconds)
        let position = boot.streams[stream].position(of: index, near: end)
        guard position >= memories[stream].floor, position < end else { return false }
        return boot.streams[stream].runs.contains { $0.start <= position && position < $0.end ?? .max }
    }

    var boot: BootRecord { bootHistory[bootHistory.count - 1] }
    var isStreaming: Bool { condition == .streaming }
    private var isSampling: Bool { condition == .streaming || condition == .sampling }

    // MARK: Power

    func boot(at time: Int64) {
        let number = UInt64(bootHistory.count) << 32 | UInt64(headset.number)
        var generator = SeededGenerator(seed: seed, purpose: 0xB007 ^ number << 16)
        let firstIndex =
            bootHistory.isEmpty ? specification.firstIndex : specification.firstIndexAfterReboot ?? specification.firstIndex
        bootHistory.append(
            BootRecord(
                bootIdentifier: UInt32(truncatingIfNeeded: generator.next()), began: MonotonicTime(nanoseconds: time),
                streams: specification.streams.map {
                    .init(firstIndex: firstIndex, samplingFrequency: $0.samplingFrequency, runs: [])
                }, crystal: headset.specification.crystal))
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
        // The headset sends its status by itself when its condition changes.
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
    func settledEnd(_ stream: Int, at time: Int64) -> Int64 {
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
        let elapsed = headset.headsetTime(at: time) - headset.headsetTime(at: boot.began.nanoseconds)
        let ticks = UInt64(Crystal.periods(in: elapsed, frequency: 32_768))
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
}
