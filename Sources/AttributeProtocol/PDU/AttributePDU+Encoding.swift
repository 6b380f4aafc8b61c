import Bluetooth

extension AttributePDU {
    /// The bytes of the packet.
    ///
    /// Where all entries of a list must have one length, those that have another one than the first are left out: they belong
    /// into another packet. A list without entries is no packet; its bytes are ones that no receiver accepts.
    package func encoded() -> [UInt8] {
        var bytes = [opcode.rawValue]
        switch self {
        case .errorResponse, .exchangeMTURequest, .exchangeMTUResponse, .executeWriteRequest: encodeNumbers(into: &bytes)
        case .findInformationRequest, .findInformationResponse, .findByTypeValueRequest, .findByTypeValueResponse:
            encodeSearch(into: &bytes)
        case .writeResponse, .executeWriteResponse, .handleValueConfirmation: break
        case .readRequest(let handle): bytes.append(handle)
        case .readBlobRequest(let handle, let offset):
            bytes.append(handle)
            bytes.append(littleEndian: offset)
        case .readResponse(let value), .readBlobResponse(let value), .readMultipleResponse(let value): bytes += value
        case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
            .handleValueNotification(let handle, let value), .handleValueIndication(let handle, let value):
            bytes.append(handle)
            bytes += value
        case .signedWriteCommand(let handle, let value, let signature):
            bytes.append(handle)
            bytes += value + signature
        case .prepareWriteRequest(let handle, let offset, let value), .prepareWriteResponse(let handle, let offset, let value):
            bytes.append(handle)
            bytes.append(littleEndian: offset)
            bytes += value
        case .readByTypeRequest(let range, let type), .readByGroupTypeRequest(let range, let type):
            bytes.append(range)
            bytes += type.bytes
        case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
            for handle in handles { bytes.append(handle) }
        case .readByTypeResponse, .readByGroupTypeResponse, .readMultipleVariableResponse, .multipleHandleValueNotification:
            encodeList(into: &bytes)
        }
        return bytes
    }

    private func encodeNumbers(into bytes: inout [UInt8]) {
        switch self {
        case .errorResponse(let request, let handle, let error):
            bytes.append(request)
            bytes.append(handle)
            bytes.append(error.code)
        case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu): bytes.append(littleEndian: mtu)
        case .executeWriteRequest(let writes): bytes.append(writes ? 1 : 0)
        default: break
        }
    }

    private func encodeSearch(into bytes: inout [UInt8]) {
        switch self {
        case .findInformationRequest(let range): bytes.append(range)
        case .findInformationResponse(let entries):
            let width = entries.first?.type.byteCount ?? 0
            bytes.append(width == 16 ? 2 : 1)
            for entry in entries where entry.type.byteCount == width {
                bytes.append(entry.handle)
                bytes += entry.type.bytes
            }
        case .findByTypeValueRequest(let range, let type, let value):
            bytes.append(range)
            bytes.append(littleEndian: type)
            bytes += value
        case .findByTypeValueResponse(let ranges):
            for range in ranges { bytes.append(range) }
        default: break
        }
    }

    private func encodeList(into bytes: inout [UInt8]) {
        switch self {
        case .readByTypeResponse(let entries):
            let length = entries.first?.value.count ?? 0
            bytes.append(UInt8(clamping: length + 2))
            for entry in entries where entry.value.count == length {
                bytes.append(entry.handle)
                bytes += entry.value
            }
        case .readByGroupTypeResponse(let entries):
            let length = entries.first?.value.count ?? 0
            bytes.append(UInt8(clamping: length + 4))
            for entry in entries where entry.value.count == length {
                bytes.append(entry.range)
                bytes += entry.value
            }
        case .readMultipleVariableResponse(let entries):
            for entry in entries {
                bytes.append(littleEndian: entry.length)
                bytes += entry.value
            }
        case .multipleHandleValueNotification(let entries):
            for entry in entries {
                bytes.append(entry.handle)
                bytes.append(littleEndian: UInt16(clamping: entry.value.count))
                bytes += entry.value
            }
        default: break
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ handle: AttributeHandle) {
        append(littleEndian: handle.rawValue)
    }

    fileprivate mutating func append(_ range: HandleRange) {
        append(range.start)
        append(range.end)
    }
}
