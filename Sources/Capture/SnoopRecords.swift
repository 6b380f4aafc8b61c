import Bluetooth

/// Goes through the records of a btsnoop file.
struct SnoopRecords {
    private var cursor: ByteCursor
    private let datalink: CaptureSnoop.Datalink
    /// Sees every record.
    private(set) var sniffer: AttributeSniffer
    /// Where the record stands that has an impossible length; the end of what can be read.
    private(set) var damagedOffset: Int?

    private static let headerLength = 24

    init(_ bytes: CaptureBytes, _ datalink: CaptureSnoop.Datalink, _ characteristics: [UInt16: BluetoothUUID]) {
        cursor = ByteCursor(bytes, skipping: CaptureSnoop.headerLength)
        self.datalink = datalink
        sniffer = AttributeSniffer(characteristics: characteristics)
    }

    /// Hands the sniffer the next record; false at the end.
    mutating func next() -> Bool {
        guard damagedOffset == nil, cursor.remaining > 0 else { return false }
        let offset = cursor.offset
        guard let header = cursor.take(Self.headerLength) else { return end(at: offset) }
        let start = header.startIndex
        let length = Int(header[(start + 4)..<(start + 8)].bigEndianInteger)
        let flags = UInt32(truncatingIfNeeded: header[(start + 8)..<(start + 12)].bigEndianInteger)
        let time = header[(start + 16)..<(start + 24)].bigEndianInteger
        guard length <= cursor.remaining, let data = cursor.take(length) else { return end(at: offset) }
        sniffer.take(Self.packet(data, flags: flags, datalink: datalink), microseconds: Int64(truncatingIfNeeded: time))
        return true
    }

    private mutating func end(at offset: Int) -> Bool {
        damagedOffset = offset
        return false
    }

    /// The part of a record that matters: ACL data and the end of a connection.
    private static func packet(
        _ data: ArraySlice<UInt8>, flags: UInt32, datalink: CaptureSnoop.Datalink
    ) -> HCIPacket? {
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

/// What a peripheral of a btsnoop file sent, in sum.
struct SnoopTally {
    private struct Entry {
        var characteristic: BluetoothUUID
        var notified = Part()
        var read = Part()
    }

    private struct Part {
        var count = 0
        /// Which of the peripheral's notifications the first one is, and when it came.
        var first: (order: Int, microseconds: Int64)?
        var latest = Int64.min

        mutating func note(_ order: Int, _ microseconds: Int64) {
            count += 1
            if first == nil { first = (order, microseconds) }
            latest = max(latest, microseconds)
        }
    }

    private var entries: [Entry] = []
    private var count = 0

    /// True where it sent nothing.
    var isEmpty: Bool { entries.isEmpty }

    mutating func note(_ notification: AttributeSniffer.Notification) {
        let uuid = notification.characteristic
        let known = entries.firstIndex { $0.characteristic == uuid }
        if known == nil { entries.append(Entry(characteristic: uuid)) }
        let index = known ?? entries.count - 1
        if notification.isRead {
            entries[index].read.note(count, notification.microseconds)
        } else {
            entries[index].notified.note(count, notification.microseconds)
        }
        count += 1
    }

    /// What was read counts where it is known in no other way.
    func addReadValues(_ peripheral: inout CapturedPeripheral) {
        var parts: [(uuid: BluetoothUUID, part: Part, order: Int, start: Int64)] = []
        for entry in entries {
            let part = entry.notified.count > 0 ? entry.notified : entry.read
            if entry.notified.count == 0 { peripheral.readOnly.insert(entry.characteristic) }
            if let first = part.first { parts.append((entry.characteristic, part, first.order, first.microseconds)) }
        }
        parts.sort { $0.order < $1.order }
        peripheral.counts = parts.map { CapturedPeripheral.Count(characteristic: $0.uuid, count: $0.part.count) }
        guard let start = parts.first?.start else { return }
        peripheral.startMicroseconds = start
        for (_, part, _, _) in parts {
            peripheral.duration = max(peripheral.duration, SnoopTally.elapsed(since: start, at: part.latest) ?? .zero)
        }
    }

    /// Nil where the times are none of one recording.
    static func elapsed(since start: Int64, at microseconds: Int64) -> Duration? {
        let (elapsed, overflow) = microseconds.subtractingReportingOverflow(start)
        // As nanoseconds it must fit, too: 146 years.
        guard !overflow, elapsed >= 0, elapsed < 1 << 52 else { return nil }
        return .microseconds(elapsed)
    }
}

/// The notifications of one peripheral of a btsnoop file, with times in relation to the first, and never backwards.
struct CaptureSnoopPieces: Sequence, Sendable {
    let snoop: CaptureSnoop
    let peripheral: CapturedPeripheral

    func makeIterator() -> Iterator { Iterator(pieces: self, records: snoop.records) }

    struct Iterator: IteratorProtocol {
        let pieces: CaptureSnoopPieces
        var records: SnoopRecords
        private var waiting = 0
        private var latest = Duration.zero
        /// Of which link the latest one was.
        private var link: Int?

        init(pieces: CaptureSnoopPieces, records: SnoopRecords) {
            self.pieces = pieces
            self.records = records
        }

        mutating func next() -> Capture.Piece? {
            while true {
                while waiting < records.sniffer.notifications.count {
                    let (peer, notification) = records.sniffer.notifications[waiting]
                    waiting += 1
                    let isReadOnly = pieces.peripheral.readOnly.contains(notification.characteristic)
                    guard peer == pieces.peripheral.peerIndex, notification.isRead == isReadOnly else { continue }
                    let start = pieces.peripheral.startMicroseconds
                    latest = Swift.max(latest, SnoopTally.elapsed(since: start, at: notification.microseconds) ?? .zero)
                    let number = records.sniffer.peers[peer].linkCount
                    defer { link = number }
                    return Capture.Piece(
                        time: latest, characteristic: notification.characteristic, value: notification.value,
                        beginsLink: link.map { $0 != number } ?? false)
                }
                guard records.next() else { return nil }
                waiting = 0
            }
        }
    }
}
