import Bluetooth
import Testing

@testable import BlueZ

/// A radio that hangs.
struct RadioTests {
    private typealias Script = BluetoothdScript

    /// A headset that is connected and says nothing, and a link that cannot be closed.
    private func hanging(recovers: Bool) -> BluetoothdScript {
        var options = BlueZOptions()
        options.recoversAdapter = recovers
        var script = Script.ready(options: options)
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        script.connects()
        let cancel = script.attempt()
        script.ask { $0.take(.cancelPeripheralConnection(Script.headset, attempt: cancel)) }
        script.pass(.seconds(10))
        // It was given up; the answer would come too late.
        script.calls.removeAll()
        script.events.removeAll()
        return script
    }

    @Test("A radio that does nothing of what it is told for two minutes is reported, once, and left alone")
    func reported() {
        var script = hanging(recovers: false)
        script.pass(.seconds(119))
        #expect(script.events.isEmpty)
        script.pass(.seconds(1))
        #expect(script.events == [.didNoticeHungRadio(isRecovering: false)])
        #expect(script.calls.isEmpty)
        script.pass(.seconds(500))
        #expect(script.events.count == 1)
    }

    @Test("Only with the operator's leave is it switched off and on again")
    func recovered() {
        var script = hanging(recovers: true)
        script.pass(.seconds(120))
        #expect(script.events == [.didNoticeHungRadio(isRecovering: true)])
        #expect(script.calls.map(\.arguments.last) == [.variant(.boolean(false))])
        script.reply("Set")
        #expect(script.calls.map(\.arguments.last) == [.variant(.boolean(true))])
    }

    @Test("What was switched off so is switched on again, however often that fails, and whatever bluetoothd does meanwhile")
    func recoveredInTheEnd() {
        var script = hanging(recovers: true)
        script.pass(.seconds(120))
        script.reply("Set")
        script.adapter(["Powered": .boolean(false)])
        for _ in 0..<3 {
            script.fail("Set", "org.bluez.Error.Busy", "")
            #expect(script.calls.isEmpty)
            script.pass(.seconds(10))
            #expect(script.calls.map(\.arguments.last) == [.variant(.boolean(true))])
        }
        script.calls.removeAll()
        script.ownerChanged(from: Script.owner, to: "")
        script.ownerChanged(from: "", to: Script.owner)
        script.reply("GetManagedObjects", [script.objects(device: [:], adapter: ["Powered": .boolean(false)])])
        script.calls.removeAll()
        script.pass(.seconds(10))
        #expect(script.calls.map(\.arguments.last) == [.variant(.boolean(true))])
        script.reply("Set")
        script.adapter(["Powered": .boolean(true)])
        script.calls.removeAll()
        // From now on it is a person's.
        script.adapter(["Powered": .boolean(false)])
        script.pass(.seconds(100))
        #expect(script.calls.isEmpty)
    }

    /// One that is off, and could not be switched on.
    private func leftOff(beside other: Bool?) -> BluetoothdScript {
        var script = hanging(recovers: true)
        if let other {
            let adapter = Script.interfaces([BlueZInterface.adapter: ["Powered": .boolean(other)]])
            script.signal("InterfacesAdded", [.objectPath("/org/bluez/hci1"), adapter])
        }
        script.pass(.seconds(120))
        script.adapter(["Powered": .boolean(false)])
        script.reply("Set")
        script.fail("Set", "org.bluez.Error.Busy", "")
        script.calls.removeAll()
        return script
    }

    @Test("Once it is on, however late and through whom, it is a person's whether it stays so", arguments: [false, true])
    func onByItself(isRestarted: Bool) {
        var script = leftOff(beside: nil)
        script.pass(.seconds(3))
        if isRestarted {
            script.ownerChanged(from: Script.owner, to: "")
            script.ownerChanged(from: "", to: Script.owner)
            script.reply("GetManagedObjects", [script.objects(device: [:])])
        } else {
            script.adapter(["Powered": .boolean(true)])
        }
        script.pass(.seconds(2))
        script.adapter(["Powered": .boolean(false)])
        script.calls.removeAll()
        script.pass(.seconds(100))
        #expect(script.calls.isEmpty)
    }

    @Test("Another adapter, which a person keeps off, is not switched on in the stead of one that was pulled out")
    func pulledOut() {
        var script = leftOff(beside: false)
        script.signal(
            "InterfacesRemoved",
            [.objectPath(Script.adapterPath), .array([.string(BlueZInterface.adapter)], of: "s")])
        script.pass(.seconds(100))
        #expect(script.conversation.adapter.path == "/org/bluez/hci1")
        #expect(script.calls.isEmpty)
    }

    @Test("It is not left off because another adapter is in use meanwhile")
    func anotherInUse() {
        var script = leftOff(beside: true)
        #expect(script.conversation.adapter.path == "/org/bluez/hci1")
        script.pass(.seconds(10))
        #expect(script.calls.map(\.path) == [Script.adapterPath])
        #expect(script.calls.map(\.arguments.last) == [.variant(.boolean(true))])
    }

    @Test("A sign of life ends the suspicion")
    func alive() {
        var script = hanging(recovers: true)
        script.device(["RSSI": .int16(-50)])
        script.pass(.seconds(1000))
        #expect(script.events.isEmpty)
    }

    @Test("One that a person has switched off, or that went with bluetoothd, is not suspected any more: nothing switches it on")
    func switchedOff() {
        var off = hanging(recovers: true)
        off.adapter(["Powered": .boolean(false)])
        off.pass(.seconds(1000))
        #expect(!off.events.contains(.didNoticeHungRadio(isRecovering: true)) && off.calls.isEmpty)
        var gone = hanging(recovers: true)
        gone.ownerChanged(from: Script.owner, to: "")
        gone.ownerChanged(from: "", to: Script.owner)
        gone.reply("GetManagedObjects", [gone.objects(device: [:])])
        gone.pass(.seconds(1000))
        #expect(!gone.events.contains(.didNoticeHungRadio(isRecovering: true)) && gone.calls.isEmpty)
    }

    @Test("What a radio that is off does not do is no failure of it")
    func failingWhileOff() {
        var options = BlueZOptions()
        options.recoversAdapter = true
        var script = Script.ready(options: options, device: ["Connected": .boolean(true)])
        let cancel = script.attempt()
        script.ask { $0.take(.cancelPeripheralConnection(Script.headset, attempt: cancel)) }
        script.adapter(["Powered": .boolean(false)])
        script.events.removeAll()
        script.pass(.seconds(10))
        script.calls.removeAll()
        script.pass(.seconds(1000))
        #expect(script.events.isEmpty && script.calls.isEmpty)
    }

    @Test("A headset that refuses a request, and then is silent, raises none")
    func refusing() {
        let up: [String: BusValue] = ["Connected": .boolean(true), "ServicesResolved": .boolean(true)]
        var script = Script.ready(device: up, resolved: true)
        let attempt = script.attempt()
        script.ask { $0.take(.restoreState(identifiers: [Script.headset], services: [], attempt: attempt)) }
        script.ask { $0.take(.readValue(of: Script.control, on: Script.headset, attempt: attempt)) }
        script.fail("ReadValue", "org.bluez.Error.Failed", "Operation failed with ATT error: 0x80")
        script.pass(.seconds(1000))
        #expect(!script.events.contains(.didNoticeHungRadio(isRecovering: false)))
    }

    @Test("A headset that is merely away for hours raises none")
    func away() {
        var script = Script.ready()
        for _ in 0..<200 {
            let attempt = script.attempt()
            script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
            script.pass(.seconds(4))
            let cancel = script.attempt()
            script.ask { $0.take(.cancelPeripheralConnection(Script.headset, attempt: cancel)) }
            script.pass(.seconds(10))
            script.fail("Connect", "org.bluez.Error.Failed", "le-connection-abort-by-local")
        }
        #expect(!script.events.contains(.didNoticeHungRadio(isRecovering: false)))
    }
}
