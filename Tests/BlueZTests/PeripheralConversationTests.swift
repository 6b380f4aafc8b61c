import Bluetooth
import Testing

@testable import BlueZ

/// What is said to bluetoothd by a machine that is a peripheral, and what becomes of what it says.
struct PeripheralConversationTests {
    private typealias Script = PeripheralScript

    @Test("publishes before it advertises, and says what it publishes and advertises when it is asked")
    func publishes() throws {
        var script = Script.ready()
        script.request(.publish(Script.characteristics))
        script.request(.startAdvertising(Script.advertisement))
        #expect(script.waiting == ["RegisterApplication"])
        let objects = try #require(try script.ask("GetManagedObjects", at: PublishedObjects.root).get().first?.entries)
        #expect(
            objects.map { $0.key.text } == [
                "/org/eegsync/peripheral/service0", "/org/eegsync/peripheral/service0/char0",
                "/org/eegsync/peripheral/service0/char1",
            ])
        script.reply("RegisterApplication")
        #expect(script.events == [.didUpdateState(.poweredOn), .didPublish(error: nil)])
        #expect(script.calls.map(\.arguments.first?.text) == ["/org/eegsync/peripheral/advertisement1"])
        let advertised = try script.ask("GetAll", of: BlueZInterface.properties, at: script.advertisementPath).get().first
        let name = advertised?.entries?.first { $0.key.text == "LocalName" }
        #expect(name?.value.text == "Muse-1301")
        script.reply("RegisterAdvertisement")
        #expect(script.events.last == .didStartAdvertising(error: nil))
        script.request(.stopAdvertising)
        #expect(script.waiting == ["UnregisterAdvertisement"])
    }

    @Test("says in BlueZ's words what a characteristic can do and what a link must be")
    func flags() {
        let control = Characteristic(service: Script.service, uuid: Script.control, properties: [.read, .write, .notify])
        #expect(PublishedObjects.flags(PublishedCharacteristic(control)) == ["read", "write", "notify"])
        let secured = PublishedObjects.flags(PublishedCharacteristic(control, security: .authenticated))
        #expect(
            secured.suffix(3) == [
                "encrypt-authenticated-read", "encrypt-authenticated-write", "encrypt-authenticated-notify",
            ])
    }

    @Test("hands bluetoothd a socket, sends values through it, and learns of its end from either side")
    func sockets() throws {
        var script = Script.advertising()
        script.connects()
        #expect(script.events == [.didConnect(Script.central)])
        script.callIn("AcquireNotify", at: Script.dataPath, [.options(["mtu": .uint16(247)])])
        #expect(script.others == [.offerSocket(RequestNumber(rawValue: script.lastRequest), Script.data, mtu: 247)])
        #expect(script.events.last == .didSubscribe(Script.data, maximumLength: 244))
        script.others.removeAll()
        script.request(.updateValue([1, 2, 3], of: Script.data))
        #expect(script.others == [.send([1, 2, 3], Script.data)])
        script.change { $0.socketEnded(Script.data) }
        #expect(script.others.last == .closeSocket(Script.data) && script.events.last == .didUnsubscribe(Script.data))
        script.others.removeAll()
        script.request(.updateValue([4], of: Script.data))
        #expect(script.others.isEmpty)
    }

    @Test("offers no socket for values that keep their order: bluetoothd reads sockets in any", arguments: [true, false])
    func order(keepsOrder: Bool) throws {
        var script = Script.ready()
        let data = Characteristic(service: Script.service, uuid: Script.data, properties: [.notify])
        script.request(.publish([PublishedCharacteristic(data, keepsOrder: keepsOrder)]))
        let objects = try #require(try script.ask("GetManagedObjects", at: PublishedObjects.root).get().first?.entries)
        let interfaces = try #require(objects.last?.value.entries)
        let names = try #require(interfaces.first?.value.entries).map(\.key.text)
        #expect(names.contains("UUID") && names.contains("NotifyAcquired") == !keepsOrder)
    }

    @Test("without sockets, values are signals from StartNotify to StopNotify")
    func signals() throws {
        var script = Script.advertising()
        script.connects()
        #expect(try script.ask("StartNotify", of: BlueZInterface.characteristic, at: Script.dataPath).get() == [])
        #expect(script.events.last == .didSubscribe(Script.data, maximumLength: nil))
        script.request(.updateValue([9], of: Script.data))
        guard case .emit(let path, _, "PropertiesChanged", let body) = script.others.last else {
            Issue.record("no signal")
            return
        }
        #expect(path == Script.dataPath && body[1].entries?.first?.value.octets == [9])
        #expect(try script.ask("StopNotify", of: BlueZInterface.characteristic, at: Script.dataPath).get() == [])
        #expect(script.events.last == .didUnsubscribe(Script.data))
    }

    @Test("reads and writes wait for their answers; a long read takes the rest")
    func requests() throws {
        var script = Script.advertising()
        script.connects()
        let options = BusValue.options(["offset": .uint16(2), "device": .objectPath(Script.device)])
        script.callIn("ReadValue", at: Script.controlPath, [options])
        let number = RequestNumber(rawValue: script.lastRequest)
        #expect(script.events.last == .didReceiveRead(number, of: Script.control, from: Script.central))
        #expect(script.others.isEmpty)
        script.request(.respond(number, .success([1, 2, 3, 4])))
        #expect(script.others == [.answer(number, .success([.bytes([3, 4])]))])
        script.request(.respond(number, .success([])))
        #expect(script.others.count == 1)
        script.callIn("WriteValue", at: Script.controlPath, [.bytes([7]), .options(["type": .string("request")])])
        let write = RequestNumber(rawValue: script.lastRequest)
        #expect(script.events.last == .didReceiveWrite(write, [7], to: Script.control, from: nil))
        script.request(.respond(write, .failure(.invalidAttributeValueLength)))
        guard case .answer(write, .failure(let error)) = script.others.last else {
            Issue.record("no answer")
            return
        }
        #expect(error.name == "org.bluez.Error.InvalidValueLength")
    }

    @Test("the parts of a long read are of one value, whatever changes between them, until the value is read anew")
    func longReads() {
        var script = Script.advertising()
        script.connects()
        func read(_ offset: UInt16, by device: String = Script.device, value: [UInt8]) -> PeripheralConversation.Effect? {
            script.callIn(
                "ReadValue", at: Script.controlPath,
                [.options(["offset": .uint16(offset), "device": .objectPath(device)])])
            script.request(.respond(RequestNumber(rawValue: script.lastRequest), .success(value)))
            return script.others.popLast()
        }
        func answer(_ value: [UInt8]) -> PeripheralConversation.Effect {
            .answer(RequestNumber(rawValue: script.lastRequest), .success([.bytes(value)]))
        }
        #expect(read(0, value: [1, 2, 3, 4]) == answer([1, 2, 3, 4]))
        #expect(read(2, value: [9, 9, 9, 9, 9]) == answer([3, 4]))
        // Another phone reads what holds now, and disturbs nobody.
        let other = Script.adapterPath + "/dev_02_AA_01_00_00_43"
        #expect(read(0, by: other, value: [7, 7]) == answer([7, 7]))
        #expect(read(1, by: other, value: [8, 8]) == answer([7]))
        #expect(read(4, value: [9, 9, 9, 9, 9]) == answer([]))
        guard case .answer(_, .failure(let error)) = read(5, value: [9, 9, 9, 9, 9, 9]) else {
            Issue.record("nothing lies behind the end")
            return
        }
        #expect(error.name == "org.bluez.Error.InvalidOffset")
        #expect(read(0, value: [5, 6]) == answer([5, 6]) && read(1, value: [9]) == answer([6]))
        // Whoever comes back has read nothing yet.
        script.changed(BlueZInterface.device, at: Script.device, ["Connected": .boolean(false)])
        script.changed(BlueZInterface.device, at: Script.device, ["Connected": .boolean(true)])
        script.others.removeAll()
        #expect(read(1, value: [3, 2, 1]) == answer([2, 1]))
    }

    @Test("nobody but bluetoothd is answered")
    func strangers() throws {
        var script = Script.advertising()
        for path in [Script.controlPath, PublishedObjects.root] {
            script.callIn("ReadValue", at: path, [.options()], sender: ":1.99")
            let number = RequestNumber(rawValue: script.lastRequest)
            #expect(script.others.popLast() == .answer(number, .failure(PublishedError.onlyBluetoothd)))
        }
        #expect(script.events.isEmpty)
    }

    @Test("a central that leaves takes its subscriptions with it")
    func leaves() {
        var script = Script.advertising()
        script.connects()
        script.callIn("AcquireNotify", at: Script.dataPath, [.options(["mtu": .uint16(100)])])
        script.events.removeAll()
        script.changed(BlueZInterface.device, at: Script.device, ["Connected": .boolean(false)])
        #expect(script.events == [.didUnsubscribe(Script.data), .didDisconnect(Script.central)])
        // The kernel may have stopped to advertise meanwhile.
        #expect(script.waiting == ["UnregisterAdvertisement", "RegisterAdvertisement"])
        #expect(script.others.last == .closeSocket(Script.data))
    }

    @Test("bluetoothd that restarts, and an adapter that was off, get everything again without a word")
    func restores() {
        var script = Script.advertising()
        script.connects()
        script.ownerChanged(from: Script.owner, to: "")
        #expect(script.events.contains(.didDisconnect(Script.central)) && script.events.last == .didUpdateState(.resetting))
        script.ownerChanged(from: "", to: Script.owner)
        script.reply("GetManagedObjects", [Script.objects])
        script.reply("RegisterApplication")
        #expect(script.waiting == ["RegisterAdvertisement"])
        script.reply("RegisterAdvertisement")
        script.changed(BlueZInterface.adapter, at: Script.adapterPath, ["Powered": .boolean(false)])
        #expect(script.waiting == [] && script.events.last == .didUpdateState(.poweredOff))
        script.changed(BlueZInterface.adapter, at: Script.adapterPath, ["Powered": .boolean(true)])
        // The services stay with bluetoothd; of the advertisement nobody knows.
        #expect(script.waiting == ["UnregisterAdvertisement", "RegisterAdvertisement"])
    }

    @Test("while a person wants it, who pairs has to enter what is shown; who proves less is refused")
    func pairing() throws {
        var script = Script.advertising()
        script.request(.openPairing)
        #expect(script.waiting == ["RegisterAgent", "RequestDefaultAgent"])
        #expect(script.calls.first?.arguments.last?.text == "DisplayOnly")
        script.connects()
        let path = PeripheralPairing.agentPath
        for member in ["RequestAuthorization", "RequestConfirmation", "RequestPasskey", "AuthorizeService"] {
            script.callIn(member, of: BlueZInterface.agent, at: path, [.objectPath(Script.device), .uint32(1)])
            guard case .answer(_, .failure) = script.others.popLast() else {
                Issue.record("\(member) is not refused")
                return
            }
        }
        script.callIn(
            "DisplayPasskey", of: BlueZInterface.agent, at: path, [.objectPath(Script.device), .uint32(42), .uint16(0)])
        #expect(script.events.last == .didDisplayPasskey(42, for: Script.central))
        script.changed(BlueZInterface.device, at: Script.device, ["Paired": .boolean(true)])
        #expect(script.events.last == .didPair(Script.central))
        script.calls.removeAll()
        script.request(.closePairing)
        #expect(script.waiting == ["UnregisterAgent"])
        script.changed(BlueZInterface.device, at: Script.device, ["Paired": .boolean(true)])
        #expect(script.events.filter { $0 == .didPair(Script.central) }.count == 1)
    }

    @Test("an adapter that lets nobody pair does so only meanwhile")
    func pairable() {
        var script = Script.advertising()
        script.changed(BlueZInterface.adapter, at: Script.adapterPath, ["Pairable": .boolean(false)])
        script.calls.removeAll()
        script.request(.openPairing)
        #expect(script.calls.last?.arguments.last == .variant(.boolean(true)) && script.waiting.last == "Set")
        script.request(.closePairing)
        #expect(script.calls.last?.arguments.last == .variant(.boolean(false)) && script.waiting.last == "Set")
    }

    @Test("an adapter that lets nobody pair closes by itself where the process is killed, and is then left as it was")
    func pairableTimeout() {
        var script = Script.advertising()
        script.changed(
            BlueZInterface.adapter, at: Script.adapterPath, ["Pairable": .boolean(false), "PairableTimeout": .uint32(30)])
        func settings() -> [[BusValue]] {
            defer { script.calls.removeAll() }
            return script.calls.filter { $0.member == "Set" }.map { Array($0.arguments.dropFirst()) }
        }
        _ = settings()
        script.request(.openPairing)
        let timeout = BusValue.string("PairableTimeout")
        let pairable = BusValue.string("Pairable")
        #expect(settings() == [[timeout, .variant(.uint32(120))], [pairable, .variant(.boolean(true))]])
        script.changed(
            BlueZInterface.adapter, at: Script.adapterPath, ["Pairable": .boolean(true), "PairableTimeout": .uint32(120)])
        script.request(.closePairing)
        #expect(settings() == [[pairable, .variant(.boolean(false))], [timeout, .variant(.uint32(30))]])
        // What always lets devices pair is somebody's wish, and stays so.
        script.request(.openPairing)
        script.request(.closePairing)
        #expect(settings() == [])
    }

    @Test("what bluetoothd refuses is tried again each second")
    func retries() {
        var script = Script.ready()
        script.request(.publish(Script.characteristics))
        script.request(.startAdvertising(Script.advertisement))
        script.fail("RegisterApplication", "org.bluez.Error.Failed")
        #expect(script.events.last == .didPublish(error: "org.bluez.Error.Failed"))
        #expect(script.waiting == [])
        script.pass(.seconds(1))
        #expect(script.waiting == ["RegisterApplication"])
        script.reply("RegisterApplication")
        script.fail("RegisterAdvertisement", "org.bluez.Error.NotPermitted")
        script.pass(.seconds(1))
        #expect(script.waiting == ["RegisterAdvertisement"])
    }
}
