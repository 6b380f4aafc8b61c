/// The first byte of a packet of the Attribute Protocol (Core Specification, Vol 3, Part F, 3.3.1 and table 3.43).
package enum AttributeOpcode: UInt8, Hashable, Sendable, CaseIterable {
    case errorResponse = 0x01
    case exchangeMTURequest = 0x02
    case exchangeMTUResponse = 0x03
    case findInformationRequest = 0x04
    case findInformationResponse = 0x05
    case findByTypeValueRequest = 0x06
    case findByTypeValueResponse = 0x07
    case readByTypeRequest = 0x08
    case readByTypeResponse = 0x09
    case readRequest = 0x0A
    case readResponse = 0x0B
    case readBlobRequest = 0x0C
    case readBlobResponse = 0x0D
    case readMultipleRequest = 0x0E
    case readMultipleResponse = 0x0F
    case readByGroupTypeRequest = 0x10
    case readByGroupTypeResponse = 0x11
    case writeRequest = 0x12
    case writeResponse = 0x13
    case prepareWriteRequest = 0x16
    case prepareWriteResponse = 0x17
    case executeWriteRequest = 0x18
    case executeWriteResponse = 0x19
    case handleValueNotification = 0x1B
    case handleValueIndication = 0x1D
    case handleValueConfirmation = 0x1E
    case readMultipleVariableRequest = 0x20
    case readMultipleVariableResponse = 0x21
    case multipleHandleValueNotification = 0x23
    case writeCommand = 0x52
    case signedWriteCommand = 0xD2

    /// Who sends a packet, and what it asks of the receiver (3.3).
    package enum Kind: Hashable, Sendable {
        /// Client to server; answered by a response or an Error Response.
        case request
        /// Server to client.
        case response
        /// Client to server; not answered.
        case command
        /// Server to client; not answered.
        case notification
        /// Server to client; answered by a confirmation.
        case indication
        /// Client to server.
        case confirmation
    }

    /// What kind of packet it begins.
    package var kind: Kind {
        switch self {
        case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest,
            .readBlobRequest, .readMultipleRequest, .readByGroupTypeRequest, .writeRequest, .prepareWriteRequest,
            .executeWriteRequest, .readMultipleVariableRequest:
            .request
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse, .readByTypeResponse,
            .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse, .writeResponse,
            .prepareWriteResponse, .executeWriteResponse, .readMultipleVariableResponse:
            .response
        case .writeCommand, .signedWriteCommand: .command
        case .handleValueNotification, .multipleHandleValueNotification: .notification
        case .handleValueIndication: .indication
        case .handleValueConfirmation: .confirmation
        }
    }

    /// The opcode of the response to a request: the next number. Nil for what is no request.
    package var response: AttributeOpcode? {
        kind == .request ? AttributeOpcode(rawValue: rawValue + 1) : nil
    }

    /// True where the command flag (bit 6) is set: a server ignores such a packet if it does not know it (3.3.1).
    package static func isCommand(_ opcode: UInt8) -> Bool { opcode & 0x40 != 0 }
}
