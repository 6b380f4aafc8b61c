import Bluetooth

/// Follows the serial port of one captured connection: the L2CAP channel that RFCOMM has, and the bytes in its frames.
///
/// Any bytes are accepted: what makes no sense is skipped.
struct SerialPortSniffer {
    /// Protocol/service multiplexer of RFCOMM (Assigned Numbers, 2.5).
    private static let multiplexer: UInt16 = 0x0003
    /// Requests that were not answered; more than anybody makes at a time.
    private static let pendingLimit = 16

    /// A request to open a channel to RFCOMM that waits for its answer: who asks, and the channel at that end.
    private var pending: [(isReceived: Bool, source: UInt16)] = []
    /// Channels to which the host, or the peripheral, sends RFCOMM.
    private var received: [UInt16] = []
    private var sent: [UInt16] = []

    /// Takes an L2CAP frame.
    ///
    /// - Returns: the bytes that the peripheral sent through its serial port; nil where the frame is none of it.
    mutating func take(_ payload: ArraySlice<UInt8>, channel: UInt16, isReceived: Bool) -> [UInt8]? {
        // Channel 1 carries the signals of BR/EDR links (Core Specification, Vol 3, Part A, 2.1).
        if channel == 1 {
            takeSignals(Array(payload), isReceived: isReceived)
            return nil
        }
        guard isReceived, received.contains(channel) else { return nil }
        return Self.information(Array(payload))
    }

    /// Signals stand one behind the other: code, identifier, length, data (Vol 3, Part A, 4).
    private mutating func takeSignals(_ bytes: [UInt8], isReceived: Bool) {
        var position = 0
        while bytes.count - position >= 4 {
            let length = Int(bytes.uint16(littleEndianAt: position + 2))
            guard bytes.count - position - 4 >= length else { return }
            let data = Array(bytes[(position + 4)..<(position + 4 + length)])
            switch bytes[position] {
            case 0x02 where length >= 4 && data.uint16(littleEndianAt: 0) == Self.multiplexer:
                if pending.count == Self.pendingLimit { pending.removeFirst() }
                pending.append((isReceived, data.uint16(littleEndianAt: 2)))
            case 0x03 where length >= 6:
                takeAnswer(
                    destination: data.uint16(littleEndianAt: 0), source: data.uint16(littleEndianAt: 2),
                    result: data.uint16(littleEndianAt: 4), isReceived)
            case 0x06 where length >= 4:
                // Disconnection Request: the receiver's channel, then the sender's.
                let (there, here) = (data.uint16(littleEndianAt: 0), data.uint16(littleEndianAt: 2))
                received.removeAll { $0 == (isReceived ? there : here) }
                sent.removeAll { $0 == (isReceived ? here : there) }
            default: break
            }
            position += 4 + length
        }
    }

    /// Connection Response: 0 is success, 1 is not yet.
    private mutating func takeAnswer(destination: UInt16, source: UInt16, result: UInt16, _ isReceived: Bool) {
        guard result != 1,
            let index = pending.firstIndex(where: { $0.source == source && $0.isReceived != isReceived })
        else { return }
        pending.remove(at: index)
        guard result == 0 else { return }
        // Who answers receives at `destination`, who has asked at `source`.
        received.append(isReceived ? source : destination)
        sent.append(isReceived ? destination : source)
    }

    /// The information of a UIH frame of a serial port (3GPP TS 07.10, 5.2); nil for anything else.
    private static func information(_ frame: [UInt8]) -> [UInt8]? {
        guard frame.count >= 4, frame[0] >> 2 != 0, frame[1] & 0xEF == 0xEF else { return nil }
        let isLong = frame[2] & 1 == 0
        let length = Int(frame[2] >> 1) | (isLong ? Int(frame[3]) << 7 : 0)
        // With the final bit, a number of credits comes before the information (RFCOMM 1.1, 6.5).
        let start = 3 + (isLong ? 1 : 0) + (frame[1] & 0x10 != 0 ? 1 : 0)
        guard length > 0, frame.count >= start + length + 1 else { return nil }
        return Array(frame[start..<(start + length)])
    }
}
