public import AttributeProtocol
public import Bluetooth

/// Where the handles of headsets are kept from one link to the next.
public struct HandleMapStore {
    /// What is kept of a peripheral; nil for nothing.
    public let load: (PeripheralIdentifier) -> HandleMap?
    /// Keeps a map, or forgets it (nil).
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
        let kept = KeptMaps()
        return HandleMapStore(load: { kept.maps[$0] }, save: { kept.maps[$0] = $1 })
    }

    private final class KeptMaps {
        var maps: [PeripheralIdentifier: HandleMap] = [:]
    }
}
