import Bluetooth
import Headsets

/// A central that a planted defect sits on.
final class SpoiledCentral: Central {
    private let central: any Central
    private let defect: PlantedDefect
    private var connects = 0
    /// The latest block of the Buffered EEG service.
    private var block: BufferedEEGBlock?
    /// The first peripheral that was discovered.
    private var shown: PeripheralIdentifier?

    /// Nil for a defect that sits elsewhere.
    init?(_ central: any Central, defect: PlantedDefect) {
        guard [.connectTwice, .giveUpReconnecting, .neverDrain, .believeMalformed, .bindByChance].contains(defect) else {
            return nil
        }
        self.central = central
        self.defect = defect
    }

    var state: AdapterState { central.state }
    var deadline: MonotonicTime? { central.deadline }

    func process(at now: MonotonicTime) -> [CentralEvent] {
        let events = central.process(at: now)
        switch defect {
        case .believeMalformed: return events.map(forged)
        case .bindByChance: return events.filter(isShown)
        default: return events
        }
    }

    /// A notification that the protocol forbids, read as if it were a block.
    private func forged(_ event: CentralEvent) -> CentralEvent {
        guard case .didUpdateValue(let characteristic, let peripheral, let value, let arrival) = event,
            characteristic == BufferedEEGService.data
        else { return event }
        if let decoded = try? BufferedEEGBlock(decoding: value) { block = decoded }
        guard value.isEmpty, var forged = block, !forged.header.isFromMemory else { return event }
        forged.header.firstIndex &+= UInt32(forged.header.instantCount)
        return .didUpdateValue(characteristic, on: peripheral, value: forged.encoded(), at: arrival)
    }

    /// Of all that are discovered, only the first is passed on.
    private func isShown(_ event: CentralEvent) -> Bool {
        guard case .didDiscover(let identifier, _, _) = event else { return true }
        shown = shown ?? identifier
        return identifier == shown
    }

    func request(_ request: CentralRequest) {
        switch (defect, request) {
        case (.giveUpReconnecting, .connect):
            connects += 1
            if connects == 1 { central.request(request) }
        case (.connectTwice, .connect):
            central.request(request)
            central.request(request)
        // READ has opcode 6 in the Buffered EEG service.
        case (.neverDrain, .writeValue(let value, _, _, _, _)) where value.first == 0x06: break
        default: central.request(request)
        }
    }
}
