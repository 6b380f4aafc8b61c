public import AttributeProtocol
public import Bluetooth

/// Where the handles of headsets are kept from one link to the next.
public struct HandleMapStore {
    /// What is kept of a peripheral; nil for nothing.
    public let load: (PeripheralIdentifier) -> HandleMap?
    /// Keeps a map, or forgets it (nil). Never waits.
    public let save: (PeripheralIdentifier, HandleMap?) -> Void

    /// Creates a store from its two halves.
    public init(
        load: @escaping (PeripheralIdentifier) -> HandleMap?, save: @escaping (PeripheralIdentifier, HandleMap?) -> Void
    ) {
        self.load = load
        self.save = save
    }

    /// A store that lasts as long as the process.
    public static func inMemory() -> HandleMapStore {
        inMemory([:]) { _, _ in }
    }

    /// The same, filled with what was kept earlier, and telling what changes.
    ///
    /// - Parameters:
    ///   - texts: maps in the form of ``HandleMap/text``. One that cannot be read is none: that headset is discovered, and its
    ///     text replaced.
    ///   - didChange: gets the text that is to be kept for a peripheral, or nil where nothing is; must not wait.
    public static func inMemory(
        _ texts: [PeripheralIdentifier: String], didChange: @escaping (PeripheralIdentifier, String?) -> Void
    ) -> HandleMapStore {
        let kept = KeptMaps(texts.compactMapValues { HandleMap(text: $0) })
        return HandleMapStore(
            load: { kept.maps[$0] },
            save: { peripheral, map in
                kept.maps[peripheral] = map
                didChange(peripheral, map?.text)
            })
    }

    private final class KeptMaps {
        var maps: [PeripheralIdentifier: HandleMap]

        init(_ maps: [PeripheralIdentifier: HandleMap]) {
            self.maps = maps
        }
    }
}
