import Bluetooth

extension AttributePDU {
    /// Decodes one packet, as it stands in one frame of the channel.
    ///
    /// - Throws: ``AttributePDUError`` where the bytes are no packet; nothing else can go wrong, whatever the bytes.
    package init(decoding bytes: [UInt8]) throws(AttributePDUError) {
        guard let first = bytes.first else { throw .empty }
        guard let opcode = AttributeOpcode(rawValue: first) else { throw .unknownOpcode(first) }
        var reader = AttributePacketReader(bytes, opcode)
        // What arrives a thousand times in a second is looked for first.
        self =
            switch opcode {
            case .handleValueNotification: .handleValueNotification(try reader.handle(), reader.rest())
            case .handleValueIndication: .handleValueIndication(try reader.handle(), reader.rest())
            default: try Self.decode(opcode, &reader)
            }
        try reader.finish()
    }

    private static func decode(
        _ opcode: AttributeOpcode, _ reader: inout AttributePacketReader
    ) throws(AttributePDUError) -> AttributePDU {
        switch opcode {
        case .errorResponse:
            .errorResponse(
                request: try reader.byte(), handle: try reader.handle(), error: ATTError(code: try reader.byte()))
        case .exchangeMTURequest: .exchangeMTURequest(mtu: try reader.integer())
        case .exchangeMTUResponse: .exchangeMTUResponse(mtu: try reader.integer())
        case .findInformationRequest: .findInformationRequest(try reader.range())
        case .findInformationResponse: .findInformationResponse(try information(&reader))
        case .findByTypeValueRequest:
            .findByTypeValueRequest(try reader.range(), type: try reader.integer(), value: reader.rest())
        case .findByTypeValueResponse: .findByTypeValueResponse(try ranges(&reader))
        case .readByTypeRequest: .readByTypeRequest(try reader.range(), type: try reader.type())
        case .readByTypeResponse: .readByTypeResponse(try values(&reader))
        case .readRequest: .readRequest(try reader.handle())
        case .readResponse: .readResponse(reader.rest())
        case .readBlobRequest: .readBlobRequest(try reader.handle(), offset: try reader.integer())
        case .readBlobResponse: .readBlobResponse(reader.rest())
        case .readMultipleRequest: .readMultipleRequest(try reader.handles(atLeast: 2))
        case .readMultipleResponse: .readMultipleResponse(reader.rest())
        case .readByGroupTypeRequest: .readByGroupTypeRequest(try reader.range(), type: try reader.type())
        case .readByGroupTypeResponse: .readByGroupTypeResponse(try groups(&reader))
        case .readMultipleVariableRequest: .readMultipleVariableRequest(try reader.handles(atLeast: 2))
        case .readMultipleVariableResponse: .readMultipleVariableResponse(try variableLengthValues(&reader))
        case .writeRequest: .writeRequest(try reader.handle(), reader.rest())
        case .writeResponse: .writeResponse
        case .writeCommand: .writeCommand(try reader.handle(), reader.rest())
        case .signedWriteCommand:
            .signedWriteCommand(
                try reader.handle(), try reader.bytes(reader.remaining - signatureLength), signature: reader.rest())
        case .prepareWriteRequest:
            .prepareWriteRequest(try reader.handle(), offset: try reader.integer(), reader.rest())
        case .prepareWriteResponse:
            .prepareWriteResponse(try reader.handle(), offset: try reader.integer(), reader.rest())
        case .executeWriteRequest: .executeWriteRequest(writes: try executeFlag(&reader))
        case .executeWriteResponse: .executeWriteResponse
        case .handleValueNotification: .handleValueNotification(try reader.handle(), reader.rest())
        case .handleValueIndication: .handleValueIndication(try reader.handle(), reader.rest())
        case .handleValueConfirmation: .handleValueConfirmation
        case .multipleHandleValueNotification: .multipleHandleValueNotification(try notifications(&reader))
        }
    }

    /// Format 0x01: 16-bit types; format 0x02: 128-bit types (3.4.3.2).
    private static func information(_ reader: inout AttributePacketReader) throws(AttributePDUError) -> [AttributeInformation] {
        let format = try reader.byte()
        guard format == 1 || format == 2 else { throw .undefinedField(.findInformationResponse) }
        let width = format == 1 ? 2 : 16
        try reader.expectEntries(of: 2 + width, atLeast: 2 + width)
        var entries: [AttributeInformation] = []
        while reader.remaining > 0 {
            let handle = try reader.handle()
            guard let type = AttributeType(try reader.slice(width)) else { throw .wrongLength(.findInformationResponse) }
            entries.append(AttributeInformation(handle, type))
        }
        return entries
    }

    private static func ranges(_ reader: inout AttributePacketReader) throws(AttributePDUError) -> [HandleRange] {
        try reader.expectEntries(of: 4, atLeast: 4)
        var ranges: [HandleRange] = []
        while reader.remaining > 0 { ranges.append(try reader.range()) }
        return ranges
    }

    private static func values(_ reader: inout AttributePacketReader) throws(AttributePDUError) -> [AttributeValue] {
        let length = Int(try reader.byte())
        try reader.expectEntries(of: length, atLeast: 2)
        var entries: [AttributeValue] = []
        while reader.remaining > 0 { entries.append(AttributeValue(try reader.handle(), try reader.bytes(length - 2))) }
        return entries
    }

    private static func groups(_ reader: inout AttributePacketReader) throws(AttributePDUError) -> [AttributeGroup] {
        let length = Int(try reader.byte())
        try reader.expectEntries(of: length, atLeast: 4)
        var entries: [AttributeGroup] = []
        while reader.remaining > 0 { entries.append(AttributeGroup(try reader.range(), try reader.bytes(length - 4))) }
        return entries
    }

    /// Only the last value may be cut off by the end of the packet (3.4.4.12).
    private static func variableLengthValues(
        _ reader: inout AttributePacketReader
    ) throws(AttributePDUError) -> [VariableLengthValue] {
        var entries: [VariableLengthValue] = []
        repeat {
            let length: UInt16 = try reader.integer()
            let value = try reader.bytes(min(Int(length), reader.remaining))
            entries.append(VariableLengthValue(length: length, value: value))
        } while reader.remaining > 0
        return entries
    }

    private static func notifications(_ reader: inout AttributePacketReader) throws(AttributePDUError) -> [AttributeValue] {
        var entries: [AttributeValue] = []
        repeat {
            let handle = try reader.handle()
            let length = Int(try reader.integer(UInt16.self))
            entries.append(AttributeValue(handle, try reader.bytes(length)))
        } while reader.remaining > 0
        return entries
    }

    private static func executeFlag(_ reader: inout AttributePacketReader) throws(AttributePDUError) -> Bool {
        switch try reader.byte() {
        case 0: false
        case 1: true
        default: throw .undefinedField(.executeWriteRequest)
        }
    }
}
