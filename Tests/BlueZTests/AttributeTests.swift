import Bluetooth
import Testing

@testable import BlueZ

/// Notifications, reads and writes.
struct AttributeTests {
    private typealias Script = BluetoothdScript

    private func resolved(options: BlueZOptions = BlueZOptions(), _ more: [String: BusValue] = [:]) -> BluetoothdScript {
        let up: [String: BusValue] = ["Connected": .boolean(true), "ServicesResolved": .boolean(true)]
        var script = Script.ready(options: options, device: up.merging(more) { $1 }, resolved: true)
        script.ask { $0.take(.restoreState(identifiers: [Script.headset], services: [], attempt: Attempt.none)) }
        script.events.removeAll()
        return script
    }

    private func subscribe(_ script: inout BluetoothdScript, _ uuid: BluetoothUUID = Script.eeg) -> Attempt {
        let attempt = script.attempt()
        script.ask { $0.take(.setNotifyValue(true, for: uuid, on: Script.headset, attempt: attempt)) }
        return attempt
    }

    // MARK: Notifications

    @Test("AcquireNotify hands over a socket")
    func acquireNotify() {
        var script = resolved()
        let attempt = subscribe(&script)
        script.reply("AcquireNotify", [.descriptor(77), .uint16(247)])
        #expect(script.others == [.receive(77, characteristic: Script.eeg, of: Script.headset)])
        #expect(
            script.events == [.didUpdateNotificationState(Script.eeg, on: Script.headset, error: nil, attempt: attempt)])
        #expect(script.calls.isEmpty)
    }

    @Test("A headset that has proven itself is made trusted, once, so that bluetoothd keeps it; no other is")
    func trust() {
        var script = resolved()
        _ = subscribe(&script)
        script.reply("AcquireNotify", [.descriptor(77), .uint16(247)])
        #expect(script.calls.isEmpty)
        for _ in 0..<2 { script.ask { $0.take(.trustPeripheral(Script.headset)) } }
        #expect(script.waiting == ["Set"])
        let arguments: [BusValue] = [
            .string("org.bluez.Device1"), .string("Trusted"), .variant(.boolean(true)),
        ]
        #expect(script.calls.first?.arguments == arguments)
        var gone = resolved()
        gone.device(["Connected": .boolean(false)])
        gone.ask { $0.take(.trustPeripheral(Script.headset)) }
        #expect(gone.calls.isEmpty)
    }

    @Test("A subscription that is on is not asked for twice")
    func idempotent() {
        var script = resolved()
        _ = subscribe(&script)
        script.reply("AcquireNotify", [.descriptor(77), .uint16(247)])
        let again = subscribe(&script)
        #expect(script.calls.isEmpty)
        #expect(
            script.events.last
                == .didUpdateNotificationState(Script.eeg, on: Script.headset, error: nil, attempt: again))
    }

    @Test(
        "A closed socket counts as off once bluetoothd has noticed; only then is another asked for", arguments: [true, false])
    func release(isNoticed: Bool) {
        var script = resolved()
        _ = subscribe(&script)
        script.reply("AcquireNotify", [.descriptor(77), .uint16(247)])
        script.events.removeAll()
        let off = script.attempt()
        script.ask { $0.take(.setNotifyValue(false, for: Script.eeg, on: Script.headset, attempt: off)) }
        let on = subscribe(&script)
        #expect(script.others.last == .close(77))
        #expect(script.events.isEmpty && script.calls.isEmpty)
        if isNoticed {
            script.changed(BlueZInterface.characteristic, at: Script.eegPath, ["NotifyAcquired": .boolean(false)])
        } else {
            script.pass(.milliseconds(500))
        }
        #expect(script.events == [.didUpdateNotificationState(Script.eeg, on: Script.headset, error: nil, attempt: off)])
        script.reply("AcquireNotify", [.descriptor(78), .uint16(247)])
        #expect(script.others.last == .receive(78, characteristic: Script.eeg, of: Script.headset))
        #expect(
            script.events.last == .didUpdateNotificationState(Script.eeg, on: Script.headset, error: nil, attempt: on))
    }

    @Test("Where AcquireNotify does not exist, StartNotify is used, and values come as signals")
    func fallback() {
        var script = resolved()
        let attempt = subscribe(&script, Script.control)
        script.fail("AcquireNotify", "org.bluez.Error.NotSupported", "Operation is not supported")
        script.reply("StartNotify")
        #expect(
            script.events.last
                == .didUpdateNotificationState(Script.control, on: Script.headset, error: nil, attempt: attempt))
        script.changed(BlueZInterface.characteristic, at: Script.controlPath, ["Value": .bytes([1, 2])])
        #expect(
            script.events.last
                == .didUpdateValue(Script.control, on: Script.headset, value: [1, 2], at: script.conversation.now))
    }

    @Test("A headset on which AcquireNotify does not work is asked with StartNotify at once")
    func configured() {
        var options = BlueZOptions()
        options.startNotify = [Script.headset]
        var script = resolved(options: options)
        _ = subscribe(&script)
        #expect(script.waiting == ["StartNotify"])
        script.reply("StartNotify")
        #expect(script.calls.isEmpty)
    }

    @Test("A counted characteristic is asked for with StartNotify, of which bluetoothd keeps nothing; others are not")
    func counted() {
        var options = BlueZOptions()
        options.countedCharacteristics = [Script.eeg]
        var script = resolved(options: options)
        _ = subscribe(&script)
        #expect(script.waiting == ["StartNotify"])
        _ = subscribe(&script, Script.control)
        #expect(script.waiting == ["StartNotify", "AcquireNotify"])
    }

    @Test("Values that come as signals beside a socket are another program's and are not stored twice")
    func signalsBesideSocket() {
        var script = resolved()
        _ = subscribe(&script)
        script.reply("AcquireNotify", [.descriptor(77), .uint16(247)])
        script.events.removeAll()
        script.changed(BlueZInterface.characteristic, at: Script.eegPath, ["Value": .bytes([1, 2])])
        #expect(script.events.isEmpty)
    }

    @Test("A signal that bluetoothd repeats for each program that listens counts once; an equal value later is another one")
    func repeatedSignals() {
        var script = resolved()
        _ = subscribe(&script)
        script.fail("AcquireNotify", "org.bluez.Error.InProgress", "In Progress")
        script.reply("StartNotify")
        script.events.removeAll()
        for value in [[1], [1], [2], [2]] as [[UInt8]] {
            script.changed(BlueZInterface.characteristic, at: Script.eegPath, ["Value": .bytes(value)])
        }
        script.pass(.milliseconds(8))
        script.changed(BlueZInterface.characteristic, at: Script.eegPath, ["Value": .bytes([2])])
        #expect(script.events.count == 3)
    }

    @Test("Notifications that another program has acquired are told as that")
    func acquiredElsewhere() {
        var script = resolved()
        let attempt = subscribe(&script)
        script.fail("AcquireNotify", "org.bluez.Error.NotPermitted", "Notify acquired")
        #expect(
            script.events.last
                == .didUpdateNotificationState(Script.eeg, on: Script.headset, error: .notificationsAcquired, attempt: attempt))
    }

    @Test("The end of a link closes its sockets, and a socket that comes too late is closed, too")
    func sockets() {
        var script = resolved()
        _ = subscribe(&script)
        script.reply("AcquireNotify", [.descriptor(77), .uint16(247)])
        _ = subscribe(&script, Script.control)
        script.device(["Connected": .boolean(false)])
        #expect(script.others.contains(.close(77)))
        script.reply("AcquireNotify", [.descriptor(78), .uint16(247)])
        #expect(script.others.contains(.close(78)))
        #expect(script.conversation.attributes.subscriptions.isEmpty)
    }

    // MARK: Reads and writes

    @Test("Requests to one characteristic wait for each other, requests to another do not")
    func serial() {
        var script = resolved()
        let attempt = script.attempt()
        for byte in 0..<2 as Range<UInt8> {
            script.ask {
                $0.take(.writeValue([byte], to: Script.control, type: .withResponse, on: Script.headset, attempt: attempt))
            }
        }
        _ = subscribe(&script)
        #expect(script.waiting == ["WriteValue", "AcquireNotify"])
        script.reply("WriteValue")
        #expect(script.waiting == ["AcquireNotify", "WriteValue"])
        script.fail("WriteValue", "org.bluez.Error.Failed", "Operation failed with ATT error: 0x80")
        #expect(
            script.events == [
                .didWriteValue(Script.control, on: Script.headset, error: nil, attempt: attempt),
                .didWriteValue(Script.control, on: Script.headset, error: .att(ATTError(code: 0x80)), attempt: attempt),
            ])
    }

    @Test(
        "The type of a write is said to bluetoothd",
        arguments: [(WriteType.withResponse, "request"), (.withoutResponse, "command")])
    func writeType(type: WriteType, word: String) {
        var script = resolved()
        script.ask { $0.take(.writeValue([7], to: Script.control, type: type, on: Script.headset, attempt: Attempt.none.next)) }
        #expect(script.calls.first?.arguments == [.bytes([7]), .options(["type": .string(word)])])
        script.reply("WriteValue")
        #expect(script.events.isEmpty == (type == .withoutResponse))
    }

    @Test("A write that waited while the socket for writes was acquired goes through it")
    func waitingWrite() {
        var script = resolved()
        let flags = BusValue.array([.string("write-without-response")], of: "s")
        script.changed(BlueZInterface.characteristic, at: Script.controlPath, ["Flags": flags])
        let attempt = script.attempt()
        for byte in 1...2 as ClosedRange<UInt8> {
            script.ask {
                $0.take(.writeValue([byte], to: Script.control, type: .withoutResponse, on: Script.headset, attempt: attempt))
            }
        }
        script.reply("AcquireWrite", [.descriptor(79), .uint16(247)])
        #expect(script.calls.isEmpty)
        #expect(script.others.suffix(2) == [.send([1], socket: 79), .send([2], socket: 79)])
    }

    @Test("A read brings the value")
    func read() {
        var script = resolved()
        let attempt = script.attempt()
        script.ask { $0.take(.readValue(of: Script.control, on: Script.headset, attempt: attempt)) }
        script.reply("ReadValue", [.bytes([1, 2, 3])])
        #expect(
            script.events == [
                .didReadValue(Script.control, on: Script.headset, result: .success([1, 2, 3]), attempt: attempt)
            ])
    }

    @Test("A characteristic that asks for a bond leads to one pairing, and then to one more try")
    func pairs() {
        var script = resolved()
        let attempt = script.attempt()
        script.ask { $0.take(.readValue(of: Script.control, on: Script.headset, attempt: attempt)) }
        script.fail("ReadValue", "org.bluez.Error.NotPermitted", "Not paired")
        #expect(script.waiting == ["Pair"])
        script.reply("Pair")
        script.fail("ReadValue", "org.bluez.Error.NotPermitted", "Not paired")
        #expect(
            script.events == [
                .didBeginPairing(Script.headset),
                .didReadValue(
                    Script.control, on: Script.headset, result: .failure(.att(.insufficientAuthentication)),
                    attempt: attempt),
            ])
    }

    @Test(
        "A headset that was paired is not paired anew where a person forbade it, before its device is removed",
        arguments: [true, false])
    func repairing(isAllowed: Bool) {
        var options = BlueZOptions()
        options.allowsRepairing = isAllowed
        var script = resolved(options: options, ["Paired": .boolean(true)])
        script.device(["Paired": .boolean(false)])
        let attempt = script.attempt()
        script.ask { $0.take(.readValue(of: Script.control, on: Script.headset, attempt: attempt)) }
        script.fail("ReadValue", "org.bluez.Error.NotPermitted", "Not paired")
        #expect(script.waiting == (isAllowed ? ["Pair"] : []))
        let call = IncomingCall(
            sender: Script.owner, path: BlueZPairing.agentPath, interface: BlueZInterface.agent, member: "RequestConfirmation",
            arguments: [.objectPath(Script.devicePath)])
        #expect((try? script.conversation.answer(call).get()) == (isAllowed ? [] : nil))
        guard !isAllowed else { return }
        #expect(
            script.events == [
                .didReadValue(Script.control, on: Script.headset, result: .failure(.repairingForbidden), attempt: attempt)
            ])
        // A person has removed it, and it is found again.
        let device: [BusValue] = [.objectPath(Script.devicePath)]
        script.signal("InterfacesRemoved", device + [.array([.string(BlueZInterface.device)], of: "s")])
        script.signal("InterfacesAdded", device + [Script.interfaces([BlueZInterface.device: Script.deviceProperties([:])])])
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        #expect((try? script.conversation.answer(call).get()) == [])
    }

    @Test("Two characteristics that ask for a bond at once lead to one pairing, and both wait for its end")
    func pairsOnce() {
        var script = resolved()
        let attempt = script.attempt()
        for uuid in [Script.control, Script.eeg] {
            script.ask { $0.take(.readValue(of: uuid, on: Script.headset, attempt: attempt)) }
        }
        for _ in 0..<2 { script.fail("ReadValue", "org.bluez.Error.NotPermitted", "Not paired") }
        #expect(script.waiting == ["Pair"])
        script.reply("Pair")
        #expect(script.waiting == ["ReadValue", "ReadValue"])
        for byte in 1...2 as ClosedRange<UInt8> { script.reply("ReadValue", [.bytes([byte])]) }
        #expect(
            script.events == [
                .didBeginPairing(Script.headset), .didBeginPairing(Script.headset),
                .didReadValue(Script.control, on: Script.headset, result: .success([1]), attempt: attempt),
                .didReadValue(Script.eeg, on: Script.headset, result: .success([2]), attempt: attempt),
            ])
    }

    @Test("What is not in the headset's database, or not connected, is said at once")
    func absent() {
        var script = resolved()
        let attempt = script.attempt()
        let absent = BluetoothUUID(UInt16(0x2A00))
        script.ask { $0.take(.readValue(of: absent, on: Script.headset, attempt: attempt)) }
        script.device(["Connected": .boolean(false)])
        script.ask { $0.take(.readValue(of: Script.eeg, on: Script.headset, attempt: attempt)) }
        #expect(
            script.events.filter { if case .didReadValue = $0 { true } else { false } } == [
                .didReadValue(absent, on: Script.headset, result: .failure(.noSuchCharacteristic(absent)), attempt: attempt),
                .didReadValue(Script.eeg, on: Script.headset, result: .failure(.notConnected), attempt: attempt),
            ])
    }
}
