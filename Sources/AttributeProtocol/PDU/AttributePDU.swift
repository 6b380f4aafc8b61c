package import Bluetooth

/// A packet of the Attribute Protocol (Core Specification, Vol 3, Part F, 3.4), for client and server.
///
/// Each packet that is decoded is encoded to the same bytes again. Whether handles make sense is not the packet's business.
package enum AttributePDU: Hashable, Sendable {
    /// 3.4.1.1: the request with this opcode cannot be performed.
    case errorResponse(request: UInt8, handle: AttributeHandle, error: ATTError)
    /// 3.4.2.1: the largest packet that the client can receive, in bytes.
    case exchangeMTURequest(mtu: UInt16)
    /// 3.4.2.2: the largest packet that the server can receive, in bytes.
    case exchangeMTUResponse(mtu: UInt16)
    /// 3.4.3.1
    case findInformationRequest(HandleRange)
    /// 3.4.3.2: at least one entry; all types of one length.
    case findInformationResponse([AttributeInformation])
    /// 3.4.3.3: attributes of a 16-bit type that have this value.
    case findByTypeValueRequest(HandleRange, type: UInt16, value: [UInt8])
    /// 3.4.3.4: at least one found attribute, each with the end of its group.
    case findByTypeValueResponse([HandleRange])
    /// 3.4.4.1
    case readByTypeRequest(HandleRange, type: AttributeType)
    /// 3.4.4.2: at least one entry; all values of one length, at most 253.
    case readByTypeResponse([AttributeValue])
    /// 3.4.4.3
    case readRequest(AttributeHandle)
    /// 3.4.4.4
    case readResponse([UInt8])
    /// 3.4.4.5: the part of a value that begins at an offset in bytes.
    case readBlobRequest(AttributeHandle, offset: UInt16)
    /// 3.4.4.6
    case readBlobResponse([UInt8])
    /// 3.4.4.7: at least two handles.
    case readMultipleRequest([AttributeHandle])
    /// 3.4.4.8: the values, one after the other.
    case readMultipleResponse([UInt8])
    /// 3.4.4.9
    case readByGroupTypeRequest(HandleRange, type: AttributeType)
    /// 3.4.4.10: at least one entry; all values of one length, at most 251.
    case readByGroupTypeResponse([AttributeGroup])
    /// 3.4.4.11: at least two handles.
    case readMultipleVariableRequest([AttributeHandle])
    /// 3.4.4.12
    case readMultipleVariableResponse([VariableLengthValue])
    /// 3.4.5.1
    case writeRequest(AttributeHandle, [UInt8])
    /// 3.4.5.2
    case writeResponse
    /// 3.4.5.3
    case writeCommand(AttributeHandle, [UInt8])
    /// 3.4.5.4: the signature has 12 bytes.
    case signedWriteCommand(AttributeHandle, [UInt8], signature: [UInt8])
    /// 3.4.6.1
    case prepareWriteRequest(AttributeHandle, offset: UInt16, [UInt8])
    /// 3.4.6.2: repeats what was asked.
    case prepareWriteResponse(AttributeHandle, offset: UInt16, [UInt8])
    /// 3.4.6.3: writes (true) or drops (false) all that was prepared.
    case executeWriteRequest(writes: Bool)
    /// 3.4.6.4
    case executeWriteResponse
    /// 3.4.7.1
    case handleValueNotification(AttributeHandle, [UInt8])
    /// 3.4.7.2
    case handleValueIndication(AttributeHandle, [UInt8])
    /// 3.4.7.3
    case handleValueConfirmation
    /// 3.4.7.4: notifications of several attributes; at least one here, two in the specification.
    case multipleHandleValueNotification([AttributeValue])

    /// The length of the signature of a Signed Write Command, in bytes (3.3.1).
    package static let signatureLength = 12

    /// The first byte.
    package var opcode: AttributeOpcode {
        switch self {
        case .errorResponse: .errorResponse
        case .exchangeMTURequest: .exchangeMTURequest
        case .exchangeMTUResponse: .exchangeMTUResponse
        case .findInformationRequest: .findInformationRequest
        case .findInformationResponse: .findInformationResponse
        case .findByTypeValueRequest: .findByTypeValueRequest
        case .findByTypeValueResponse: .findByTypeValueResponse
        case .readByTypeRequest: .readByTypeRequest
        case .readByTypeResponse: .readByTypeResponse
        case .readRequest: .readRequest
        case .readResponse: .readResponse
        case .readBlobRequest: .readBlobRequest
        case .readBlobResponse: .readBlobResponse
        case .readMultipleRequest: .readMultipleRequest
        case .readMultipleResponse: .readMultipleResponse
        case .readByGroupTypeRequest: .readByGroupTypeRequest
        case .readByGroupTypeResponse: .readByGroupTypeResponse
        case .readMultipleVariableRequest: .readMultipleVariableRequest
        case .readMultipleVariableResponse: .readMultipleVariableResponse
        case .writeRequest: .writeRequest
        case .writeResponse: .writeResponse
        case .writeCommand: .writeCommand
        case .signedWriteCommand: .signedWriteCommand
        case .prepareWriteRequest: .prepareWriteRequest
        case .prepareWriteResponse: .prepareWriteResponse
        case .executeWriteRequest: .executeWriteRequest
        case .executeWriteResponse: .executeWriteResponse
        case .handleValueNotification: .handleValueNotification
        case .handleValueIndication: .handleValueIndication
        case .handleValueConfirmation: .handleValueConfirmation
        case .multipleHandleValueNotification: .multipleHandleValueNotification
        }
    }
}
