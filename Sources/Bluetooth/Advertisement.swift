/// What a peripheral says about itself in its advertisement and scan response.
public struct Advertisement: Hashable, Sendable {
    /// Complete or shortened local name.
    public var localName: String?
    /// Service UUIDs, in the order of the packet; solicited services are not among them.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Service data by UUID, in the order of the packet.
    public var serviceData: [ServiceData] = []
    /// Manufacturer specific data, in the order of the packet.
    public var manufacturerData: [ManufacturerData] = []
    /// Transmit power in dBm, -127 ... 127.
    public var transmitPower: Int8?
    /// Appearance value (Assigned Numbers, 2.6).
    public var appearance: UInt16?
    /// Flags (Core Specification Supplement, Part A, 1.3).
    public var flags: UInt8?
    /// True where an AD structure claimed more bytes than there were; what stood before it was kept.
    public var isTruncated = false

    /// One Service Data structure.
    public struct ServiceData: Hashable, Sendable {
        /// The service that the data belongs to.
        public var uuid: BluetoothUUID
        /// The data without the UUID.
        public var data: [UInt8]
    }

    /// One Manufacturer Specific Data structure.
    public struct ManufacturerData: Hashable, Sendable {
        /// Company identifier (Assigned Numbers, 7).
        public var company: UInt16
        /// The data without the company identifier.
        public var data: [UInt8]

        /// Creates manufacturer specific data.
        public init(company: UInt16, data: [UInt8]) {
            self.company = company
            self.data = data
        }
    }

    /// Creates an empty advertisement.
    public init(localName: String? = nil, serviceUUIDs: [BluetoothUUID] = [], manufacturerData: [ManufacturerData] = []) {
        self.localName = localName
        self.serviceUUIDs = serviceUUIDs
        self.manufacturerData = manufacturerData
    }

    /// Parses a sequence of AD structures (Core Specification, Vol 3, Part C, 11): length, type, data.
    ///
    /// Any byte sequence is accepted: unknown types are skipped, a length of 0 ends the significant part, a length beyond
    /// the end sets ``isTruncated``.
    public init(structures bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        while let length = rest.first, length > 0 {
            rest = rest.dropFirst()
            guard rest.count >= Int(length) else {
                isTruncated = true
                return
            }
            apply(type: rest[rest.startIndex], data: rest.dropFirst().prefix(Int(length) - 1))
            rest = rest.dropFirst(Int(length))
        }
    }

    /// AD types (Assigned Numbers, 2.3).
    private mutating func apply(type: UInt8, data: ArraySlice<UInt8>) {
        switch type {
        case 0x01: flags = data.first
        case 0x02, 0x03: appendServices(data, width: 2)
        case 0x04, 0x05: appendServices(data, width: 4)
        case 0x06, 0x07: appendServices(data, width: 16)
        case 0x08:
            if localName == nil { localName = String(decoding: data, as: UTF8.self) }
        case 0x09: localName = String(decoding: data, as: UTF8.self)
        case 0x0A: transmitPower = data.first.map { Int8(bitPattern: $0) }
        case 0x16: appendServiceData(data, width: 2)
        case 0x19:
            if data.count == 2 { appearance = UInt16(data.littleEndianInteger) }
        case 0x20: appendServiceData(data, width: 4)
        case 0x21: appendServiceData(data, width: 16)
        case 0xFF:
            guard data.count >= 2 else { return }
            let company = UInt16(data.prefix(2).littleEndianInteger)
            manufacturerData.append(ManufacturerData(company: company, data: Array(data.dropFirst(2))))
        default: break
        }
    }

    private mutating func appendServices(_ data: ArraySlice<UInt8>, width: Int) {
        var rest = data
        while rest.count >= width {
            if let uuid = BluetoothUUID(littleEndianBytes: rest.prefix(width)), !serviceUUIDs.contains(uuid) {
                serviceUUIDs.append(uuid)
            }
            rest = rest.dropFirst(width)
        }
    }

    private mutating func appendServiceData(_ data: ArraySlice<UInt8>, width: Int) {
        guard let uuid = BluetoothUUID(littleEndianBytes: data.prefix(width)) else { return }
        serviceData.append(ServiceData(uuid: uuid, data: Array(data.dropFirst(width))))
    }
}
