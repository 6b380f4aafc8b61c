import Bluetooth
import KernelBluetooth
import Logging
import Storage

/// What the kernel's route knows of headsets and adapters, kept in the database from one process to the next. Read once, when
/// the central is made; written behind its back.
struct KeptLinks: Sendable {
    private let store: AcquisitionStore
    private let writes: DeferredWrites
    private let log: DaemonLog

    init(store: AcquisitionStore, writes: DeferredWrites, log: DaemonLog) {
        self.store = store
        self.writes = writes
        self.log = log
    }

    /// The handles of headsets. Where they cannot be read, there are none: that costs a discovery each.
    func handleMaps() -> HandleMapStore {
        let writes = writes
        let texts = read("handles of headsets") { () throws(StorageError) in try store.handleMaps() } ?? [:]
        return .inMemory(texts) { peripheral, text in
            let time = HostClock.now
            writes.add(.handleMap(peripheral)) { (store) throws(StorageError) in
                try store.setHandleMap(text, of: peripheral, at: time)
            }
        }
    }

    /// The keys of headsets. Where they cannot be read, none are loaded, and headsets that want keys are paired anew.
    func bonds(forgetsLostKeys: Bool = true) -> BondStore {
        let bonds = read("keys of headsets") { () throws(StorageError) in try store.bonds() } ?? []
        let linkKeys = read("keys of headsets") { () throws(StorageError) in try store.linkKeys() } ?? []
        return BondStore(
            load: { bonds },
            save: { change, identity in
                keep(change, identity) { (store) throws(StorageError) in
                    try store.setBond(change.key, with: identity)
                }
            },
            linkKeys: LinkKeyStore(linkKeys, forgetsLostKeys: forgetsLostKeys) { identity, change in
                keep(change, identity) { (store) throws(StorageError) in
                    try store.setLinkKey(change.key, of: identity)
                }
            }, forgetsLostKeys: forgetsLostKeys)
    }

    /// Which adapters a person wants off. Where that cannot be read, none is known.
    func adapterPower() -> AdapterPowerStore {
        let writes = writes
        let addresses = read("switched-off adapters") { () throws(StorageError) in try store.switchedOffAdapters() } ?? []
        return AdapterPowerStore(switchedOff: addresses) { address, isSwitchedOff in
            let time = HostClock.now
            writes.add(.adapterPower(address)) { (store) throws(StorageError) in
                try store.setSwitchedOff(isSwitchedOff, adapter: address, at: time)
            }
        }
    }

    private func keep<Key>(
        _ change: KeyChange<Key>, _ identity: PeripheralIdentifier, _ write: @escaping DeferredWrites.Write
    ) {
        // Not with the write: a key that comes at once replaces the write that forgets the one before.
        let (level, sentence) = Self.words(for: change)
        log.log(level, sentence, ["address": "\(identity)"])
        writes.add(.bond(identity), write)
    }

    /// What the log says of it.
    static func words<Key>(for change: KeyChange<Key>) -> (Logger.Level, String) {
        switch change {
        case .paired: (.info, "the headset was paired")
        case .lost: (.notice, "the headset has lost the keys of its pairing; it is paired anew")
        case .displaced: (.notice, "the keys of the headset are forgotten: too many others were paired since")
        }
    }

    private func read<Kept>(_ what: String, _ body: () throws(StorageError) -> Kept) -> Kept? {
        do {
            return try body()
        } catch {
            log.log(.warning, "the kept \(what) cannot be read, eegsync goes on without: \(error)")
            return nil
        }
    }
}
