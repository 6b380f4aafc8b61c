import Bluetooth
import KernelBluetooth
import Storage
import Synchronization
import Testing

@testable import eegsync

@Suite struct DeferredWritesTests {
    private let headset = PeripheralIdentifier(address: 0xC055_DAB0_1324, type: .random)
    private let other = PeripheralIdentifier(address: 0x0055_DAB0_1325, type: .public)
    private let store: AcquisitionStore

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "11111111-1111-4111-8111-111111111111"))
    }

    @Test func whatStillWaitsAtTheEndIsWrittenAndOnlyTheLatestOfEachSubject() async throws {
        let writes = DeferredWrites(store: store)
        let made = Mutex<[String]>([])
        for (identifier, text) in [(headset, "one"), (other, "two"), (headset, "three")] {
            writes.add(.handleMap(identifier)) { (store) throws(StorageError) in
                made.withLock { $0.append(text) }
                try store.setHandleMap(text, of: identifier, at: .boot)
            }
        }
        writes.finish()
        await writes.run()
        #expect(made.withLock { $0 } == ["two", "three"])
        #expect(try store.handleMaps() == [headset: "three", other: "two"])
    }

    @Test func aWriteThatFailsIsMadeAgainAndHoldsUpNoOther() async throws {
        let writes = DeferredWrites(store: store, retryPause: .zero)
        let headset = headset
        let attempts = Mutex(0)
        writes.add(.handleMap(headset)) { (store) throws(StorageError) in
            let count = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            if count < 3 { throw StorageError.diskFull(detail: "no room") }
            try store.setHandleMap("map", of: headset, at: .boot)
            writes.finish()
        }
        writes.add(.handleMap(other)) { [other] (store) throws(StorageError) in
            try store.setHandleMap("other", of: other, at: .boot)
        }
        await writes.run()
        #expect(attempts.withLock { $0 } == 3)
        #expect(try store.handleMaps() == [headset: "map", other: "other"])
    }

    @Test func handlesThatCannotBeReadAreNoHandlesAndAreReplacedByTheNext() async throws {
        try store.setHandleMap("no map", of: headset, at: .boot)
        let writes = DeferredWrites(store: store)
        let maps = KeptLinks(store: store, writes: writes, log: DaemonLog(level: .error)).handleMaps()
        #expect(maps[headset] == nil)
        maps.save(headset, nil)
        writes.finish()
        await writes.run()
        #expect(try store.handleMaps().isEmpty)
    }

    @Test func aPersonsSwitchingOffIsThereForTheNextProcess() async throws {
        let writes = DeferredWrites(store: store)
        let kept = KeptLinks(store: store, writes: writes, log: DaemonLog(level: .error))
        let power = kept.adapterPower()
        #expect(power.switchedOff.isEmpty)
        for (address, isOff) in [(0x00AA_0100_0042, true), (8, true), (8, false)] as [(UInt64, Bool)] {
            power.save(address, isOff)
        }
        writes.finish()
        await writes.run()
        #expect(kept.adapterPower().switchedOff == [0x00AA_0100_0042])
    }

    @Test func keysAreWrittenAndAreThereForTheNextProcess() async throws {
        let writes = DeferredWrites(store: store)
        let kept = KeptLinks(store: store, writes: writes, log: DaemonLog(level: .error))
        let bonds = kept.bonds()
        #expect(bonds.load().isEmpty)
        let key = try #require(SecretKey([UInt8](repeating: 7, count: 16)))
        let bond = Bond(identity: headset, identityResolvingKey: key)
        bonds.save(.paired(bond), headset)
        bonds.save(.paired(Bond(identity: other, identityResolvingKey: key)), other)
        bonds.save(.lost, other)
        writes.finish()
        await writes.run()
        #expect(kept.bonds().load() == [bond])
    }

    @Test func aHeadsetWhoseKeysGaveWayToOthersHasNotLostThem() {
        #expect(KeptLinks.words(for: KeyChange<Bond>.lost).1.contains("has lost the keys"))
        #expect(!KeptLinks.words(for: KeyChange<Bond>.displaced).1.contains("lost"))
    }

    @Test func linkKeysAreWrittenAndAreThereForTheNextProcess() async throws {
        let writes = DeferredWrites(store: store)
        let kept = KeptLinks(store: store, writes: writes, log: DaemonLog(level: .error))
        let linkKeys = kept.bonds().linkKeys
        let value = try #require(SecretKey([UInt8](repeating: 7, count: 16)))
        let keys = (1...2).map {
            LinkKey(peripheral: PeripheralIdentifier(address: $0, type: .classic), type: 0, pinLength: 4, value: value)
        }
        for key in keys { linkKeys.keep(key) }
        linkKeys.forget(keys[0].peripheral)
        writes.finish()
        await writes.run()
        #expect(kept.bonds().linkKeys.keys == [keys[1]])
    }
}
