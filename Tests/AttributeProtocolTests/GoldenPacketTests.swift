import AttributeProtocol
import Bluetooth
import Testing

/// Packets written out from the tables of the Core Specification, Vol 3, Part F, 3.4, field by field.
@Suite("Packets") struct GoldenPacketTests {
    /// The Muse control characteristic: a 128-bit UUID.
    private static let muse = BluetoothUUID(high: 0x273E_0001_4C4D_454D, low: 0x96BE_F03B_AC82_1358)
    private static let museBytes: [UInt8] = [
        0x58, 0x13, 0x82, 0xAC, 0x3B, 0xF0, 0xBE, 0x96, 0x4D, 0x45, 0x4D, 0x4C, 0x01, 0x00, 0x3E, 0x27,
    ]

    static let packets: [(bytes: [UInt8], pdu: AttributePDU)] = [
        ([0x01, 0x0A, 0x12, 0x34, 0x02], .errorResponse(request: 0x0A, handle: h(0x3412), error: .readNotPermitted)),
        ([0x01, 0x99, 0x00, 0x00, 0x06], .errorResponse(request: 0x99, handle: .none, error: .requestNotSupported)),
        ([0x01, 0x12, 0x05, 0x00, 0x81], .errorResponse(request: 0x12, handle: h(5), error: ATTError(code: 0x81))),
        ([0x02, 0x05, 0x02], .exchangeMTURequest(mtu: 517)),
        ([0x03, 0x17, 0x00], .exchangeMTUResponse(mtu: 23)),
        ([0x04, 0x01, 0x00, 0xFF, 0xFF], .findInformationRequest(.all)),
        (
            [0x05, 0x01, 0x03, 0x00, 0x02, 0x29, 0x04, 0x00, 0x01, 0x29],
            .findInformationResponse([
                AttributeInformation(h(3), .short(0x2902)), AttributeInformation(h(4), .short(0x2901)),
            ])
        ),
        ([0x05, 0x02, 0x10, 0x00] + museBytes, .findInformationResponse([AttributeInformation(h(16), .long(muse))])),
        (
            [0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x8D, 0xFE],
            .findByTypeValueRequest(.all, type: 0x2800, value: [0x8D, 0xFE])
        ),
        (
            [0x07, 0x10, 0x00, 0x1F, 0x00, 0x30, 0x00, 0xFF, 0xFF],
            .findByTypeValueResponse([HandleRange(h(0x10), h(0x1F)), HandleRange(h(0x30), .last)])
        ),
        ([0x08, 0x01, 0x00, 0xFF, 0xFF, 0x03, 0x28], .readByTypeRequest(.all, type: .characteristic)),
        ([0x08, 0x01, 0x00, 0xFF, 0xFF] + museBytes, .readByTypeRequest(.all, type: .long(muse))),
        (
            [0x09, 0x07, 0x02, 0x00, 0x20, 0x03, 0x00, 0x05, 0x2A, 0x05, 0x00, 0x02, 0x06, 0x00, 0x00, 0x2A],
            .readByTypeResponse([
                AttributeValue(h(2), [0x20, 0x03, 0x00, 0x05, 0x2A]), AttributeValue(h(5), [0x02, 0x06, 0x00, 0x00, 0x2A]),
            ])
        ),
        ([0x0A, 0x0E, 0x00], .readRequest(h(14))),
        ([0x0B], .readResponse([])),
        ([0x0B, 0x64], .readResponse([0x64])),
        ([0x0C, 0x0E, 0x00, 0x16, 0x00], .readBlobRequest(h(14), offset: 22)),
        ([0x0D, 0xAA, 0xBB], .readBlobResponse([0xAA, 0xBB])),
        ([0x0E, 0x03, 0x00, 0x05, 0x00], .readMultipleRequest([h(3), h(5)])),
        ([0x0F, 0x01, 0x02], .readMultipleResponse([1, 2])),
        ([0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28], .readByGroupTypeRequest(.all, type: .primaryService)),
        (
            [0x11, 0x06, 0x01, 0x00, 0x04, 0x00, 0x01, 0x18, 0x05, 0x00, 0xFF, 0xFF, 0x8D, 0xFE],
            .readByGroupTypeResponse([
                AttributeGroup(HandleRange(h(1), h(4)), [0x01, 0x18]),
                AttributeGroup(HandleRange(h(5), .last), [0x8D, 0xFE]),
            ])
        ),
        ([0x12, 0x0F, 0x00, 0x01, 0x00], .writeRequest(h(15), [1, 0])),
        ([0x13], .writeResponse),
        ([0x16, 0x0E, 0x00, 0x12, 0x00, 0x07], .prepareWriteRequest(h(14), offset: 18, [7])),
        ([0x17, 0x0E, 0x00, 0x12, 0x00, 0x07], .prepareWriteResponse(h(14), offset: 18, [7])),
        ([0x18, 0x00], .executeWriteRequest(writes: false)),
        ([0x18, 0x01], .executeWriteRequest(writes: true)),
        ([0x19], .executeWriteResponse),
        ([0x1B, 0x0E, 0x00, 0x01, 0x02, 0x03], .handleValueNotification(h(14), [1, 2, 3])),
        ([0x1B, 0x0E, 0x00], .handleValueNotification(h(14), [])),
        ([0x1D, 0x03, 0x00, 0x01, 0x00, 0xFF, 0xFF], .handleValueIndication(h(3), [1, 0, 0xFF, 0xFF])),
        ([0x1E], .handleValueConfirmation),
        ([0x20, 0x03, 0x00, 0x05, 0x00], .readMultipleVariableRequest([h(3), h(5)])),
        (
            [0x21, 0x01, 0x00, 0xAA, 0x05, 0x00, 0xBB, 0xCC],
            .readMultipleVariableResponse([
                VariableLengthValue(length: 1, value: [0xAA]), VariableLengthValue(length: 5, value: [0xBB, 0xCC]),
            ])
        ),
        (
            [0x23, 0x03, 0x00, 0x01, 0x00, 0xAA, 0x05, 0x00, 0x00, 0x00],
            .multipleHandleValueNotification([AttributeValue(h(3), [0xAA]), AttributeValue(h(5), [])])
        ),
        ([0x52, 0x0E, 0x00, 0x02, 0x64, 0x0A], .writeCommand(h(14), [0x02, 0x64, 0x0A])),
        (
            [0xD2, 0x0E, 0x00, 0x07] + (1...12),
            .signedWriteCommand(h(14), [7], signature: Array(1...12))
        ),
    ]

    @Test("are encoded as the specification's tables say")
    func encoding() {
        for (bytes, pdu) in Self.packets { #expect(pdu.encoded() == bytes) }
    }

    @Test("are decoded as the specification's tables say")
    func decoding() throws {
        for (bytes, pdu) in Self.packets { #expect(try AttributePDU(decoding: bytes) == pdu) }
    }

    @Test("of every opcode are among these examples")
    func completeness() {
        for opcode in AttributeOpcode.allCases {
            #expect(Self.packets.contains { $0.pdu.opcode == opcode }, "\(opcode)")
        }
    }

    @Test(
        "that the specification forbids are refused",
        arguments: [
            (AttributePDUError.empty, []),
            (.unknownOpcode(0x14), [0x14, 0, 0]),
            (.unknownOpcode(0xFF), [0xFF]),
            (.wrongLength(.errorResponse), [0x01, 0x0A, 0, 0]),
            (.wrongLength(.errorResponse), [0x01, 0x0A, 0, 0, 1, 1]),
            (.wrongLength(.exchangeMTURequest), [0x02, 0x17]),
            (.undefinedField(.findInformationResponse), [0x05, 0x03, 1, 0, 2, 0x29]),
            (.wrongLength(.findInformationResponse), [0x05, 0x01]),
            (.wrongLength(.findInformationResponse), [0x05, 0x02, 1, 0, 2, 0x29]),
            (.wrongLength(.findByTypeValueResponse), [0x07]),
            (.wrongLength(.readByTypeRequest), [0x08, 1, 0, 0xFF, 0xFF, 0x03]),
            (.wrongLength(.readByTypeRequest), [0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28, 0, 0]),
            (.wrongLength(.readByTypeResponse), [0x09, 0x00]),
            (.wrongLength(.readByTypeResponse), [0x09, 0x07, 1, 0, 2]),
            (.wrongLength(.readByTypeResponse), [0x09, 0x01, 1, 0]),
            (.wrongLength(.readMultipleRequest), [0x0E, 1, 0]),
            (.wrongLength(.readByGroupTypeResponse), [0x11, 0x03, 1, 0, 2]),
            (.undefinedField(.executeWriteRequest), [0x18, 0x02]),
            (.wrongLength(.handleValueNotification), [0x1B, 0x0E]),
            (.wrongLength(.handleValueConfirmation), [0x1E, 0x00]),
            (.wrongLength(.multipleHandleValueNotification), [0x23, 3, 0, 2, 0, 1]),
            (.wrongLength(.signedWriteCommand), [0xD2, 0x0E, 0x00] + (1...11)),
        ] as [(AttributePDUError, [UInt8])])
    func refusals(error: AttributePDUError, bytes: [UInt8]) {
        #expect(throws: error) { try AttributePDU(decoding: bytes) }
    }

    @Test("with entries of several lengths hold those of the first length only")
    func mixedEntries() throws {
        let mixed = AttributePDU.readByTypeResponse([
            AttributeValue(h(1), [1]), AttributeValue(h(2), [1, 2]), AttributeValue(h(3), [3]),
        ])
        #expect(mixed.encoded() == [0x09, 3, 1, 0, 1, 3, 0, 3])
    }

    @Test("have a response for each request and for nothing else")
    func responses() {
        for opcode in AttributeOpcode.allCases {
            #expect((opcode.response != nil) == (opcode.kind == .request))
            if let response = opcode.response { #expect(response.kind == .response) }
        }
    }

    @Test("are at least 23 bytes long, and as long as the shorter-sighted side allows")
    func mtu() {
        #expect(AttributeMTU(5).rawValue == 23)
        #expect(AttributeMTU(517).agreed(with: AttributeMTU(247)).rawValue == 247)
        #expect(AttributeMTU.default.readLimit == 22)
        #expect(AttributeMTU.default.writeLimit == 20)
        #expect(AttributeMTU.default.prepareLimit == 18)
        #expect(AttributeMTU.default.readByTypeLimit == 19)
        #expect(AttributeMTU(517).readByTypeLimit == 253)
        #expect(AttributeMTU(517).readByGroupTypeLimit == 251)
    }

    @Test(
        "name every error, those of services and profiles too",
        arguments: [
            (UInt8(0x01), "invalid handle (0x01)"), (0x13, "value not allowed (0x13)"), (0x14, "reserved ATT error (0x14)"),
            (0x80, "application error (0x80)"), (0x9F, "application error (0x9f)"), (0xA0, "reserved ATT error (0xa0)"),
            (0xE0, "common profile error (0xe0)"), (0xFC, "write request rejected (0xfc)"),
            (0xFD, "client characteristic configuration descriptor improperly configured (0xfd)"),
            (0xFE, "procedure already in progress (0xfe)"), (0xFF, "out of range (0xff)"),
        ])
    func errorNames(code: UInt8, name: String) {
        #expect(ATTError(code: code).description == name)
    }
}

/// A handle in few letters, for tables.
func h(_ value: UInt16) -> AttributeHandle { AttributeHandle(rawValue: value) }
