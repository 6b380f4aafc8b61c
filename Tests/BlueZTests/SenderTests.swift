import Bluetooth
import Testing

@testable import BlueZ

/// Signals from whoever likes to send some: any user of the machine may, to this process alone.
struct SenderTests {
    private typealias Script = BluetoothdScript
    private static let stranger = ":1.66"

    private func connected() -> BluetoothdScript {
        var script = Script.ready()
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.connects()
        script.events.removeAll()
        return script
    }

    @Test("Only the bus is believed that bluetoothd has gone", arguments: [stranger, Script.owner, "org.bluez", ""])
    func forgedEnd(sender: String) {
        var script = connected()
        script.ownerChanged(from: Script.owner, to: "", sender: sender)
        #expect(script.events.isEmpty && script.calls.isEmpty && script.conversation.adapter.state == .poweredOn)
        script.ownerChanged(from: Script.owner, to: "")
        #expect(script.conversation.adapter.state == .resetting)
    }

    @Test("Nobody becomes bluetoothd by saying so")
    func forgedOwner() {
        var script = connected()
        script.ownerChanged(from: Script.owner, to: Self.stranger, sender: Self.stranger)
        #expect(script.events.isEmpty && script.calls.isEmpty)
        script.ownerChanged(from: Script.owner, to: ":1.10")
        script.reply("GetManagedObjects", [script.objects(device: [:])])
        script.events.removeAll()
        // The words of the one before it count no more than anybody else's.
        let adapter: [BusValue] = [.objectPath(Script.adapterPath), .array([.string(BlueZInterface.adapter)], of: "s")]
        script.signal("InterfacesRemoved", adapter)
        #expect(script.events.isEmpty)
    }

    @Test("Only bluetoothd is believed about its objects")
    func forgedObjects() {
        var script = connected()
        for (interface, path, property) in [
            (BlueZInterface.device, Script.devicePath, "Connected"),
            (BlueZInterface.adapter, Script.adapterPath, "Powered"),
        ] {
            let body: [BusValue] = [.string(interface), Script.dictionary([property: .boolean(false)]), .array([], of: "s")]
            script.signal("PropertiesChanged", at: path, from: Self.stranger, body)
        }
        let headset: [BusValue] = [.objectPath(Script.devicePath), .array([.string(BlueZInterface.device)], of: "s")]
        script.signal("InterfacesRemoved", from: Self.stranger, headset)
        #expect(script.events.isEmpty)
        let other = PeripheralIdentifier(address: 0xC000_0000_1002, type: .random)
        let properties = Script.deviceProperties(["Address": .string("C0:00:00:00:10:02"), "Connected": .boolean(true)])
        let path = BusValue.objectPath(Script.adapterPath + "/dev_C0_00_00_00_10_02")
        script.signal(
            "InterfacesAdded", from: Self.stranger, [path, Script.interfaces([BlueZInterface.device: properties])])
        #expect(script.conversation.adapter.device(other) == nil)
        script.device(["Connected": .boolean(false)])
        #expect(script.events.count == 1)
    }

    @Test("What comes before anybody knows who bluetoothd is counts for nothing")
    func early() {
        var script = BluetoothdScript()
        script.conversation.busConnected()
        script.collect()
        script.signal(
            "InterfacesAdded", from: "",
            [.objectPath(Script.adapterPath), Script.interfaces([BlueZInterface.adapter: ["Powered": .boolean(true)]])])
        #expect(script.events.isEmpty && script.conversation.adapter.objects.paths(with: BlueZInterface.adapter).isEmpty)
    }
}
