package import AttributeProtocol
package import Bluetooth

/// Where the handles of headsets are kept from one link to the next.
package struct HandleMapStore {
    let maps: HandleMapTable
    /// Keeps a map, or forgets it (nil). Never waits.
    package let save: (PeripheralIdentifier, HandleMap?) -> Void

    /// What was kept of a peripheral when the store was made; nil for nothing.
    package subscript(peripheral: PeripheralIdentifier) -> HandleMap? { maps[peripheral] }

    /// A store that lasts as long as the process.
    package static func inMemory() -> HandleMapStore {
        inMemory([:]) { _, _ in }
    }

    /// The same, filled with what was kept earlier, and reporting what changes.
    ///
    /// - Parameters:
    ///   - texts: maps in the form of `HandleMap.text`. One that cannot be read is none: that headset is discovered, and its
    ///     text replaced.
    ///   - didChange: gets the text that is to be kept for a peripheral, or nil where nothing is; must not wait.
    package static func inMemory(
        _ texts: [PeripheralIdentifier: String], didChange: @escaping (PeripheralIdentifier, String?) -> Void
    ) -> HandleMapStore {
        var maps = HandleMapTable()
        for (peripheral, text) in texts { maps[peripheral] = HandleMap(text: text) }
        return HandleMapStore(maps: maps, save: { didChange($0, $1?.text) })
    }
}

/// Handles by peripheral. Pure.
struct HandleMapTable {
    /// How many are kept: more than anybody has headsets. Those of addresses that a headset has changed are never asked for
    /// again.
    static let limit = 256

    /// What was used last comes last.
    private var maps: [(peripheral: PeripheralIdentifier, map: HandleMap)] = []

    /// What is known of a peripheral; nil for nothing.
    subscript(peripheral: PeripheralIdentifier) -> HandleMap? {
        get { maps.first { $0.peripheral == peripheral }?.map }
        set {
            maps.removeAll { $0.peripheral == peripheral }
            if let newValue { maps.append((peripheral, newValue)) }
        }
    }

    /// A link to a peripheral begins, for which its map is needed; nil where there is none.
    mutating func use(_ peripheral: PeripheralIdentifier) -> HandleMap? {
        let map = self[peripheral]
        self[peripheral] = map
        return map
    }

    /// Takes out a map that is one too many, the one that was not used for longest; nil for none.
    mutating func takeExcess() -> PeripheralIdentifier? {
        maps.count > Self.limit ? maps.removeFirst().peripheral : nil
    }
}
