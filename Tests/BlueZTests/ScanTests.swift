import Bluetooth
import Testing

@testable import BlueZ

/// The scan, and the pairing agent.
struct ScanTests {
    private typealias Script = BluetoothdScript
    private let filter = ScanFilter(serviceUUIDs: [BluetoothdScript.eeg])

    private func scanning(_ filter: ScanFilter? = nil) -> BluetoothdScript {
        var script = Script.ready()
        script.ask { $0.take(.scanForPeripherals(matching: filter ?? self.filter)) }
        script.reply("SetDiscoveryFilter")
        script.reply("StartDiscovery")
        script.events.removeAll()
        return script
    }

    @Test("No scan lets bluetoothd filter by services, of which 5.87 crashes")
    func filters() {
        for filter in [filter, ScanFilter(serviceUUIDs: [Script.eeg], namePrefixes: ["Hermes"])] {
            var script = Script.ready()
            script.ask { $0.take(.scanForPeripherals(matching: filter)) }
            let entries = script.calls.first?.arguments.first?.entries ?? []
            #expect(entries.map(\.key) == [.string("Transport"), .string("DuplicateData")])
            #expect(entries.first?.value == .variant(.string("le")))
        }
    }

    @Test("An advertisement of a known headset is told, however long bluetoothd has known it")
    func known() {
        var script = scanning()
        script.device(["RSSI": .int16(-61)])
        guard case .didDiscover(Script.headset, let advertisement, -61)? = script.events.last else {
            Issue.record("not discovered: \(script.events)")
            return
        }
        #expect(advertisement.serviceUUIDs == [Script.eeg])
    }

    @Test("What does not match, is connected, or was only remembered is not told")
    func others() {
        var script = scanning(ScanFilter(serviceUUIDs: [Script.control]))
        script.device(["RSSI": .int16(-61)])
        #expect(script.events.isEmpty)
        var connected = scanning()
        connected.device(["Connected": .boolean(true)])
        connected.device(["RSSI": .int16(-61)])
        connected.device(["Alias": .string("left")])
        #expect(connected.events.isEmpty)
    }

    @Test("A filter without rules reports nothing")
    func noRules() {
        var script = scanning(ScanFilter())
        script.device(["RSSI": .int16(-61)])
        #expect(script.events.isEmpty)
    }

    @Test("A scan that ends with the adapter is told once, and is not begun again by itself")
    func endsWithAdapter() {
        var script = scanning()
        script.adapter(["Powered": .boolean(false), "Discovering": .boolean(false)])
        #expect(
            script.events == [.didUpdateState(.poweredOff), .didFailToScan(.adapterUnavailable(.poweredOff))])
        script.adapter(["Powered": .boolean(true)])
        #expect(script.events.last == .didUpdateState(.poweredOn) && script.waiting.isEmpty)
    }

    @Test("Start, stop and a new filter never overlap, and end as was wished last")
    func order() {
        var script = Script.ready()
        script.ask { $0.take(.scanForPeripherals(matching: filter)) }
        script.ask { $0.take(.stopScan) }
        script.ask { $0.take(.scanForPeripherals(matching: filter)) }
        script.ask { $0.take(.stopScan) }
        #expect(script.waiting == ["SetDiscoveryFilter"])
        script.reply("SetDiscoveryFilter")
        script.reply("StartDiscovery")
        #expect(script.waiting == ["StopDiscovery"])
        script.ask { $0.take(.scanForPeripherals(matching: filter)) }
        #expect(script.waiting == ["StopDiscovery"])
        script.reply("StopDiscovery")
        #expect(script.waiting == ["SetDiscoveryFilter"])
    }

    @Test("A discovery that ends by itself is started again after a pause")
    func endsByItself() {
        var script = scanning()
        script.adapter(["Discovering": .boolean(true)])
        script.adapter(["Discovering": .boolean(false)])
        #expect(script.calls.isEmpty)
        script.pass(.milliseconds(250))
        #expect(script.waiting == ["SetDiscoveryFilter"])
        script.reply("SetDiscoveryFilter")
        // It was only restarted by bluetoothd itself.
        script.fail("StartDiscovery", "org.bluez.Error.InProgress", "Operation already in progress")
        #expect(script.conversation.scan.isRunning && script.events.isEmpty)
    }

    @Test("A discovery begins anew with each connect, for the kernel does not connect to what it has found before")
    func yieldsToConnect() {
        var script = scanning()
        script.device(["RSSI": .int16(-61)])
        script.ask { $0.take(.connect(Script.headset, attempt: Attempt.none.next)) }
        #expect(script.waiting == ["StopDiscovery", "Connect"])
        // bluetoothd says both.
        script.adapter(["Discovering": .boolean(false)])
        script.reply("StopDiscovery")
        #expect(script.waiting == ["Connect", "SetDiscoveryFilter"])
        script.reply("SetDiscoveryFilter")
        script.reply("StartDiscovery")
        #expect(script.waiting == ["Connect"] && script.conversation.scan.isRunning)
    }

    @Test("A discovery that is about to begin when a connect does begins anew, and one that is not wanted any more ends")
    func yieldsWhileStarting() {
        for isWanted in [true, false] {
            var script = Script.ready()
            script.ask { $0.take(.scanForPeripherals(matching: filter)) }
            script.reply("SetDiscoveryFilter")
            script.ask { $0.take(.connect(Script.headset, attempt: Attempt.none.next)) }
            if !isWanted { script.ask { $0.take(.stopScan) } }
            #expect(script.waiting == ["StartDiscovery", "Connect"])
            script.reply("StartDiscovery")
            #expect(script.waiting == ["Connect", "StopDiscovery"])
            script.reply("StopDiscovery")
            #expect(script.waiting == (isWanted ? ["Connect", "SetDiscoveryFilter"] : ["Connect"]))
        }
    }

    @Test("A scan that cannot start is told")
    func fails() {
        var script = Script.ready()
        script.ask { $0.take(.scanForPeripherals(matching: filter)) }
        script.reply("SetDiscoveryFilter")
        script.fail("StartDiscovery", "org.bluez.Error.NotReady", "Resource Not Ready")
        #expect(script.events.last == .didFailToScan(.adapterUnavailable(.poweredOff)))
    }

    @Test("A paired headset of Bluetooth Classic is told of, under its classic address, where that is asked for")
    func serialPort() {
        let paired: [String: BusValue] = [
            "AddressType": .string("public"), "Paired": .boolean(true), "Name": .string("MindWave Mobile"),
            "UUIDs": .array([.string(BluetoothUUID.serialPort.fullDescription)], of: "s"),
        ]
        let filter = ScanFilter(namePrefixes: ["MindWave"])
        let stranger = paired.merging(["Paired": .boolean(false)]) { $1 }
        for (isWanted, device) in [(true, paired), (false, paired), (true, stranger)] {
            var options = BlueZOptions()
            options.reportsSerialPorts = isWanted
            var script = Script.ready(options: options, device: device)
            script.ask { $0.take(.scanForPeripherals(matching: filter)) }
            script.reply("SetDiscoveryFilter")
            script.reply("StartDiscovery")
            let found = script.events.compactMap { event -> PeripheralIdentifier? in
                if case .didDiscover(let identifier, _, 127) = event { identifier } else { nil }
            }
            let expected = [PeripheralIdentifier(address: Script.headset.address, type: .classic)]
            #expect(found == (isWanted && device == paired ? expected : []))
        }
    }

    // MARK: The agent

    private func ask(
        _ member: String, of path: String, options: BlueZOptions, sender: String = Script.owner
    ) -> Result<[BusValue], BusError> {
        var script = Script.ready(options: options)
        script.ask { $0.take(.connect(Script.headset, attempt: Attempt.none.next)) }
        let call = IncomingCall(
            sender: sender, path: BlueZPairing.agentPath, interface: BlueZInterface.agent, member: member,
            arguments: [.objectPath(path)])
        return script.conversation.answer(call)
    }

    @Test("The passkey of the configuration is given for the headset that it belongs to, and for no other device")
    func passkey() {
        var options = BlueZOptions()
        options.passkeys = [Passkey(value: 4711, identifiers: [Script.headset])]
        #expect(ask("RequestPasskey", of: Script.devicePath, options: options) == .success([.uint32(4711)]))
        #expect(ask("RequestConfirmation", of: Script.devicePath, options: options) == .success([]))
        guard case .failure(let error) = ask("RequestPasskey", of: "/org/bluez/hci0/dev_1", options: options) else {
            Issue.record("a stranger was given the passkey")
            return
        }
        #expect(error.name == "org.bluez.Error.Rejected")
    }

    @Test("A headset of Bluetooth Classic gets the PIN of the configuration, with four digits, or else the usual one")
    func pin() {
        // bluetoothd calls its address public; only the address itself counts.
        let port = PeripheralIdentifier(address: Script.headset.address, type: .classic)
        var options = BlueZOptions()
        options.serialPorts = [port]
        #expect(ask("RequestPinCode", of: Script.devicePath, options: options) == .success([.string("0000")]))
        options.passkeys = [Passkey(value: 42, identifiers: [port])]
        #expect(ask("RequestPinCode", of: Script.devicePath, options: options) == .success([.string("0042")]))
        guard case .failure = ask("RequestPasskey", of: Script.devicePath, options: options) else {
            Issue.record("a headset without a display was given a passkey")
            return
        }
    }

    @Test("Nobody but bluetoothd is told a passkey")
    func passkeyOfSomebodyElse() {
        var options = BlueZOptions()
        options.passkeys = [Passkey(value: 4711, identifiers: [Script.headset])]
        guard case .failure(let error) = ask("RequestPasskey", of: Script.devicePath, options: options, sender: ":1.66") else {
            Issue.record("another program was told the passkey")
            return
        }
        #expect(error.name == "org.freedesktop.DBus.Error.AccessDenied")
    }

    @Test("Without a passkey in the configuration none is invented")
    func noPasskey() {
        guard case .failure = ask("RequestPasskey", of: Script.devicePath, options: BlueZOptions()) else {
            Issue.record("a passkey was invented")
            return
        }
    }
}
