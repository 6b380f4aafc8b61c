import Bluetooth

/// What a device answers that offers no attributes: both ends of a link may ask, and whoever asks waits for an answer.
enum EmptyServer {
    /// The answer to a packet that is a request, or ought to be one; nil where none is due (Core Specification, Vol 3, Part F,
    /// 3.3 and 3.4).
    ///
    /// - Parameter receiveLimit: the largest packet that this side can receive.
    static func answer(to packet: [UInt8], receiveLimit: AttributeMTU) -> AttributePDU? {
        guard let first = packet.first else { return nil }
        guard let opcode = AttributeOpcode(rawValue: first) else {
            // An unknown command is ignored, an unknown request refused (3.3).
            return AttributeOpcode.isCommand(first) ? nil : refusal(first, .none, .requestNotSupported)
        }
        guard opcode.kind == .request else { return nil }
        guard let request = try? AttributePDU(decoding: packet) else { return refusal(first, .none, .invalidPDU) }
        switch request {
        case .exchangeMTURequest: return .exchangeMTUResponse(mtu: UInt16(clamping: receiveLimit.rawValue))
        case .findInformationRequest(let range), .findByTypeValueRequest(let range, _, _), .readByTypeRequest(let range, _):
            return refusal(first, range.start, range.isValid ? .attributeNotFound : .invalidHandle)
        case .readByGroupTypeRequest(let range, let type):
            guard range.isValid else { return refusal(first, range.start, .invalidHandle) }
            let isGroup = [AttributeType.primaryService.uuid, AttributeType.secondaryService.uuid].contains(type.uuid)
            return refusal(first, range.start, isGroup ? .attributeNotFound : .unsupportedGroupType)
        case .readRequest(let handle), .readBlobRequest(let handle, _), .writeRequest(let handle, _),
            .prepareWriteRequest(let handle, _, _):
            return refusal(first, handle, .invalidHandle)
        case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
            return refusal(first, handles.first ?? .none, .invalidHandle)
        case .executeWriteRequest:
            // Nothing is prepared, and to write or to drop nothing succeeds (3.4.6.3).
            return .executeWriteResponse
        default: return nil
        }
    }

    private static func refusal(_ request: UInt8, _ handle: AttributeHandle, _ error: ATTError) -> AttributePDU {
        .errorResponse(request: request, handle: handle, error: error)
    }
}
