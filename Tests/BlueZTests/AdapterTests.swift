import Bluetooth
import Testing

@testable import BlueZ

/// bluetoothd and the adapter, coming and going.
struct AdapterTests {
    private func starting() -> BluetoothdScript {
        var script = BluetoothdScript()
        script.conversation.busConnected()
        script.collect()
        return script
    }

    @Test("Without bluetoothd the adapter is resetting, and is there as soon as bluetoothd is")
    func startsLater() {
        var script = starting()
        script.fail("GetNameOwner", "org.freedesktop.DBus.Error.NameHasNoOwner", "Could not get owner of name")
        #expect(script.events == [.didUpdateState(.resetting)] && script.calls.isEmpty)
        script.ownerChanged(from: "", to: BluetoothdScript.owner)
        // bluetoothd answers before it has found its adapter.
        script.reply("GetManagedObjects", [.dictionary([], of: "oa{sa{sv}}")])
        #expect(script.events.last == .didUpdateState(.absent))
        script.signal(
            "InterfacesAdded",
            [
                .objectPath(BluetoothdScript.adapterPath),
                BluetoothdScript.interfaces([BlueZInterface.adapter: ["Powered": .boolean(false)]]),
            ])
        #expect(script.events.last == .didUpdateState(.poweredOff))
        script.adapter(["Powered": .boolean(true)])
        #expect(script.events.last == .didUpdateState(.poweredOn))
    }

    @Test(
        "What was unblocked over a restart of bluetoothd is reported, also where the adapter comes late; what is not, is not",
        arguments: [true, false])
    func unblockedBeforeTheAdapterIsThere(isBlocked: Bool) {
        var script = BluetoothdScript.ready(device: ["Blocked": .boolean(true)])
        script.ownerChanged(from: BluetoothdScript.owner, to: "")
        script.ownerChanged(from: "", to: BluetoothdScript.owner)
        script.reply("GetManagedObjects", [.dictionary([], of: "oa{sa{sv}}")])
        script.events.removeAll()
        // Its devices come behind it.
        script.signal(
            "InterfacesAdded",
            [
                .objectPath(BluetoothdScript.adapterPath),
                BluetoothdScript.interfaces([BlueZInterface.adapter: ["Powered": .boolean(true)]]),
            ])
        #expect(script.events == [.didUpdateState(.poweredOn)])
        script.events.removeAll()
        script.reply("GetManagedObjects", [script.objects(device: ["Blocked": .boolean(isBlocked)])])
        let expected: [CentralEvent] = isBlocked ? [] : [.didUnblock(BluetoothdScript.headset)]
        #expect(script.events == expected)
        #expect(script.calls.isEmpty)
    }

    @Test("A bluetoothd that says nothing is asked again")
    func silentAtStart() {
        var script = starting()
        script.reply("GetNameOwner", [.string(BluetoothdScript.owner)])
        script.pass(.seconds(5))
        #expect(script.calls.count == 1)  // The first was given up; the reply to it would come too late.
        script.pass(.seconds(1))
        #expect(script.waiting.filter { $0 == "GetManagedObjects" }.count == 2)
    }

    @Test("A bus that does not say in time who bluetoothd is, as at the start of a slow machine, is asked again")
    func busyBus() {
        var script = starting()
        script.pass(.seconds(5))
        script.calls.removeAll()  // The first was given up; the reply to it would come too late.
        #expect(script.events == [.didUpdateState(.resetting)])
        script.pass(.seconds(1))
        #expect(script.waiting == ["GetNameOwner"])
        script.reply("GetNameOwner", [.string(BluetoothdScript.owner)])
        script.reply("GetManagedObjects", [script.objects(device: [:])])
        #expect(script.events.last == .didUpdateState(.poweredOn))
    }

    @Test("A restart of bluetoothd ends links and requests, and begins anew")
    func restart() {
        var script = BluetoothdScript.ready()
        let attempt = script.attempt()
        script.ask { $0.take(.connect(BluetoothdScript.headset, attempt: attempt)) }
        script.connects()
        script.events.removeAll()
        script.ownerChanged(from: BluetoothdScript.owner, to: "")
        #expect(
            script.events == [
                .didUpdateState(.resetting),
                .didDisconnect(BluetoothdScript.headset, error: .adapterUnavailable(.resetting), attempt: attempt),
            ])
        script.ownerChanged(from: "", to: ":1.10")
        script.reply("GetManagedObjects", [script.objects(device: [:])])
        #expect(script.events.last == .didUpdateState(.poweredOn))
    }

    @Test("An adapter that is off is blocked where the radio switch says so", arguments: [false, true])
    func blocked(isBlocked: Bool) {
        var script = BluetoothdScript(isBlocked: { isBlocked })
        script.conversation.busConnected()
        script.collect()
        script.reply("GetNameOwner", [.string(BluetoothdScript.owner)])
        script.reply("GetManagedObjects", [script.objects(device: nil, adapter: ["Powered": .boolean(false)])])
        #expect(script.events == [.didUpdateState(isBlocked ? .blocked : .poweredOff)])
    }

    @Test("A radio switch that is moved while the adapter is off is noticed at once")
    func blockedWhileOff() {
        final class Switch { var isBlocked = false }
        let radioSwitch = Switch()
        var script = BluetoothdScript(isBlocked: { radioSwitch.isBlocked })
        script.conversation.busConnected()
        script.collect()
        script.reply("GetNameOwner", [.string(BluetoothdScript.owner)])
        script.reply("GetManagedObjects", [script.objects(device: nil, adapter: ["Powered": .boolean(false)])])
        for isBlocked in [true, false] {
            radioSwitch.isBlocked = isBlocked
            script.ask { $0.radioSwitchChanged() }
        }
        #expect(script.events == [.poweredOff, .blocked, .poweredOff].map { .didUpdateState($0) })
    }

    @Test("An adapter that another process has is left alone until that one ends")
    func inUse() {
        final class Lock { var isFree = false }
        let lock = Lock()
        var script = BluetoothdScript(mayUse: { lock.isFree })
        script.conversation.busConnected()
        script.collect()
        script.reply("GetNameOwner", [.string(BluetoothdScript.owner)])
        script.reply("GetManagedObjects", [script.objects(device: nil, adapter: ["Powered": .boolean(true)])])
        #expect(script.events == [.didUpdateState(.inUse)])
        #expect(!script.calls.contains { $0.member == "StartDiscovery" })
        for isFree in [false, true] {
            lock.isFree = isFree
            guard let due = script.conversation.deadline else { break }
            script.ask {
                $0.now = due
                $0.deadlineReached()
            }
            script.reply("GetManagedObjects", [script.objects(device: nil, adapter: ["Powered": .boolean(true)])])
        }
        #expect(script.events == [.inUse, .poweredOn].map { .didUpdateState($0) })
    }

    @Test("An adapter that is never switched on by us")
    func neverPowersOn() {
        var script = BluetoothdScript.ready()
        script.adapter(["Powered": .boolean(false)])
        script.ask { $0.take(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [BluetoothdScript.eeg]))) }
        script.ask { $0.take(.connect(BluetoothdScript.headset, attempt: Attempt.none.next)) }
        #expect(script.calls.isEmpty)
        #expect(script.events.contains(.didFailToScan(.adapterUnavailable(.poweredOff))))
    }

    @Test("An adapter that returns under another number is used as soon as it is on")
    func anotherNumber() {
        var script = BluetoothdScript.ready()
        script.signal(
            "InterfacesRemoved",
            [.objectPath(BluetoothdScript.adapterPath), .array([.string(BlueZInterface.adapter)], of: "s")])
        #expect(script.events.last == .didUpdateState(.absent))
        script.signal(
            "InterfacesAdded",
            [
                .objectPath("/org/bluez/hci3"),
                BluetoothdScript.interfaces([BlueZInterface.adapter: ["Powered": .boolean(true)]]),
            ])
        #expect(script.events.last == .didUpdateState(.poweredOn))
        #expect(script.conversation.adapter.path == "/org/bluez/hci3")
    }

    @Test(
        "Of several adapters the configured one is used, by name or address, else the first that is on",
        arguments: [(nil, "hci1"), ("hci0", "hci0"), ("00:AA:01:00:00:42", "hci2"), ("hci7", nil)] as [(String?, String?)])
    func several(configured: String?, expected: String?) {
        var options = BlueZOptions()
        options.adapter = configured
        var script = BluetoothdScript(options: options)
        script.conversation.busConnected()
        script.collect()
        script.reply("GetNameOwner", [.string(BluetoothdScript.owner)])
        let adapters: [(String, String, Bool)] = [
            ("hci0", "00:AA:01:00:00:40", false), ("hci1", "00:AA:01:00:00:41", true), ("hci2", "00:AA:01:00:00:42", true),
        ]
        let entries = adapters.map { name, address, isPowered in
            BusValue.Entry(
                key: .objectPath("/org/bluez/" + name),
                value: BluetoothdScript.interfaces([
                    BlueZInterface.adapter: ["Address": .string(address), "Powered": .boolean(isPowered)]
                ]))
        }
        script.reply("GetManagedObjects", [.dictionary(entries, of: "oa{sa{sv}}")])
        #expect(script.conversation.adapter.path == expected.map { "/org/bluez/" + $0 })
    }
}
