/// One data row in the payload of a ThinkGear frame: `55`* code [length] value.
struct ThinkGearRow {
    /// Battery, 0 ... ``batteryMaximum``; old modules only.
    static let battery: UInt8 = 0x01
    static let batteryMaximum: UInt8 = 127
    static let poorSignal: UInt8 = 0x02
    static let attention: UInt8 = 0x04
    static let meditation: UInt8 = 0x05
    static let blink: UInt8 = 0x16
    static let raw: UInt8 = 0x80
    static let power: UInt8 = 0x83
    /// Eight powers as floating-point numbers; of old modules.
    static let floatingPower: UInt8 = 0x81
    /// Raises the extended code level of the code that follows.
    static let extendedCode: UInt8 = 0x55

    /// How many extended-code bytes stood before the code; every known code is of level 0.
    var extendedLevel: Int
    /// What the value means.
    var code: UInt8
    /// The value, most significant byte first.
    var value: ArraySlice<UInt8>
}

/// The rows of a payload, in order; ends before a row that is not well formed.
struct ThinkGearRows: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    /// True once a row claimed more bytes than there are, or had the reserved code AA.
    private(set) var isMalformed = false

    init(payload: ArraySlice<UInt8>) {
        rest = payload
    }

    mutating func next() -> ThinkGearRow? {
        var level = 0
        while rest.first == ThinkGearRow.extendedCode {
            level += 1
            rest.removeFirst()
        }
        guard let code = rest.popFirst() else {
            isMalformed = isMalformed || level > 0
            return nil
        }
        guard code != ThinkGearFrame.sync else { return endMalformed() }
        var length = 1
        // BA and BC, sent by the MindWave Mobile when it connects, have a value of one byte and no length, against the rule
        // for codes from 80 (robintibor/python-mindwave-mobile).
        let hasLength = code >= 0x80 && !(level == 0 && (code == 0xBA || code == 0xBC))
        if hasLength {
            guard let claimed = rest.popFirst() else { return endMalformed() }
            length = Int(claimed)
        }
        guard rest.count >= length else { return endMalformed() }
        defer { rest = rest.dropFirst(length) }
        return ThinkGearRow(extendedLevel: level, code: code, value: rest.prefix(length))
    }

    private mutating func endMalformed() -> ThinkGearRow? {
        isMalformed = true
        rest = []
        return nil
    }

    /// Whether rows fill the payload exactly.
    static func fill(_ payload: ArraySlice<UInt8>) -> Bool {
        var rows = ThinkGearRows(payload: payload)
        while rows.next() != nil {}
        return !rows.isMalformed
    }
}
