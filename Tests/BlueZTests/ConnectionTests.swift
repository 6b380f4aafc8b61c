import Bluetooth
import Testing

@testable import BlueZ

/// Connections, and everything that bluetoothd is known to do to them.
struct ConnectionTests {
    private typealias Script = BluetoothdScript

    private func connected(resolved: Bool = false) -> (BluetoothdScript, Attempt) {
        var script = Script.ready(resolved: resolved)
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.connects()
        script.events.removeAll()
        return (script, attempt)
    }

    // MARK: Layers

    @Test(
        "Restoration finds the connected headset, with its services where bluetoothd still knows them",
        arguments: [false, true])
    func restoration(isResolved: Bool) {
        var script = Script.ready(
            device: ["Connected": .boolean(true), "ServicesResolved": .boolean(isResolved)], resolved: true)
        script.events.removeAll()
        let attempt = script.attempt()
        script.ask { $0.take(.restoreState(identifiers: [Script.headset], services: [], attempt: attempt)) }
        guard case .willRestoreState(let restored, attempt)? = script.events.first, let headset = restored.first else {
            Issue.record("nothing was restored: \(script.events)")
            return
        }
        #expect(headset.isConnected && headset.identifier == Script.headset && headset.notifying.isEmpty)
        #expect((headset.database != nil) == isResolved)
        // The link counts as ours now: its end is told.
        script.device(["Connected": .boolean(false)])
        #expect(script.events.last == .didDisconnect(Script.headset, error: .linkLost, attempt: .none))
    }

    @Test("A headset that bluetoothd has forgotten is left to the next layer")
    func evicted() {
        var script = Script.ready(device: nil)
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        #expect(script.events.last == .didFailToConnect(Script.headset, error: .unknownPeripheral, attempt: attempt))
        #expect(script.calls.isEmpty)
    }

    @Test("Service retrieval finds what another program has connected, by its services alone")
    func retrieval() {
        var script = Script.ready(device: ["Connected": .boolean(true)])
        let attempt = script.attempt()
        script.ask { $0.take(.retrieveConnectedPeripherals(withServices: [Script.eeg], attempt: attempt)) }
        #expect(script.events.last == .didRetrieveConnected([Script.headset], attempt: attempt))
        script.ask { $0.take(.retrieveConnectedPeripherals(withServices: [Script.control], attempt: attempt)) }
        #expect(script.events.last == .didRetrieveConnected([], attempt: attempt))
    }

    // MARK: Connecting

    @Test("After 40 s without the headset bluetoothd gives up, and the next layer is tried")
    func timeOut() {
        var script = Script.ready()
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.fail("Connect", "org.bluez.Error.Failed", "le-connection-abort-by-local")
        #expect(script.events.last == .didFailToConnect(Script.headset, error: .connectionTimedOut, attempt: attempt))
    }

    @Test(
        "A connect of a dead process that leads to nothing is cleared away: wait, disconnect, wait, remove the device, scan",
        arguments: [("org.bluez.Error.InProgress", "In Progress"), ("org.bluez.Error.Failed", "Operation already in progress")])
    func stuckInProgress(name: String, message: String) {
        var script = Script.ready()
        let attempt = script.attempt()
        script.events.removeAll()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.fail("Connect", name, message)
        #expect(script.waiting.isEmpty)
        script.pass(.seconds(10))
        #expect(script.waiting == ["Disconnect"])
        script.reply("Disconnect")
        #expect(script.waiting.isEmpty)
        script.pass(.milliseconds(100))
        #expect(script.waiting == ["Connect"])
        script.fail("Connect", name, message)
        #expect(script.waiting.isEmpty)
        script.pass(.milliseconds(500))
        #expect(script.waiting == ["Connect"])
        script.fail("Connect", name, message)
        #expect(script.waiting == ["RemoveDevice"])
        script.signal(
            "InterfacesRemoved",
            [.objectPath(Script.devicePath), .array([.string(BlueZInterface.device)], of: "s")])
        script.reply("RemoveDevice")
        #expect(script.events == [.didFailToConnect(Script.headset, error: .unknownPeripheral, attempt: attempt)])
    }

    @Test("What bluetoothd calls a success, without a link, is none: the adapter was switched off under the connect")
    func switchedOffUnderConnect() {
        var script = Script.ready()
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.events.removeAll()
        script.reply("Connect")
        #expect(script.events.isEmpty)
        script.adapter(["Powered": .boolean(false)])
        #expect(
            script.events == [
                .didUpdateState(.poweredOff),
                .didFailToConnect(Script.headset, error: .adapterUnavailable(.poweredOff), attempt: attempt),
            ])
    }

    @Test("A link that bluetoothd never signals, because its ATT socket was faster than the kernel's word, is asked for")
    func neverSignalled() {
        var script = Script.ready()
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.reply("Connect")
        #expect(script.waiting == ["GetAll"])
        script.reply("GetAll", [BluetoothdScript.dictionary(Script.deviceProperties(["Connected": .boolean(true)]))])
        #expect(script.events.last == .didConnect(Script.headset, attempt: attempt))
        script.device(["Connected": .boolean(false)])
        #expect(script.events.last == .didDisconnect(Script.headset, error: .linkLost, attempt: attempt))
    }

    @Test(
        "bluetoothd's reply that a headset is connected may come before the signal, but not without it",
        arguments: [true, false])
    func replyBeforeSignal(isFollowed: Bool) {
        var script = Script.ready()
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.events.removeAll()
        script.reply("Connect")
        if isFollowed { script.device(["Connected": .boolean(true)]) }
        script.pass(.milliseconds(500))
        if isFollowed {
            #expect(script.events == [.didConnect(Script.headset, attempt: attempt)])
        } else {
            #expect(script.events.map(\.isConnectFailure) == [true])
        }
    }

    @Test("A connect of a dead process is as good as our own: the link that it leads to is taken")
    func joined() {
        var script = Script.ready()
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.fail("Connect", "org.bluez.Error.Failed", "Operation already in progress")
        script.device(["Connected": .boolean(true)])
        #expect(script.events.last == .didConnect(Script.headset, attempt: attempt))
        #expect(script.calls.isEmpty)
    }

    @Test("Of devices that come and go no more is remembered than of those that are there, and of those not without end")
    func strangers() {
        var script = Script.ready()
        let paths = (0..<300).map { Script.adapterPath + "/dev_C0_00_00_00_20_\($0)" }
        for (index, path) in paths.enumerated() {
            let identifier = PeripheralIdentifier(address: 0xC000_0000_0000 + UInt64(index), type: .random)
            let properties = Script.deviceProperties(["Address": .string(identifier.addressDescription)])
            script.signal(
                "InterfacesAdded", [.objectPath(path), Script.interfaces([BlueZInterface.device: properties])])
            let attempt = script.attempt()
            script.ask { $0.take(.connect(identifier, attempt: attempt)) }
            script.fail("Connect", "org.bluez.Error.InProgress", "In Progress")
        }
        #expect(script.conversation.links.stuck.count == BlueZLinks.stuckLimit)
        script.pass(.seconds(10))
        while script.waiting.contains("Disconnect") {
            script.reply("Disconnect")
            script.pass(.milliseconds(100))
        }
        #expect(script.conversation.links.settling.count <= 1)
        for path in paths {
            script.signal("InterfacesRemoved", [.objectPath(path), .array([.string(BlueZInterface.device)], of: "s")])
        }
        #expect(script.conversation.links.stuck.isEmpty)
    }

    /// Cancels whatever there is; the attempt of the cancel.
    @discardableResult
    private func cancel(_ script: inout BluetoothdScript) -> Attempt {
        let attempt = script.attempt()
        script.ask { $0.take(.cancelPeripheralConnection(Script.headset, attempt: attempt)) }
        return attempt
    }

    @Test("Where there is nothing to cancel, the cancel is answered at once")
    func cancelNothing() {
        var script = Script.ready()
        let cancel = cancel(&script)
        #expect(script.events.last == .didDisconnect(Script.headset, error: nil, attempt: cancel))
    }

    @Test("A cancel that the loss of the link has answered is not answered again by bluetoothd's reply")
    func cancelDuringLoss() {
        var (script, _) = connected()
        let cancel = cancel(&script)
        script.device(["Connected": .boolean(false)])
        script.reply("Disconnect")
        #expect(script.events == [.didDisconnect(Script.headset, error: nil, attempt: cancel)])
    }

    @Test("A cancel is answered although a connect follows before bluetoothd has closed the link")
    func connectDuringCancel() {
        var (script, _) = connected()
        let cancel = cancel(&script)
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.reply("Disconnect")
        #expect(script.events == [.didDisconnect(Script.headset, error: nil, attempt: cancel)])
    }

    @Test("A connect that follows a cancel at once begins without notifications")
    func connectDuringCancelOfSubscribed() {
        var options = BlueZOptions()
        options.startNotify = [Script.headset]
        let up: [String: BusValue] = [
            "Connected": .boolean(true), "ServicesResolved": .boolean(true), "Trusted": .boolean(true),
        ]
        var script = Script.ready(options: options, device: up, resolved: true)
        script.ask { $0.take(.restoreState(identifiers: [Script.headset], services: [], attempt: Attempt.none)) }
        for _ in 0..<2 {
            let attempt = script.attempt()
            script.ask { $0.take(.setNotifyValue(true, for: Script.eeg, on: Script.headset, attempt: attempt)) }
            #expect(script.waiting == ["StartNotify"])
            script.reply("StartNotify")
            script.ask { $0.take(.cancelPeripheralConnection(Script.headset, attempt: attempt)) }
            script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
            script.device(["Connected": .boolean(false)])
            script.reply("Disconnect")
            script.connects()
        }
    }

    @Test("Another program's link can be cancelled, too")
    func cancelForeign() {
        var script = Script.ready(device: ["Connected": .boolean(true)])
        script.events.removeAll()
        let cancel = cancel(&script)
        #expect(script.events.isEmpty)
        script.reply("Disconnect")
        #expect(script.events == [.didDisconnect(Script.headset, error: nil, attempt: cancel)])
    }

    @Test("A link is closed once, though bluetoothd says it twice: by its reply and by the signal after it")
    func closedOnce() {
        var (script, _) = connected()
        let first = cancel(&script)
        let second = cancel(&script)
        script.reply("Disconnect")
        script.reply("Disconnect")
        script.device(["Connected": .boolean(false)])
        #expect(
            script.events == [
                .didDisconnect(Script.headset, error: nil, attempt: first),
                .didDisconnect(Script.headset, error: nil, attempt: second),
            ])
        #expect(script.conversation.links.isEmpty)
    }

    // MARK: Losing

    @Test("A lost link is told with the attempt that had connected it")
    func lost() {
        var (script, attempt) = connected()
        script.device(["Connected": .boolean(false)])
        #expect(script.events == [.didDisconnect(Script.headset, error: .linkLost, attempt: attempt)])
    }

    @Test("A block by a person is told as one, and so is its end")
    func blocked() {
        var (script, attempt) = connected()
        script.device(["Blocked": .boolean(true)])
        script.device(["Connected": .boolean(false)])
        #expect(script.events == [.didDisconnect(Script.headset, error: .peripheralBlocked, attempt: attempt)])
        let next = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: next)) }
        #expect(script.events.last == .didFailToConnect(Script.headset, error: .peripheralBlocked, attempt: next))
        script.device(["Blocked": .boolean(false)])
        #expect(script.events.last == .didUnblock(Script.headset))
    }

    @Test("A blocked device that bluetoothd forgets is blocked no more, now or over a restart of it")
    func forgottenBlock() {
        var removed = Script.ready(device: ["Blocked": .boolean(true)])
        removed.signal(
            "InterfacesRemoved", [.objectPath(Script.devicePath), .array([.string(BlueZInterface.device)], of: "s")])
        #expect(removed.events == [.didUpdateState(.poweredOn), .didUnblock(Script.headset)])
        for (isBlocked, expected) in [(true, []), (false, [CentralEvent.didUnblock(Script.headset)])] {
            var restarted = Script.ready(device: ["Blocked": .boolean(true)])
            restarted.ownerChanged(from: Script.owner, to: "")
            restarted.ownerChanged(from: "", to: Script.owner)
            restarted.events.removeAll()
            restarted.reply("GetManagedObjects", [restarted.objects(device: ["Blocked": .boolean(isBlocked)])])
            #expect(restarted.events.filter { if case .didUnblock = $0 { true } else { false } } == expected)
        }
    }

    @Test("A blocked device that is gone when all objects are loaded anew is blocked no more")
    func forgottenBetween() {
        var (script, _) = connected()
        let other = PeripheralIdentifier(address: 0xC000_0000_2001, type: .random)
        let path = Script.adapterPath + "/dev_C0_00_00_00_20_01"
        let properties = Script.deviceProperties(["Address": .string("C0:00:00:00:20:01"), "Blocked": .boolean(true)])
        script.signal("InterfacesAdded", [.objectPath(path), Script.interfaces([BlueZInterface.device: properties])])
        let attempt = script.attempt()
        script.ask { $0.take(.discoverServices(on: Script.headset, attempt: attempt)) }
        let up: [String: BusValue] = ["Connected": .boolean(true), "ServicesResolved": .boolean(true)]
        script.device(up)
        script.reply("GetManagedObjects", [script.objects(device: up)])
        #expect(script.events == [.didUnblock(other)])
        script.signal("InterfacesRemoved", [.objectPath(path), .array([.string(BlueZInterface.device)], of: "s")])
        #expect(script.events == [.didUnblock(other)])
    }

    @Test("A device whose object vanishes is lost, or unknown where it was only being connected to")
    func vanished() {
        let removal: [BusValue] = [
            .objectPath(Script.devicePath), .array([.string(BlueZInterface.device)], of: "s"),
        ]
        var (script, attempt) = connected()
        script.signal("InterfacesRemoved", removal)
        #expect(script.events == [.didDisconnect(Script.headset, error: .linkLost, attempt: attempt)])
        var pending = Script.ready()
        let next = pending.attempt()
        pending.ask { $0.take(.connect(Script.headset, attempt: next)) }
        pending.signal("InterfacesRemoved", removal)
        #expect(pending.events.last == .didFailToConnect(Script.headset, error: .unknownPeripheral, attempt: next))
    }

    // MARK: Services

    @Test("Resolved services whose objects are not there yet are asked for until they are")
    func resolvedTooEarly() {
        var (script, _) = connected()
        let attempt = script.attempt()
        script.ask { $0.take(.discoverServices(on: Script.headset, attempt: attempt)) }
        #expect(script.calls.isEmpty)
        script.device(["Connected": .boolean(true), "ServicesResolved": .boolean(true)])
        let up: [String: BusValue] = ["Connected": .boolean(true), "ServicesResolved": .boolean(true)]
        script.reply("GetManagedObjects", [script.objects(device: up)])
        #expect(script.events.isEmpty)
        script.pass(.milliseconds(50))
        script.reply("GetManagedObjects", [script.objects(device: up, hasCharacteristics: true)])
        guard case .didDiscoverServices(_, .success(let database), attempt)? = script.events.last else {
            Issue.record("no services: \(script.events)")
            return
        }
        #expect(database.characteristics.map(\.uuid) == [Script.eeg, Script.control])
        #expect(database[Script.eeg]?.properties == [.notify])
        // As bluetoothd names its objects; it tells of the descriptor of the first.
        #expect(
            database.characteristics.map(\.handles) == [
                Characteristic.Handles(service: 0x10, declaration: 0x11, value: 0x12, clientConfiguration: 0x13),
                Characteristic.Handles(service: 0x10, declaration: 0x14, value: 0x15),
            ])
    }

    @Test("Connected without services, because another program owns the ATT channel, is told as that")
    func foreignChannel() {
        var script = Script.ready(device: ["Connected": .boolean(true)])
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.connects()
        let discovery = script.attempt()
        script.ask { $0.take(.discoverServices(on: Script.headset, attempt: discovery)) }
        script.pass(.milliseconds(2000))
        #expect(
            script.events.last
                == .didDiscoverServices(Script.headset, result: .failure(.channelBusy), attempt: discovery))
    }

    @Test("A characteristic that vanishes from a headset that stays voids what is known of its services")
    func serviceChanged() {
        var script = Script.ready(
            device: ["Connected": .boolean(true), "ServicesResolved": .boolean(true)], resolved: true)
        script.ask { $0.take(.restoreState(identifiers: [Script.headset], services: [], attempt: Attempt.none.next)) }
        script.signal(
            "InterfacesRemoved",
            [.objectPath(Script.eegPath), .array([.string(BlueZInterface.characteristic)], of: "s")])
        #expect(script.events.last == .didModifyServices(Script.headset))
    }
}

extension CentralEvent {
    fileprivate var isConnectFailure: Bool {
        if case .didFailToConnect = self { true } else { false }
    }
}
