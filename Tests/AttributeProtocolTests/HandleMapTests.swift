import AttributeProtocol
import Bluetooth
import Simulation
import Testing

@Suite("A handle map") struct HandleMapTests {
    private static let hash: [UInt8] = Array(0x10...0x1F)

    /// What an earlier link found on a server.
    private static func earlier(_ server: InMemoryServer) throws -> (link: Conversation, map: HandleMap) {
        var conversation = Conversation(server)
        conversation.discover()
        return (conversation, try #require(conversation.map))
    }

    @Test("is reported after a discovery, with the hash where the headset has one")
    func reported() throws {
        #expect(try Self.earlier(.headset()).map.databaseHash == nil)
        #expect(try Self.earlier(.headset(hash: Self.hash)).map.databaseHash == Self.hash)
    }

    @Test("that still holds costs one round trip, and one for each characteristic that notifies", arguments: [nil, hash])
    func warm(hash: [UInt8]?) throws {
        let (first, map) = try Self.earlier(.headset(hash: hash))
        var second = first.reconnected(map: map)
        let validation = second.roundTrips {
            #expect($0.discover() == .success(map.database))
        }
        #expect(validation == 1)
        let subscriptions = second.roundTrips {
            $0.setNotify(.control)
            $0.setNotify(.eeg)
        }
        #expect(subscriptions == 2)
        #expect(second.server.configuration(of: .eeg) == [1, 0])
        second.notify([7], of: .eeg)
        #expect(second.values(of: .eeg) == [[7]])
        #expect(second.maps.isEmpty, "a map that holds is not reported again")
    }

    @Test("whose hash has changed is dropped, and the headset discovered in the same breath")
    func changedHash() throws {
        var (first, map) = try Self.earlier(.headset(hash: Self.hash))
        first.server = .headset(hash: Self.hash.reversed(), extraServices: 1)
        var second = first.reconnected(map: map)
        let database = try second.discover()?.get()
        #expect(database?.services.contains(BluetoothUUID(UInt16(0xA000))) == true)
        #expect(second.maps.first == .some(nil))
        #expect(second.map?.databaseHash == Self.hash.reversed())
        #expect(second.setNotify(.eeg) == .success(true))
        #expect(second.server.configuration(of: .eeg) == [1, 0])
    }

    @Test("is dropped where the headset has no hash any more")
    func lostHash() throws {
        var (first, map) = try Self.earlier(.headset(hash: Self.hash))
        first.server = .headset()
        var second = first.reconnected(map: map)
        #expect(second.discover() != nil)
        #expect(second.map?.databaseHash == .some(nil))
    }

    @Test("without a hash is dropped where a service was put in, taken out, or added behind")
    func shifted() throws {
        var behind = InMemoryServer.headset()
        behind.addService(BluetoothUUID(UInt16(0x180F)))
        behind.addCharacteristic(.vendorService, [.read], [50])
        let changes: [(InMemoryServer, InMemoryServer)] = [
            (.headset(), .headset(extraServices: 1)), (.headset(extraServices: 2), .headset(extraServices: 1)),
            (.headset(), behind), (behind, .headset()),
        ]
        for (old, new) in changes {
            let (first, map) = try Self.earlier(old)
            var moved = first
            moved.server = new
            var second = moved.reconnected(map: map)
            var fresh = Conversation(new)
            #expect(second.discover() == fresh.discover())
            #expect(second.map == fresh.map)
        }
    }

    @Test("that is wrong unnoticed is dropped as soon as a handle is refused, and the services are reported to have changed")
    func refusedHandle() throws {
        let (first, map) = try Self.earlier(.headset())
        // Everything stays where it is but the configuration of the samples.
        var moved = first
        let index = try #require(moved.server.attributes.firstIndex { $0.handle == map[.eeg]?.configuration })
        moved.server.attributes.remove(at: index)
        var second = moved.reconnected(map: map)
        #expect(second.discover() == .success(map.database))
        #expect(second.setNotify(.eeg) == .failure(.att(.invalidHandle)))
        #expect(second.emitted.contains(.central(.didModifyServices(Conversation.headset))))
        #expect(second.maps == [nil])
        // The handles that are discovered now are believed: the same refusal does not lead to another discovery.
        second.discover()
        second.emitted = []
        #expect(second.setNotify(.eeg) == .success(true))
        #expect(!second.emitted.contains(.central(.didModifyServices(Conversation.headset))))
    }

    @Test("is not used for a second discovery on a link: the headset is asked")
    func secondDiscovery() throws {
        let (first, map) = try Self.earlier(.headset(hash: Self.hash))
        var second = first.reconnected(map: map)
        let answer = second.discover()
        let trips = second.roundTrips { #expect($0.discover() == answer) }
        #expect(trips > 3)
    }

    @Test("is read back from its text, which is the same for the same map")
    func text() throws {
        for hash in [nil, Self.hash] {
            let map = try Self.earlier(.headset(hash: hash, extraServices: 3)).map
            #expect(HandleMap(text: map.text) == map)
        }
        let map = HandleMap(
            databaseHash: Array(0...15),
            services: [
                MappedService(
                    range: HandleRange(h(1), h(9)), uuid: .eegService, includes: [HandleRange(h(16), h(31))],
                    characteristics: [
                        MappedCharacteristic(
                            declaration: h(2), value: h(3), properties: [.notify], type: .long(.batteryLevel),
                            descriptors: [AttributeInformation(h(4), .clientCharacteristicConfiguration)])
                    ]),
                MappedService(range: HandleRange(h(16), h(31)), uuid: .vendorService, isPrimary: false),
            ])
        #expect(
            map.text == """
                gatt 1
                hash 000102030405060708090a0b0c0d0e0f
                service 0001-0009 FE8D
                include 0010-001f
                characteristic 0002 0003 10 00002a19-0000-1000-8000-00805f9b34fb
                descriptor 0004 2902
                secondary 0010-001f 6e400001-b5a3-f393-e0a9-e50e24dcca9e

                """)
        #expect(HandleMap(text: map.text) == map)
    }

    @Test("is not read from a text that was changed, cut, or written for another version")
    func spoiltText() throws {
        let text = try Self.earlier(.headset(hash: Self.hash)).map.text
        for spoilt in ["", "gatt 2\n", "gatt 1", String(text.dropLast()), text + "\n", text.uppercased(), "{}"] {
            #expect(HandleMap(text: spoilt) == nil)
        }
        var generator = SeededGenerator(seed: 4)
        let bytes = Array(text.utf8)
        for _ in 0..<2000 {
            var changed = bytes
            changed[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 10...126, using: &generator)
            let spoilt = String(decoding: changed, as: UTF8.self)
            // What is read at all is what was written.
            if let map = HandleMap(text: spoilt) { #expect(map.text == spoilt) }
            #expect(
                HandleMap(
                    text: String(decoding: bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator)), as: UTF8.self)
                ).map { text.hasPrefix($0.text) } ?? true)
        }
    }
}
