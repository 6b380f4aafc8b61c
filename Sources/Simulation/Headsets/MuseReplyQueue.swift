import Headsets

/// What a Muse has to say: JSON, cut into notifications of 19 characters behind their count. What a shorter one leaves of
/// the buffer is left over from the one before.
struct MuseReplyQueue {
    /// The charge that the simulated headset sends.
    static let batteryPercent = 82

    private let name: String
    private let serialNumber: String
    private var text: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: MuseService.packetLength)

    init(name: String, serialNumber: String) {
        self.name = name
        self.serialNumber = serialNumber
    }

    mutating func clear() { text.removeAll() }

    mutating func add(_ json: String) { text += json.utf8 }

    mutating func addVersion(isInBootloader: Bool) {
        add(
            "{\"ap\":\"\(isInBootloader ? "bootloader" : "headset")\",\"sp\":\"RevE\",\"tp\":\"consumer\",\"hw\":\"3.1\","
                + "\"bn\":27,\"fw\":\"1.2.13\",\"bl\":\"1.2.3\",\"pv\":1,\"rc\":0}")
    }

    /// The preset is sent in decimal.
    mutating func addStatus(preset: UInt8) {
        add(
            "{\"hn\":\"\(name)\",\"sn\":\"\(serialNumber)\",\"ma\":\"00-55-da-b0-13-24\","
                + "\"id\":\"07473435 32313630 004f003a\",\"bp\":\(Self.batteryPercent),\"ts\":0,\"ps\":\(preset),\"rc\":0}")
    }

    /// The next notification; nil where nothing is left to say.
    mutating func next() -> [UInt8]? {
        guard !text.isEmpty else { return nil }
        let count = min(text.count, buffer.count - 1)
        buffer[0] = UInt8(count)
        buffer.replaceSubrange(1..<(1 + count), with: text.prefix(count))
        text.removeFirst(count)
        return buffer
    }
}
