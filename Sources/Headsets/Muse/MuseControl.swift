/// What a Muse answers on its control characteristic, as statuses. All models answer alike.
struct MuseControl: Sendable {
    private var replies = MuseReplyAssembler()
    /// True once samples came on the link: the status itself does not say whether the headset streams.
    var hasSamples = false
    /// The charge in percent that the last status held.
    private(set) var batteryPercent: Double?

    /// Takes a notification of the control characteristic.
    mutating func decode(_ bytes: [UInt8], into decoded: inout Decoded) {
        var items: [DecodedItem] = []
        let isStreaming = hasSamples
        let dropped = replies.append(bytes) { reply in
            if let information = Self.information(in: reply) { items.append(.deviceInformation(information)) }
            items.append(Self.item(of: reply, isStreaming: isStreaming))
        }
        for case .status(let status) in items { batteryPercent = status.batteryPercent ?? batteryPercent }
        if dropped > 0 { items.append(.discarded(byteCount: dropped)) }
        decoded.items += items
    }

    /// What the answer to the query of the versions says; nil for another answer.
    private static func information(in reply: MuseReply) -> DeviceInformation? {
        guard reply.isWellFormed, reply["fw"] != nil || reply["hw"] != nil else { return nil }
        let information = DeviceInformation(
            firmwareRevision: reply["fw"], hardwareRevision: reply["hw"] ?? reply["sp"])
        return information.isEmpty ? nil : information
    }

    private static func item(of reply: MuseReply, isStreaming: Bool) -> DecodedItem {
        guard reply.isWellFormed else { return .discarded(byteCount: reply.text.count) }
        // In its bootloader a headset sends its versions, but no status.
        if reply["ap"] == "bootloader" { return .status(HeadsetStatus(condition: .bootloader, raw: reply.text)) }
        if reply["sn"] != nil || reply["bp"] != nil {
            return .status(
                HeadsetStatus(
                    condition: isStreaming ? .streaming : .idle, batteryPercent: reply.batteryPercent,
                    serialNumber: reply.serialNumber, raw: reply.text))
        }
        if let code = reply.number("rc"), code != 0 {
            return .refused(command: 0, code: UInt8(max(0, min(255, code))))
        }
        return .answered
    }
}
