import Acquisition
import BlueZ
import Bluetooth
import BluetoothManagement
import Headsets
import KernelBluetooth
import Reconnection
import Simulation
import Storage

extension Configuration {
    /// The configured headsets with their profiles.
    var knownHeadsets: [KnownHeadset] {
        headsets.compactMap { headset in
            // The parser accepts only models of the catalog, and described ones.
            guard let model = headset.profile else { return nil }
            let profile = headset.preset.map { model.choosing(preset: $0) } ?? model
            return KnownHeadset(
                name: headset.name, profile: headset.settings.isEmpty ? profile : profile.choosing(settings: headset.settings),
                identifiers: headset.identifiers, identityProof: headset.serialNumber, adoption: adoption(of: headset),
                pairingServices: headset.pairingServices, montage: headset.montage, facts: facts(of: headset, model))
        }
    }

    /// What a person has chosen about a headset, with what follows where nothing was stated.
    private func facts(of headset: Headset, _ profile: any HeadsetProfile) -> LinkFacts {
        var facts = LinkFacts()
        facts.preset = headset.preset
        facts.montage = headset.montage?.names
        facts.reference = headset.reference
        facts.ground = headset.ground
        let settings = profile.settings.compactMap { setting -> (String, [String])? in
            let values = (0..<(setting.channelCount ?? 1)).map { channel in
                (setting.channelCount == nil ? headset.settings[setting.name] : headset.settings[setting.name, channel])
                    ?? setting.usual
            }
            // Left as the headset is, by which nobody knows what it is.
            let known = values.compactMap(\.self)
            return known.count == values.count ? (setting.name, known) : nil
        }
        if !settings.isEmpty { facts.settings = Dictionary(uniqueKeysWithValues: settings) }
        return facts
    }

    /// What is done about an address that nothing proves to be the headset's. Where two headsets advertise alike, nobody but a
    /// person can say whose it is.
    func adoption(of headset: Headset) -> Adoption {
        let policy = headset.adoption ?? adoption.policy
        let isOneOfSeveral = headsets.contains { $0.name != headset.name && $0.advertisesLike(headset) }
        return Adoption(policy == .automatic && isOneOfSeveral ? .ask : policy, after: adoption.delay)
    }

    /// The services that mark a connected peripheral as a headset.
    var services: [BluetoothUUID] {
        HeadsetCatalog.builtIn.profiles.flatMap(\.services)
            + headsets.flatMap { $0.descriptor?.services ?? [] }
    }

    /// What changes with `new` when eegsync is started the next time, and not before, in sentences for a person. The centrals
    /// are made once.
    func changesOfNextStart(in new: Configuration) -> [String] {
        var changes: [String] = []
        if new.central != central || new.limits != limits {
            changes.append("changes of 'central' and 'limits' take effect when eegsync is started the next time")
        }
        if new.hasSerialPorts, !hasSerialPorts {
            changes.append("the first headset of Bluetooth Classic is reached when eegsync is started the next time")
        } else if new.serialPortChannels != serialPortChannels {
            changes.append(
                "another channel of a serial port, or address for it, takes effect when eegsync is started the next time"
            )
        }
        if new.passkeys != passkeys {
            changes.append(
                "another passkey, or another address for it, takes effect when eegsync is started the next time")
        }
        return changes
    }

    /// The central that the configuration names.
    ///
    /// - Parameters:
    ///   - watch: where its file descriptors are watched.
    ///   - isAlone: false for a command that may run beside the daemon and must not disturb it.
    ///   - power: where the kernel's route keeps which adapters a person wants off.
    ///   - maps: where the kernel's route keeps the handles of headsets.
    ///   - bonds: where it keeps their keys; nil to leave those of the adapter as they are.
    ///   - lock: keeps others from the adapter; nil for a command that only looks on.
    func makeCentral(
        watch: DescriptorWatch, isAlone: Bool = true, power: AdapterPowerStore = .inMemory(),
        maps: HandleMapStore = .inMemory(), bonds: BondStore? = nil, lock: AdapterLock? = nil
    ) -> any Bluetooth.Central {
        switch central {
        case .automatic:
            return reaching(headsetsThrough: CentralChoice(central)).makeCentral(
                watch: watch, isAlone: isAlone, power: power, maps: maps, bonds: bonds, lock: lock)
        case .bluez(let settings):
            let bluez = BlueZCentral(options: options(settings), lock: lock, watch: watch)
            return radioCentral(
                bluez, isBluetoothdRunning: { true }, adapter: settings.adapter, lock: lock, watch: watch)
        case .kernel(let settings):
            let bluetoothd = BluetoothdPresence()
            let kernel = KernelCentral(
                adapter: settings.adapter, powersOn: settings.powersOn && isAlone, power: power, isAlone: isAlone,
                maps: maps, bonds: bonds, passkeys: passkeys, lock: lock, isBluetoothdRunning: { bluetoothd.isRunning },
                watch: watch)
            return radioCentral(
                kernel, isBluetoothdRunning: { bluetoothd.isRunning }, adapter: settings.adapter, bonds: bonds, lock: lock,
                watch: watch)
        case .simulation(let simulation): return simulation.makeCentral()
        }
    }

    /// Whether a headset has a serial port over Bluetooth Classic.
    var hasSerialPorts: Bool { knownHeadsets.contains { $0.profile.usesSerialPort } }

    /// A central for Bluetooth Low Energy; where a headset has a serial port over Bluetooth Classic, beside the one for that,
    /// which leaves pairing to bluetoothd where no `bonds` are kept.
    private func radioCentral(
        _ central: any Bluetooth.Central, isBluetoothdRunning: @escaping () -> Bool, adapter: String?,
        bonds: BondStore? = nil, lock: AdapterLock?, watch: DescriptorWatch
    ) -> any Bluetooth.Central {
        guard hasSerialPorts else { return central }
        let classic = SerialPortCentral(
            adapter: adapter, linkKeys: bonds?.linkKeys, passkeys: passkeys, channels: serialPortChannels,
            lock: lock, isBluetoothdRunning: isBluetoothdRunning, watch: watch)
        return RoutedCentral(lowEnergy: central, classic: classic)
    }

    private func options(_ settings: BlueZ) -> BlueZOptions {
        var options = BlueZOptions()
        options.adapter = settings.adapter
        options.startNotify = settings.startNotify
        // Of every model: one of which a headset is added by a reload is among them.
        let profiles = HeadsetCatalog.builtIn.profiles + knownHeadsets.map(\.profile)
        options.countedCharacteristics = profiles.flatMap(\.countedCharacteristics)
        options.recoversAdapter = settings.recoversAdapter
        options.allowsRepairing = settings.repairing == .always
        options.reportsSerialPorts = hasSerialPorts
        options.serialPorts = headsets.flatMap(\.identifiers).filter { $0.addressType == .classic }
        options.passkeys = passkeys
        return options
    }

    /// Whether the keys of headsets that this process keeps itself are forgotten where a headset has lost them.
    var forgetsLostKeys: Bool {
        if case .kernel(let settings) = central { settings.repairing == .always } else { true }
    }

    /// Where the serial ports of headsets are whose model says it.
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
            let value = headset.passkey ?? headset.passkeyFile.flatMap { try? PasskeyFile(path: $0).passkey() }
            return value.map { Passkey(value: $0, identifiers: headset.identifiers) }
        }
    }

    /// The files of passkeys that this process cannot read, and why, in words.
    var passkeyProblems: [String] {
        headsets.compactMap { headset in
            guard let path = headset.passkeyFile else { return nil }
            do throws(FileReason) {
                _ = try PasskeyFile(path: path).passkey()
                return nil
            } catch {
                return
                    "the passkey of \(headset.name) cannot be read from \(path), a pairing that asks for it fails: "
                    + error.words
            }
        }
    }
}

extension Configuration.Headset {
    /// The model's profile; nil for a model that nobody knows.
    var profile: (any HeadsetProfile)? {
        if let descriptor { return DescribedProfile(descriptor) }
        return try? HeadsetCatalog.builtIn.profile(model: model)
    }

    /// True where an advertisement may be either headset's.
    fileprivate func advertisesLike(_ other: Configuration.Headset) -> Bool {
        guard let profile, let otherProfile = other.profile, profile.usesSerialPort == otherProfile.usesSerialPort else {
            return false
        }
        let further = ScanFilter(serviceUUIDs: pairingServices)
        let otherFurther = ScanFilter(serviceUUIDs: other.pairingServices)
        return profile.recognition.scanFilter.union(further).overlaps(
            otherProfile.recognition.scanFilter.union(otherFurther))
    }
}

extension Configuration.Simulation {
    /// A simulated radio on the real clock. Its world began when this machine booted, and follows from the seed and that boot
    /// alone: a process that starts after a crash meets the same headsets, which have been sampling all the time. After a
    /// reboot they are as after having been switched off with the machine: with the same seed they would count from zero again
    /// and say that they had never been off, which no headset can.
    func makeCentral(hostBoot: HostBoot? = try? HostBoot.current()) -> SimulatedCentral {
        SimulatedWorld(seed: seed(in: hostBoot), headsets: specifications, start: .boot).makeCentral()
    }

    /// The seed of a boot: FNV-1a, 64 bits, of the configured one and the boot's UUID.
    func seed(in hostBoot: HostBoot?) -> UInt64 {
        (hostBoot?.uuid ?? "").utf8.reduce(0xcbf2_9ce4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
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
