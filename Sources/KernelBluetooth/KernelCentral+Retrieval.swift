import AttributeProtocol
public import Bluetooth
import BluetoothManagement

/// A question for connected peripherals that waits for its answer.
struct KernelRetrieval {
    let services: [BluetoothUUID]
    let attempt: Attempt
    /// When it is answered with what is known by then.
    let limit: MonotonicTime
    /// True once the kernel has said who is connected.
    var isListed = false
}

/// Which of the devices that are connected, by whomever, are headsets.
///
/// Of a device with a known map of handles the map tells. Any other is probed: the channel of the Attribute Protocol is opened
/// beside whatever holds the link, the services are discovered, and the channel is closed again, which ends the link of nobody
/// else. Where another program has the channel, the device would be of no use.
extension KernelCentral {
    /// How long a question waits for probes: less than the caller does. A discovery that takes longer serves the next question.
    private static let retrievalLimit = Duration.milliseconds(400)
    /// How long a probe may take: a discovery of a dozen round trips at the slowest usual interval of 100 ms, twice.
    private static let probeLimit = Duration.seconds(3)

    /// Of the devices that the kernel says are connected, those that offer one of the services.
    public func retrieveConnectedPeripherals(withServices services: [BluetoothUUID], attempt: Attempt) {
        guard state == .poweredOn, let index = adapter.index else {
            return tell(.didRetrieveConnected([], attempt: attempt))
        }
        retrievals.append(KernelRetrieval(services: services, attempt: attempt, limit: now + Self.retrievalLimit))
        adapter.send(.getConnections(index))
    }

    /// Begins to ask the devices of which nothing is known.
    func probeDevices() {
        for device in connectedDevices where map(of: device) == nil {
            guard !links.contains(where: { $0.identifier == device }) else { continue }
            var link = KernelLink(
                identifier: device, attempt: .none, conversation: ATTLink(peripheral: device, map: nil))
            link.probeLimit = now + Self.probeLimit
            links.append(link)
            open(links.count - 1)
        }
    }

    private func map(of device: PeripheralIdentifier) -> HandleMap? {
        maps.load(device) ?? probedMaps.first { $0.device == device }?.map
    }

    /// Takes what the conversation of a probe tells. Returns true where the probe has ended.
    func isProbed(_ identifier: PeripheralIdentifier, _ event: ATTLink.Event) -> Bool {
        switch event {
        case .didUpdateMap(let map?): probedMaps.append((identifier, map))
        // Nobody has asked to pair.
        case .central(.didDiscoverServices), .needsSecurity, .didTimeOut: return endProbe(of: identifier)
        default: break
        }
        return false
    }

    /// Closes the channel of a probe, and leaves the link alone. Returns false where there is none.
    @discardableResult
    func endProbe(of identifier: PeripheralIdentifier) -> Bool {
        guard let place = links.firstIndex(where: { $0.identifier == identifier && $0.isProbe }) else { return false }
        closeSocket(place)
        links.remove(at: place)
        return true
    }

    /// Answers the questions whose time has come.
    ///
    /// - Parameter isOver: true where the adapter is gone, and everything with it.
    func answerRetrievals(isOver: Bool = false) {
        let isProbing = links.contains { $0.isProbe }
        for question in retrievals where isOver || question.limit <= now || question.isListed && !isProbing {
            tell(.didRetrieveConnected(connectedDevices.filter { offers($0, question.services) }, attempt: question.attempt))
        }
        retrievals.removeAll { isOver || $0.limit <= now || $0.isListed && !isProbing }
    }

    /// Whether a connected device offers one of the services. What is known of such a one is kept for the link that follows;
    /// what other devices offer is forgotten when they are gone.
    private func offers(_ device: PeripheralIdentifier, _ services: [BluetoothUUID]) -> Bool {
        guard let map = map(of: device), map.services.contains(where: { services.contains($0.uuid) }) else { return false }
        if maps.load(device) == nil { maps.save(device, map) }
        return true
    }
}
