import AttributeProtocol
import Bluetooth
import Testing

@Suite("A discovery") struct DiscoveryTests {
    /// What a client finds on a server.
    private static func map(of server: InMemoryServer, _ search: DescriptorSearch) -> Result<GATTOutcome, GATTFailure>? {
        var server = server
        var client = GATTClient()
        for request in [GATTRequest.exchangeMTU, .discover(search)] {
            client.start(request, at: .boot)
            for _ in 0..<500 where !client.isIdle {
                for answer in server.receive(client.takePackets()) { client.received(answer, at: .boot) }
            }
        }
        guard case .finished(let result)? = client.takeEvents().last, server.violations.isEmpty else { return nil }
        return result
    }

    @Test("finds all services and characteristics, with short and long UUIDs")
    func everything() throws {
        var conversation = Conversation()
        let database = try #require(try conversation.discover()?.get())
        #expect(database.services == [.genericAttribute, .deviceInformation, .vendorService, .eegService])
        #expect(
            database.characteristics.map(\.uuid) == [
                .serviceChanged, .serialNumberString, .modelNumberString, .configuration, .control, .eeg, .motion, .lastOne,
            ])
        #expect(database[.control]?.properties == [.writeWithoutResponse, .write, .notify])
        #expect(database[.eeg]?.service == .eegService)
        #expect(conversation.server.violations.isEmpty)
    }

    @Test("finds the same with the smallest packets and with the largest", arguments: [23, 27, 64, 185, 517])
    func packetSizes(size: Int) {
        var server = InMemoryServer.headset(extraServices: 20)
        server.receiveLimit = AttributeMTU(517)
        let expected = Self.map(of: server, .all)
        server.receiveLimit = AttributeMTU(size)
        #expect(Self.map(of: server, .all) == expected)
        guard case .success(.map(let map))? = expected else {
            Issue.record("nothing was found")
            return
        }
        #expect(map.services.count == 24)
    }

    @Test("finds all descriptors where they are asked for, and else those that a central needs")
    func descriptors() throws {
        guard case .success(.map(let all))? = Self.map(of: .headset(), .all),
            case .success(.map(let needed))? = Self.map(of: .headset(), .configurations)
        else {
            Issue.record("nothing was found")
            return
        }
        #expect(all[.eeg]?.descriptors.map(\.type) == [.clientCharacteristicConfiguration, .short(0x2901)])
        #expect(needed[.eeg]?.descriptors.map(\.type) == [.clientCharacteristicConfiguration])
        for uuid in [BluetoothUUID.serviceChanged, .control, .eeg, .motion] {
            #expect(all[uuid]?.configuration == needed[uuid]?.configuration && needed[uuid]?.configuration != nil)
        }
        #expect(all[.lastOne]?.descriptors == [])
    }

    @Test("finds descriptors with long UUIDs beside short ones")
    func longDescriptors() throws {
        var server = InMemoryServer()
        server.addService(.eegService)
        server.addCharacteristic(.eeg, [.notify])
        server.addDescriptor(.long(.control), [])
        server.addDescriptor(.short(0x2901), [])
        guard case .success(.map(let map))? = Self.map(of: server, .all) else {
            Issue.record("nothing was found")
            return
        }
        #expect(
            map[.eeg]?.descriptors.map(\.type) == [
                .clientCharacteristicConfiguration, .long(.control), .short(0x2901),
            ])
    }

    @Test("takes few round trips: the number of characteristics that notify makes no difference")
    func roundTrips() {
        var few = Conversation(.headset(extraServices: 0))
        var many = Conversation(.headset(extraServices: 20))
        let fewTrips = few.roundTrips { $0.discover() }
        let manyTrips = many.roundTrips { $0.discover() }
        #expect(fewTrips <= 10, "\(few.server.received)")
        #expect(manyTrips - fewTrips <= 3, "\(manyTrips)")
    }

    @Test("finds configurations one by one where they cannot be read by their type")
    func hiddenConfigurations() throws {
        var server = InMemoryServer.headset()
        let expected = Self.map(of: server, .configurations)
        server.defects = [.hidesConfigurations]
        guard case .success(.map(let map))? = Self.map(of: server, .configurations),
            case .success(.map(let plain))? = expected
        else {
            Issue.record("nothing was found")
            return
        }
        for uuid in [BluetoothUUID.serviceChanged, .control, .eeg, .motion] {
            #expect(map[uuid]?.configuration == plain[uuid]?.configuration)
        }
    }

    @Test("finds included services, and asks for the UUID of one that is long")
    func includes() throws {
        var server = InMemoryServer()
        server.addService(.eegService)
        server.addInclude(HandleRange(h(0x10), h(0x1F)), .vendorService)
        server.addInclude(HandleRange(h(0x20), .last), BluetoothUUID(UInt16(0x180F)))
        server.addCharacteristic(.eeg, [.notify])
        server.addService(.vendorService, isPrimary: false, at: h(0x10))
        server.addCharacteristic(.configuration, [.read])
        server.addService(BluetoothUUID(UInt16(0x180F)), isPrimary: false, at: h(0x20))
        server.addCharacteristic(.batteryLevel, [.read], [80])
        guard case .success(.map(let map))? = Self.map(of: server, .all) else {
            Issue.record("nothing was found")
            return
        }
        #expect(map.services.map(\.uuid) == [.eegService, .vendorService, BluetoothUUID(UInt16(0x180F))])
        #expect(map.services.map(\.isPrimary) == [true, false, false])
        #expect(map.services[0].includes == [HandleRange(h(0x10), h(0x1F)), HandleRange(h(0x20), .last)])
        #expect(map.services[1].characteristics.map(\.type.uuid) == [.configuration])
        #expect(map[.batteryLevel] != nil)
        #expect(HandleMap(text: map.text) == map)
    }

    @Test("of a server without attributes finds nothing, and that is a result")
    func nothing() throws {
        var conversation = Conversation(InMemoryServer())
        #expect(try conversation.discover()?.get() == GATTDatabase(characteristics: []))
    }

    @Test("of a server that sends the same again and again ends")
    func repetition() {
        var server = InMemoryServer.headset()
        server.defects = [.repeatsEntries]
        #expect(Self.map(of: server, .all) == .failure(.senselessResponse))
    }

    @Test("ends on the last handle that there is")
    func lastHandle() throws {
        var server = InMemoryServer()
        server.addService(.eegService, at: h(0xFFFC))
        server.addCharacteristic(.eeg, [.notify])
        var conversation = Conversation(server)
        #expect(try conversation.discover()?.get().characteristics.map(\.uuid) == [.eeg])
        #expect(conversation.setNotify(.eeg) == .success(true))
        #expect(conversation.server.configuration(of: .eeg) == [1, 0])
    }
}
