import Bluetooth
import BluetoothManagement
import Capture
import Headsets
import KernelBluetooth

extension FuzzTarget {
    /// Readers of bytes that are no notification of a headset, or only a part of one.
    static let parsers: [FuzzTarget] = [
        FuzzTarget("advertisement", run: advertisement),
        FuzzTarget("attribute-conversation", run: attributeConversation),
        FuzzTarget("attribute-pdu", run: attributePDU),
        FuzzTarget("buffered-eeg-message", run: bufferedEEGMessage),
        FuzzTarget("capture-btsnoop", run: btsnoop),
        FuzzTarget("capture-text", run: captureText),
        FuzzTarget("handle-map", run: handleMap),
        FuzzTarget("management", run: management),
        FuzzTarget("muse-reply", run: museReply),
        FuzzTarget("service-discovery", run: serviceDiscovery),
        FuzzTarget("tap", run: tap),
    ]

    private static func advertisement(_ bytes: [UInt8]) -> String? {
        let parsed = Advertisement(structures: bytes)
        var size = parsed.serviceUUIDs.count + parsed.serviceData.count + parsed.manufacturerData.count
        size += parsed.serviceData.reduce(0) { $0 + $1.data.count }
        size += parsed.manufacturerData.reduce(0) { $0 + $1.data.count }
        if size > bytes.count { return "more in the advertisement than there are bytes" }
        // A byte that is no UTF-8 becomes three.
        if (parsed.localName ?? "").utf8.count > 3 * bytes.count { return "a name longer than the advertisement" }
        return Set(parsed.serviceUUIDs).count == parsed.serviceUUIDs.count ? nil : "a service twice"
    }

    /// What is understood is understood the same when it is said again.
    private static func bufferedEEGMessage(_ bytes: [UInt8]) -> String? {
        var bytes = bytes
        if let opcode = bytes.first, opcode >= 0x91, bytes.count > 4 {
            let checksum = CRC32C.checksum(of: bytes, count: bytes.count - 4)
            for index in 0..<4 { bytes[bytes.count - 4 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index)) }
        }
        if let message = try? BufferedEEGMessage(decoding: bytes) {
            let again = try? BufferedEEGMessage(decoding: message.encoded())
            // Compared as bytes: a number may be none, which is not equal to itself.
            guard again?.encoded() == message.encoded() else { return "another message: \(message)" }
        }
        if let command = try? BufferedEEGCommand(decoding: bytes) {
            guard command.encoded() == bytes else { return "another command: \(command)" }
        }
        return nil
    }

    /// A first byte below the number of datalinks stands for a header, and pieces become records of it.
    private static func btsnoop(_ input: [UInt8]) -> String? {
        let datalinks: [UInt16] = [1002, 1001, 2001]
        var bytes = input
        if let kind = input.first, Int(kind) < datalinks.count {
            let datalink = datalinks[Int(kind)]
            bytes = Array("btsnoop".utf8) + [0, 0, 0, 0, 1, 0, 0, UInt8(datalink >> 8), UInt8(datalink & 0xFF)]
            var rest = FuzzInput(Array(input.dropFirst()))
            while rest.hasMore {
                let flags = UInt8(rest.byte())
                let packet = rest.piece() ?? []
                let time: [UInt8] = [0, 0xDC, 0xDD, 0xB3, 0x0F, 0x2F, 0x80, UInt8(truncatingIfNeeded: bytes.count >> 4)]
                let length = [0, 0, 0, UInt8(packet.count)]
                bytes += length + length + [0, 0, 0, flags] + [0, 0, 0, 0] + time + packet
            }
        }
        return rule(ofSnoop: bytes)
    }

    private static func rule(ofSnoop bytes: [UInt8]) -> String? {
        guard let peripherals = try? Capture.peripherals(btsnoop: bytes) else { return nil }
        var size = 0
        for (index, (peripheral, capture)) in peripherals.enumerated() {
            if peripheral.number != index + 1 { return "peripherals are not counted from 1" }
            if let broken = rule(of: capture) { return broken }
            size += capture.pieces.reduce(0) { $0 + $1.value.count }
            _ = peripheral.description
        }
        return size > bytes.count ? "\(size) bytes notified in a file of \(bytes.count)" : nil
    }

    private static func captureText(_ bytes: [UInt8]) -> String? {
        guard let capture = try? Capture(text: bytes) else { return nil }
        if capture.pieces.isEmpty { return "a capture without a piece" }
        let size = capture.pieces.reduce(0) { $0 + $1.value.count }
        return size * 2 > bytes.count ? "\(size) bytes in a text of \(bytes.count)" : rule(of: capture)
    }

    private static func rule(of capture: Capture) -> String? {
        var latest = Duration.zero
        for piece in capture.pieces {
            if piece.time < latest { return "time goes backwards" }
            latest = piece.time
        }
        return capture.unmappedCount < capture.unmappedHandles.count ? "more handles than notifications" : nil
    }

    private static func management(_ bytes: [UInt8]) -> String? {
        guard let event = try? ManagementEvent(packet: bytes) else { return nil }
        if case .other(_, _, let parameters) = event, parameters.count > bytes.count { return "more parameters than bytes" }
        return nil
    }

    /// Pieces as they come in notifications; every character is in one object, or dropped.
    private static func museReply(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        var assembler = MuseReplyAssembler()
        var total = 0
        while let piece = input.piece() {
            var broken: String?
            let dropped = assembler.append(piece) { reply in
                total -= reply.text.count
                if reply.text.count > MuseReplyAssembler.lengthMaximum + 1 { broken = "an object that is too long" }
                let length = reply["sn"]?.utf8.count ?? 0
                if reply.isWellFormed, length > 3 * reply.text.count { broken = "a value that is too long" }
                _ = (reply.serialNumber, reply.number("bp"))
            }
            total += Int(piece.first ?? 0) + piece.count
            total -= dropped
            if total < 0 { broken = "more characters than came" }
            if let broken { return broken }
        }
        return nil
    }

    /// Of the Service Discovery Protocol: elements in elements, as deep as somebody likes.
    private static func serviceDiscovery(_ bytes: [UInt8]) -> String? {
        guard let element = try? DataElement(bytes) else { return nil }
        return String(describing: element).utf8.count > 200 * (bytes.count + 1) ? "more elements than bytes" : nil
    }
}
