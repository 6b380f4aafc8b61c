public import Bluetooth

/// What one peripheral sent in a capture that may hold several.
public struct CapturedPeripheral: Hashable, Sendable {
    /// From 1, in the order in which the capture has them.
    public var number: Int
    /// Its address; nil where the capture began later than its connection.
    public var identifier: PeripheralIdentifier?
    /// The handle of its latest connection.
    public var connection: UInt16
    /// Its notifications.
    public var capture: Capture
    /// Its characteristics as they were discovered, in the order of their handles, whether or not they notified.
    public var discovered: [BluetoothUUID] = []
}

extension Capture {
    /// Takes the notifications and indications of one peripheral out of a btsnoop file, as written by `eegsync capture`,
    /// Android's snoop log or btmon; with them what was read, and the bytes of a classic serial port.
    ///
    /// Handles are mapped to UUIDs by the discovery in the file; where it began later than that, by `characteristics`, or by
    /// the discovery of another peripheral. Notifications whose UUID nothing tells are left out and counted in
    /// ``unmappedCount``.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - characteristics: UUIDs by attribute handle, for what the file does not tell.
    ///   - number: which peripheral, where several could be meant.
    ///   - wanted: what the peripheral notifies, or, where none does, what was discovered in it; any where it is empty.
    /// - Throws: ``CaptureError``, with the byte offset of the record where the file is damaged; with everything that was found
    ///   where no peripheral, or more than one, sent what is wanted.
    public init(
        btsnoop bytes: [UInt8], characteristics: [UInt16: BluetoothUUID] = [:], connection number: Int? = nil,
        notifying wanted: [BluetoothUUID] = []
    ) throws(CaptureError) {
        let found = try Self.peripherals(btsnoop: bytes, characteristics: characteristics)
        if let number {
            guard let chosen = found.first(where: { $0.number == number }) else {
                throw .noSuchConnection(number, found: found)
            }
            self = chosen.capture
            return
        }
        if found.isEmpty { throw .empty }
        var candidates = found.filter { peripheral in
            wanted.isEmpty || peripheral.capture.pieces.contains { wanted.contains($0.characteristic) }
        }
        if candidates.isEmpty {
            candidates = found.filter { peripheral in
                !peripheral.capture.pieces.isEmpty && peripheral.discovered.contains(where: wanted.contains)
            }
        }
        guard let chosen = candidates.first else { throw .nothingWanted(found: found) }
        if candidates.count > 1 { throw .severalConnections(candidates) }
        self = chosen.capture
    }

    /// Everything that was notified in a btsnoop file, each peripheral by itself.
    ///
    /// A peripheral that the file names is one, however often it was connected; one whose connection the file began in the
    /// middle of is another with each connection. Peripherals that notified nothing are left out.
    ///
    /// - Throws: ``CaptureError``.
    public static func peripherals(
        btsnoop bytes: [UInt8], characteristics: [UInt16: BluetoothUUID] = [:]
    ) throws(CaptureError) -> [CapturedPeripheral] {
        guard bytes.count >= 16, bytes.prefix(8).elementsEqual(Array("btsnoop".utf8) + [0]) else { throw .notBTSnoop }
        let version = UInt32(truncatingIfNeeded: bytes.bigEndian(at: 8, width: 4))
        guard version == 1 else { throw .unsupportedVersion(version) }
        let code = UInt32(truncatingIfNeeded: bytes.bigEndian(at: 12, width: 4))
        guard let datalink = Datalink(rawValue: code) else { throw .unsupportedDatalink(code) }
        var sniffer = AttributeSniffer(characteristics: characteristics)
        var offset = 16
        while offset < bytes.count {
            guard bytes.count - offset >= 24 else { throw .malformedRecord(offset: offset) }
            let length = Int(bytes.bigEndian(at: offset + 4, width: 4))
            let flags = UInt32(truncatingIfNeeded: bytes.bigEndian(at: offset + 8, width: 4))
            let time = bytes.bigEndian(at: offset + 16, width: 8)
            guard length <= bytes.count - offset - 24 else { throw .malformedRecord(offset: offset) }
            let data = bytes[(offset + 24)..<(offset + 24 + length)]
            if let packet = Self.packet(data, flags: flags, datalink: datalink) {
                sniffer.take(packet, microseconds: Int64(truncatingIfNeeded: time))
            }
            offset += 24 + length
        }
        let telling = sniffer.peers.filter { !$0.notifications.isEmpty || $0.unmappedCount > 0 }
        return telling.enumerated().map { index, peer in
            CapturedPeripheral(
                number: index + 1, identifier: peer.identifier, connection: peer.connection, capture: Capture(of: peer),
                discovered: peer.discovered)
        }
    }

    /// Puts the times in relation to the first, and never backwards.
    private init(of peer: AttributeSniffer.Peer) {
        pieces = []
        unmappedCount = peer.unmappedCount
        unmappedHandles = peer.unmappedHandles
        // What was read counts where it is told in no other way, as a firmware's version; else it would come twice.
        let notified = Set(peer.notifications.lazy.filter { !$0.isRead }.map(\.characteristic))
        let told = peer.notifications.filter { !$0.isRead || !notified.contains($0.characteristic) }
        guard let first = told.first else { return }
        let (sinceUnixEpoch, isBefore) = first.microseconds.subtractingReportingOverflow(SnoopFormat.unixEpochMicroseconds)
        let (nanoseconds, isTooLarge) = sinceUnixEpoch.multipliedReportingOverflow(by: 1000)
        if !isBefore, !isTooLarge, nanoseconds >= 0 { startUnixNanoseconds = nanoseconds }
        var latest = Duration.zero
        for notification in told {
            let (elapsed, overflow) = notification.microseconds.subtractingReportingOverflow(first.microseconds)
            if !overflow { latest = max(latest, .microseconds(elapsed)) }
            pieces.append(Piece(time: latest, characteristic: notification.characteristic, value: notification.value))
        }
    }

    /// Kinds of packets in a btsnoop file: datalink codes.
    private enum Datalink: UInt32 {
        /// HCI without a type byte; the type is in the flags.
        case hci = 1001
        /// HCI UART (H4): a type byte before each packet.
        case uart = 1002
        /// Linux Monitor: adapter and type in the flags.
        case monitor = 2001
    }

    /// The part of a record that matters: ACL data and the end of a connection.
    private static func packet(_ data: ArraySlice<UInt8>, flags: UInt32, datalink: Datalink) -> HCIPacket? {
        switch datalink {
        case .uart:
            switch data.first {
            case 0x02: HCIPacket(kind: .data, adapter: 0, isReceived: flags & 1 == 1, bytes: data.dropFirst())
            case 0x04: HCIPacket(kind: .event, adapter: 0, isReceived: true, bytes: data.dropFirst())
            default: nil
            }
        case .hci:
            // Bit 0: received; bit 1: command or event.
            flags & 2 == 0
                ? HCIPacket(kind: .data, adapter: 0, isReceived: flags & 1 == 1, bytes: data)
                : flags & 1 == 1 ? HCIPacket(kind: .event, adapter: 0, isReceived: true, bytes: data) : nil
        case .monitor:
            // Opcodes of the Linux monitor channel: 3 event, 4 ACL sent, 5 ACL received.
            switch flags & 0xFFFF {
            case 3: HCIPacket(kind: .event, adapter: UInt16(flags >> 16), isReceived: true, bytes: data)
            case 4: HCIPacket(kind: .data, adapter: UInt16(flags >> 16), isReceived: false, bytes: data)
            case 5: HCIPacket(kind: .data, adapter: UInt16(flags >> 16), isReceived: true, bytes: data)
            default: nil
            }
        }
    }
}

extension CapturedPeripheral: CustomStringConvertible {
    /// Which it is, and what it sent, for a person who has to choose.
    public var description: String {
        let name = identifier.map(\.description) ?? "an address that the file does not tell"
        var counts: [(uuid: BluetoothUUID, count: Int)] = []
        for piece in capture.pieces {
            if let index = counts.firstIndex(where: { $0.uuid == piece.characteristic }) {
                counts[index].count += 1
            } else {
                counts.append((piece.characteristic, 1))
            }
        }
        var facts = counts.map { "\($0.count) of \($0.uuid)" }
        if capture.unmappedCount > 0 {
            let handles = capture.unmappedHandles.map { "0x" + String($0, radix: 16) }.joined(separator: " ")
            facts.append("\(capture.unmappedCount) of handles whose characteristic the file does not tell (\(handles))")
        }
        return "\(number): \(name), \(capture.duration.components.seconds) s, notifications: \(facts.joined(separator: ", "))"
    }
}

extension [UInt8] {
    /// A big-endian number of `width` bytes, all of which exist.
    fileprivate func bigEndian(at offset: Int, width: Int) -> UInt64 {
        self[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
