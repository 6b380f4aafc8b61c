package import Bluetooth

/// What one peripheral sent in a capture that may hold several.
package struct CapturedPeripheral: Hashable, Sendable {
    /// From 1, in the order in which the capture has them.
    package var number: Int
    /// Its address; nil where the capture began later than its connection.
    package var identifier: PeripheralIdentifier?
    /// The handle of its latest connection.
    package var connection: UInt16
    /// How many notifications there are of each of its characteristics, in the order of the first of each. What was read
    /// counts where it is known in no other way, as a firmware's version; else it would come twice.
    package var counts: [Count] = []
    /// The time from the first notification to the last.
    package var duration: Duration = .zero
    /// How many notifications were left out because nothing showed the UUID of their attribute handle.
    package var unmappedCount = 0
    /// The handles of those notifications, each once, in the order of their first occurrence.
    package var unmappedHandles: [UInt16] = []
    /// Its characteristics as they were discovered, in the order of their handles, whether or not they notified.
    package var discovered: [BluetoothUUID] = []
    /// Its index among the peers of the file.
    var peerIndex: Int
    /// The characteristics of which nothing but what was read is known.
    var readOnly: Set<BluetoothUUID> = []
    /// The time of the first notification, as the file has it.
    var startMicroseconds: Int64 = 0

    /// Notifications of one characteristic.
    package struct Count: Hashable, Sendable {
        package var characteristic: BluetoothUUID
        package var count: Int
    }
}

extension Capture {
    /// Takes the notifications and indications of one peripheral out of a btsnoop file, see ``CaptureSnoop``.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - characteristics: UUIDs by attribute handle, for what the file does not say.
    ///   - number: which peripheral, where several could be meant.
    ///   - wanted: what the peripheral notifies, or, where none does, what was discovered in it; any where it is empty.
    /// - Throws: ``CaptureError``, with the byte offset of the record where the file is damaged; with everything that was found
    ///   where no peripheral, or more than one, sent what is wanted.
    package init(
        btsnoop bytes: [UInt8], characteristics: [UInt16: BluetoothUUID] = [:], connection number: Int? = nil,
        notifying wanted: [BluetoothUUID] = []
    ) throws(CaptureError) {
        let snoop = try CaptureSnoop(CaptureBytes(bytes), characteristics: characteristics)
        if let offset = snoop.damagedOffset { throw .malformedRecord(offset: offset) }
        let chosen = try snoop.choose(connection: number, notifying: wanted)
        self.init(snoop, chosen)
    }

    private init(_ snoop: CaptureSnoop, _ peripheral: CapturedPeripheral) {
        let contents = snoop.contents(of: peripheral)
        var pieces: [Piece] = []
        var iterator = contents.pieces.makeIterator()
        while let piece = iterator.next() { pieces.append(piece) }
        self.init(pieces: pieces)
        startUnixNanoseconds = contents.startUnixNanoseconds
        unmappedCount = peripheral.unmappedCount
        unmappedHandles = peripheral.unmappedHandles
    }

    /// Everything that was notified in a btsnoop file, each peripheral by itself; see ``CaptureSnoop/peripherals``.
    ///
    /// - Throws: ``CaptureError``.
    package static func peripherals(
        btsnoop bytes: [UInt8]
    ) throws(CaptureError) -> [(peripheral: CapturedPeripheral, capture: Capture)] {
        let snoop = try CaptureSnoop(CaptureBytes(bytes), characteristics: [:])
        if let offset = snoop.damagedOffset { throw .malformedRecord(offset: offset) }
        return snoop.peripherals.map { ($0, Capture(snoop, $0)) }
    }
}

extension CapturedPeripheral: CustomStringConvertible {
    /// Which it is, and what it sent, for a person who has to choose.
    package var description: String {
        let name = identifier.map(\.description) ?? "an address that the file does not name"
        var facts = counts.map { "\($0.count) of \($0.characteristic)" }
        if unmappedCount > 0 {
            let handles = unmappedHandles.map { "0x" + String($0, radix: 16) }.joined(separator: " ")
            facts.append("\(unmappedCount) of handles whose characteristic the file does not name (\(handles))")
        }
        return "\(number): \(name), \(duration.components.seconds) s, notifications: \(facts.joined(separator: ", "))"
    }
}
