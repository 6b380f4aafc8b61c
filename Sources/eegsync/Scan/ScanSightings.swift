import Bluetooth
import Headsets

/// What a scan has seen so far: one entry for each address, in the order in which they appeared.
struct ScanSightings {
    /// One advertiser.
    struct Sighting {
        var identifier: PeripheralIdentifier
        /// The model that recognises the advertisement; nil for a device that is no headset.
        var profile: (any HeadsetProfile)?
        /// True where the advertisement is that of the model's pairing mode.
        var isPairing = false
        /// The local name; nil where none was advertised yet.
        var localName: String?
        /// The services that were advertised, each once.
        var services: [BluetoothUUID] = []
        /// The signal strength in dBm, smoothed; nil where no advertisement had one.
        var signal: Double?
        /// How many advertisements were seen.
        var count = 1
    }

    /// The share of a new value in the smoothed signal strength: it swings by 10 dB from channel to channel.
    private static let smoothing = 0.25

    private let profiles: [any HeadsetProfile]
    private(set) var sightings: [Sighting] = []

    /// Begins with nothing seen.
    init(profiles: [any HeadsetProfile] = HeadsetCatalog.builtIn.profiles) {
        self.profiles = profiles
    }

    /// The filter that reports the headsets of all models, in both of their advertising modes.
    var headsetFilter: ScanFilter {
        profiles.reduce(ScanFilter()) { $0.union($1.recognition.scanFilter) }
    }

    /// Takes an advertisement. What an earlier one of the same address said stays known: the name is often in the scan
    /// response alone.
    mutating func add(_ identifier: PeripheralIdentifier, _ advertisement: Advertisement, rssi: Int8) {
        // 127: the controller could not measure it (Core Specification, Vol 4, Part E, 7.7.65.2).
        let measured = rssi == 127 ? nil : Double(rssi)
        let index: Int
        if let known = sightings.firstIndex(where: { $0.identifier == identifier }) {
            index = known
            sightings[index].count += 1
            if let measured {
                let smooth = sightings[index].signal ?? measured
                sightings[index].signal = smooth + (measured - smooth) * Self.smoothing
            }
        } else {
            index = sightings.count
            sightings.append(Sighting(identifier: identifier, signal: measured))
        }
        if let name = advertisement.localName, !name.isEmpty { sightings[index].localName = name }
        for uuid in advertisement.serviceUUIDs where !sightings[index].services.contains(uuid) {
            sightings[index].services.append(uuid)
        }
        guard let profile = profile(of: advertisement, isClassic: identifier.addressType == .classic) else { return }
        sightings[index].profile = profile
        let recognition = profile.recognition
        // A packet with a name alone says nothing about the mode.
        if advertisement.serviceUUIDs.contains(where: recognition.pairingServiceUUIDs.contains) {
            sightings[index].isPairing = true
        } else if advertisement.serviceUUIDs.contains(where: recognition.serviceUUIDs.contains) {
            sightings[index].isPairing = false
        }
    }

    /// A service is a better witness than a name. A model of Bluetooth Classic has no address of Low Energy, and the other way
    /// round: "MindWave Mobile" is a name in both.
    private func profile(of advertisement: Advertisement, isClassic: Bool) -> (any HeadsetProfile)? {
        let profiles = profiles.filter { $0.usesSerialPort == isClassic }
        return profiles.first { profile in
            let services = profile.recognition.serviceUUIDs + profile.recognition.pairingServiceUUIDs
            return advertisement.serviceUUIDs.contains(where: services.contains)
        } ?? profiles.first { $0.recognition.scanFilter.matches(advertisement) }
    }
}
