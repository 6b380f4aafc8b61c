package import Bluetooth

/// A btsnoop file, as written by `eegsync capture`, Android's snoop log or btmon: the notifications of each peripheral, what
/// was read of it, and the bytes of a classic serial port.
///
/// Handles are mapped to UUIDs by the discovery in the file; where it began later than that, by those that are given, or by
/// the discovery of another peripheral. Notifications whose UUID nothing shows are left out and counted.
package struct CaptureSnoop: Sendable {
    private let bytes: CaptureBytes
    private let given: [UInt16: BluetoothUUID]
    private let datalink: Datalink
    /// A peripheral that the file names is one, however often it was connected; one whose connection the file began in the
    /// middle of is another with each connection. Peripherals that notified nothing are left out.
    package let peripherals: [CapturedPeripheral]
    /// The record that has an impossible length, as the last one of a file that was cut off; nil where all are right. What
    /// comes before it counts.
    package let damagedOffset: Int?

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - characteristics: UUIDs by attribute handle, for what the file does not say.
    /// - Throws: ``CaptureError`` where it is no btsnoop file, or one of another kind.
    package init(_ bytes: CaptureBytes, characteristics: [UInt16: BluetoothUUID] = [:]) throws(CaptureError) {
        let header = bytes.prefix(Self.headerLength)
        guard header.count == Self.headerLength, header.prefix(8).elementsEqual(Array("btsnoop".utf8) + [0]) else {
            throw .notBTSnoop
        }
        let version = UInt32(truncatingIfNeeded: header[8..<12].bigEndianInteger)
        guard version == 1 else { throw .unsupportedVersion(version) }
        let code = UInt32(truncatingIfNeeded: header[12..<16].bigEndianInteger)
        guard let datalink = Datalink(rawValue: code) else { throw .unsupportedDatalink(code) }
        self.bytes = bytes
        self.datalink = datalink
        given = characteristics
        var records = SnoopRecords(bytes, datalink, characteristics)
        var tallies: [SnoopTally] = []
        while records.next() {
            for (peer, notification) in records.sniffer.notifications {
                while tallies.count <= peer { tallies.append(SnoopTally()) }
                tallies[peer].note(notification)
            }
        }
        damagedOffset = records.damagedOffset
        var found: [CapturedPeripheral] = []
        for (index, peer) in records.sniffer.peers.enumerated() {
            let tally = index < tallies.count ? tallies[index] : SnoopTally()
            guard !tally.isEmpty || peer.unmappedCount > 0 else { continue }
            var peripheral = CapturedPeripheral(
                number: found.count + 1, identifier: peer.identifier, connection: peer.connection, peerIndex: index)
            tally.addReadValues(&peripheral)
            peripheral.unmappedCount = peer.unmappedCount
            peripheral.unmappedHandles = peer.unmappedHandles
            peripheral.discovered = peer.discovered
            found.append(peripheral)
        }
        peripherals = found
    }

    /// The peripheral that is meant.
    ///
    /// - Parameters:
    ///   - number: which one, where several could be meant.
    ///   - wanted: what it notifies, or, where none does, what was discovered in it; any where it is empty.
    /// - Throws: ``CaptureError`` with everything that was found where no peripheral, or more than one, sent what is wanted.
    package func choose(
        connection number: Int? = nil, notifying wanted: [BluetoothUUID] = []
    ) throws(CaptureError) -> CapturedPeripheral {
        if let number {
            guard let chosen = peripherals.first(where: { $0.number == number }) else {
                throw .noSuchConnection(number, found: peripherals)
            }
            return chosen
        }
        if peripherals.isEmpty { throw .empty }
        var candidates = peripherals.filter { peripheral in
            wanted.isEmpty || peripheral.counts.contains { wanted.contains($0.characteristic) }
        }
        if candidates.isEmpty {
            candidates = peripherals.filter { !$0.counts.isEmpty && $0.discovered.contains(where: wanted.contains) }
        }
        guard let chosen = candidates.first else { throw .nothingWanted(found: peripherals) }
        if candidates.count > 1 { throw .severalConnections(candidates) }
        return chosen
    }

    /// What a peripheral sent.
    package func contents(of peripheral: CapturedPeripheral) -> CaptureContents {
        var contents = CaptureContents(
            pieces: CaptureSnoopPieces(snoop: self, peripheral: peripheral),
            characteristics: peripheral.counts.map(\.characteristic), duration: peripheral.duration)
        let (sinceUnixEpoch, isBefore) = peripheral.startMicroseconds.subtractingReportingOverflow(
            SnoopFormat.unixEpochMicroseconds)
        let (nanoseconds, isTooLarge) = sinceUnixEpoch.multipliedReportingOverflow(by: 1000)
        if !peripheral.counts.isEmpty, !isBefore, !isTooLarge, nanoseconds >= 0 {
            contents.startUnixNanoseconds = nanoseconds
        }
        contents.unmappedCount = peripheral.unmappedCount
        return contents
    }

    var records: SnoopRecords { SnoopRecords(bytes, datalink, given) }

    static let headerLength = 16

    /// Kinds of packets in a btsnoop file: datalink codes.
    enum Datalink: UInt32 {
        /// HCI without a type byte; the type is in the flags.
        case hci = 1001
        /// HCI UART (H4): a type byte before each packet.
        case uart = 1002
        /// Linux Monitor: adapter and type in the flags.
        case monitor = 2001
    }
}
