import Acquisition
import BlueZ
import Bluetooth
import Headsets
import KernelBluetooth
import Simulation

extension Configuration {
    /// The configured headsets with their profiles.
    var knownHeadsets: [KnownHeadset] {
        headsets.compactMap { headset in
            // The parser accepts only models of the catalog, and described ones.
            guard let model = headset.profile else { return nil }
            let profile = headset.preset.map { model.choosing(preset: $0) } ?? model
            return KnownHeadset(
                name: headset.name, profile: headset.settings.isEmpty ? profile : profile.choosing(settings: headset.settings),
                identifiers: headset.identifiers, identityProof: headset.serialNumber, montage: headset.montage)
        }
    }

    /// The services that mark a connected peripheral as a headset.
    var services: [BluetoothUUID] {
        HeadsetCatalog.builtIn.profiles.flatMap(\.services)
            + headsets.flatMap { $0.descriptor?.services ?? [] }
    }

    /// The central that the configuration names.
    ///
    /// - Parameters:
    ///   - watch: where its file descriptors are watched.
    ///   - isAlone: false for a command that may run beside the daemon and must not disturb it.
    ///   - maps: where the kernel's route keeps the handles of headsets.
    ///   - bonds: where it keeps their keys; nil to leave those of the adapter as they are.
    func makeCentral(
        watch: DescriptorWatch, isAlone: Bool = true, maps: HandleMapStore = .inMemory(), bonds: BondStore? = nil
    ) -> any Bluetooth.Central {
        switch central {
        case .automatic:
            return reaching(headsetsThrough: CentralChoice(central)).makeCentral(
                watch: watch, isAlone: isAlone, maps: maps, bonds: bonds)
        case .bluez(let settings):
            return radioCentral(BlueZCentral(options: options(settings), watch: watch), adapter: settings.adapter, watch: watch)
        case .kernel(let settings):
            let kernel = KernelCentral(
                adapter: settings.adapter, powersOn: settings.powersOn && isAlone, isAlone: isAlone, maps: maps,
                bonds: bonds, passkeys: passkeys, isBluetoothdRunning: BluetoothdPresence.isOnBus, watch: watch)
            return radioCentral(kernel, adapter: settings.adapter, bonds: bonds, watch: watch)
        case .simulation(let simulation): return simulation.makeCentral()
        }
    }

    /// Whether a headset has a serial port over Bluetooth Classic.
    var hasSerialPorts: Bool { knownHeadsets.contains { $0.profile.usesSerialPort } }

    /// A central for Bluetooth Low Energy; where a headset has a serial port over Bluetooth Classic, beside the one for that,
    /// which leaves pairing to bluetoothd where no `bonds` are kept.
    private func radioCentral(
        _ central: any Bluetooth.Central, adapter: String?, bonds: BondStore? = nil, watch: DescriptorWatch
    ) -> any Bluetooth.Central {
        guard hasSerialPorts else { return central }
        let classic = SerialPortCentral(
            adapter: adapter, linkKeys: bonds?.linkKeys, passkeys: passkeys, channels: serialPortChannels,
            isBluetoothdRunning: BluetoothdPresence.isOnBus, watch: watch)
        return RoutedCentral(lowEnergy: central, classic: classic)
    }

    private func options(_ settings: BlueZ) -> BlueZOptions {
        var options = BlueZOptions()
        options.adapter = settings.adapter
        options.startNotify = settings.startNotify
        options.recoversAdapter = settings.recoversAdapter
        options.tellsOfSerialPorts = hasSerialPorts
        options.serialPorts = headsets.flatMap(\.identifiers).filter { $0.addressType == .classic }
        options.passkeys = passkeys
        return options
    }

    /// Where the serial ports of headsets are whose model tells it.
    var serialPortChannels: [SerialPortChannel] {
        knownHeadsets.compactMap { headset in
            (headset.profile as? any SerialPortProfile)?.serialPortChannel.map {
                SerialPortChannel(number: $0, identifiers: headset.identifiers)
            }
        }
    }

    /// The passkeys of headsets that ask for one.
    private var passkeys: [Passkey] {
        headsets.compactMap { headset in
            headset.passkey.map { Passkey(value: $0, identifiers: headset.identifiers) }
        }
    }
}

extension Configuration.Headset {
    /// The model's profile; nil for a model that nobody knows.
    var profile: (any HeadsetProfile)? {
        if let descriptor { return DescribedProfile(descriptor) }
        return try? HeadsetCatalog.builtIn.profile(model: model)
    }
}

extension Configuration.Simulation {
    /// A simulated radio on the real clock. Its world began when this machine booted, and follows from the seed alone: a
    /// process that starts after a crash meets the same headsets, which have been sampling all the time.
    func makeCentral() -> SimulatedCentral {
        SimulatedWorld(seed: seed, headsets: specifications, start: .boot).makeCentral()
    }

    /// The simulated headsets, numbered from 1 in the order of the file.
    var specifications: [HeadsetSpecification] {
        headsets.enumerated().map { index, headset in
            var specification: HeadsetSpecification
            if headset.model != "buffered-eeg",
                let known = HeadsetSpecification.headset(ofModel: headset.model, number: index + 1)
            {
                specification = known
            } else {
                var memory = BufferedHeadsetSpecification()
                memory.samplesFromBoot = true
                specification = .buffered(number: index + 1, memory)
                specification.localName = headset.name
            }
            if let serial = headset.serialNumber { specification.serialNumber = serial }
            return specification
        }
    }
}
