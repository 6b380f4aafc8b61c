package import Bluetooth

/// What a headset says of what it is: strings as sent, nil where it did not say (Device Information Service 1.1, 3.2 ... 3.7).
package struct DeviceInformation: Hashable, Sendable {
    package var modelNumber: String?
    package var firmwareRevision: String?
    package var hardwareRevision: String?
    package var softwareRevision: String?

    /// The longest string that is kept, in characters. A longer one is cut: an attribute may have 512 bytes.
    static let lengthMaximum = 64

    /// Creates information of which nothing else is known.
    package init(
        modelNumber: String? = nil, firmwareRevision: String? = nil, hardwareRevision: String? = nil,
        softwareRevision: String? = nil
    ) {
        self.modelNumber = modelNumber.flatMap(Self.kept)
        self.firmwareRevision = firmwareRevision.flatMap(Self.kept)
        self.hardwareRevision = hardwareRevision.flatMap(Self.kept)
        self.softwareRevision = softwareRevision.flatMap(Self.kept)
    }

    /// The information of a characteristic's value; nil for another characteristic, and where it says nothing.
    package init?(_ value: [UInt8], of characteristic: BluetoothUUID) {
        let text = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
        switch characteristic {
        case .modelNumberString: self.init(modelNumber: text)
        case .firmwareRevisionString: self.init(firmwareRevision: text)
        case .hardwareRevisionString: self.init(hardwareRevision: text)
        case .softwareRevisionString: self.init(softwareRevision: text)
        default: return nil
        }
        if isEmpty { return nil }
    }

    /// The characteristics that hold it.
    package static let characteristics: [BluetoothUUID] = [
        .modelNumberString, .firmwareRevisionString, .hardwareRevisionString, .softwareRevisionString,
    ]

    /// True where nothing is known.
    package var isEmpty: Bool { self == DeviceInformation() }

    /// Without controls and without spaces around; nil where nothing is left.
    private static func kept(_ text: String) -> String? {
        let scalars = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0xFFFD }
        var kept = Substring(String(String.UnicodeScalarView(scalars)))
        while kept.first?.isWhitespace ?? false { kept.removeFirst() }
        while kept.last?.isWhitespace ?? false { kept.removeLast() }
        return kept.isEmpty ? nil : String(kept.prefix(lengthMaximum))
    }
}

extension DeviceInformation {
    /// What the text says that boards of OpenBCI answer to `v`: a line such as `Firmware: v3.1.2`; nil where there is none.
    package init?(banner text: String) {
        let word = "Firmware:"
        guard let line = text.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix(word) }) else { return nil }
        self.init(firmwareRevision: String(line.dropFirst(word.count)))
        if isEmpty { return nil }
    }
}
