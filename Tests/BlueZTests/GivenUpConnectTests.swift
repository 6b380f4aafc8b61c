import Bluetooth
import Testing

@testable import BlueZ

/// Connects that are given up while they are pending: bluetoothd goes on with them, for a while.
struct GivenUpConnectTests {
    private typealias Script = BluetoothdScript
    private let filter = ScanFilter(serviceUUIDs: [BluetoothdScript.eeg])

    /// A pending connect that was given up, and what its caller was told.
    private func givenUp() -> BluetoothdScript {
        var script = Script.ready()
        connect(&script)
        script.events.removeAll()
        let cancel = cancel(&script)
        #expect(script.events == [.didDisconnect(Script.headset, error: nil, attempt: cancel)])
        #expect(script.waiting == ["Connect"])
        script.events.removeAll()
        return script
    }

    @discardableResult private func connect(_ script: inout BluetoothdScript) -> Attempt {
        let attempt = script.attempt()
        script.ask { $0.take(.connect(Script.headset, attempt: attempt)) }
        return attempt
    }

    @discardableResult private func cancel(_ script: inout BluetoothdScript) -> Attempt {
        let attempt = script.attempt()
        script.ask { $0.take(.cancelPeripheralConnection(Script.headset, attempt: attempt)) }
        return attempt
    }

    private func startScan(_ script: inout BluetoothdScript) {
        script.ask { $0.take(.scanForPeripherals(matching: filter)) }
        script.reply("SetDiscoveryFilter")
        script.reply("StartDiscovery")
    }

    @Test("A caller who comes back joins it: Connect is not called again, and nothing was cancelled under the kernel")
    func rejoined() {
        var script = givenUp()
        script.pass(.seconds(10))
        let attempt = connect(&script)
        #expect(script.waiting == ["Connect"])
        script.connects()
        #expect(script.events == [.didConnect(Script.headset, attempt: attempt)])
        // It is a link as any other.
        script.device(["Connected": .boolean(false)])
        #expect(script.events.last == .didDisconnect(Script.headset, error: .linkLost, attempt: attempt))
    }

    @Test("A headset that returns while another layer looks for it is told of as discovered, and is connected at once")
    func returnsDuringScan() {
        var script = givenUp()
        startScan(&script)
        script.events.removeAll()
        script.connects()
        guard case .didDiscover(Script.headset, let advertisement, 127)? = script.events.last else {
            Issue.record("not discovered: \(script.events)")
            return
        }
        #expect(advertisement.serviceUUIDs == [Script.eeg])
        script.ask { $0.take(.stopScan) }
        let attempt = connect(&script)
        #expect(script.events.last == .didConnect(Script.headset, attempt: attempt) && !script.waiting.contains("Connect"))
        // Its services are waited for as those of a link of our own.
        let discovery = script.attempt()
        script.ask { $0.take(.discoverServices(on: Script.headset, attempt: discovery)) }
        script.pass(.seconds(4))
        #expect(!script.waiting.contains("Disconnect") && script.events.last == .didConnect(Script.headset, attempt: attempt))
    }

    @Test("One that returned before the scan began is told of, too, and one that was up when it was given up is retrieved")
    func returnsBetweenLayers() {
        var script = givenUp()
        script.connects()
        startScan(&script)
        #expect(script.events.contains { if case .didDiscover(Script.headset, _, _) = $0 { true } else { false } })
        var late = Script.ready()
        connect(&late)
        late.device(["Connected": .boolean(true)])
        cancel(&late)
        let attempt = late.attempt()
        late.ask { $0.take(.retrieveConnectedPeripherals(withServices: [Script.eeg], attempt: attempt)) }
        #expect(late.events.last == .didRetrieveConnected([Script.headset], attempt: attempt))
        let second = connect(&late)
        #expect(late.events.last == .didConnect(Script.headset, attempt: second))
        #expect(late.waiting == ["Connect"])
    }

    /// The connect of a dead process is found, and given up after 4 s.
    private func findsForeign(_ script: inout BluetoothdScript) {
        connect(&script)
        script.fail("Connect", "org.bluez.Error.InProgress", "In Progress")
        script.pass(.seconds(4))
        script.events.removeAll()
        let cancel = cancel(&script)
        #expect(script.events == [.didDisconnect(Script.headset, error: nil, attempt: cancel)])
        #expect(script.waiting.isEmpty, "a cancel may block the kernel's radio")
        script.events.removeAll()
    }

    @Test("That of a dead process is joined by all that begin within 10 s, then cleared away; at once where it is back")
    func foreign() {
        var script = Script.ready()
        findsForeign(&script)
        findsForeign(&script)
        let attempt = connect(&script)
        script.fail("Connect", "org.bluez.Error.InProgress", "In Progress")
        script.pass(.milliseconds(1999))
        #expect(script.waiting.isEmpty)
        script.pass(.milliseconds(1))
        #expect(script.waiting == ["Disconnect"])
        script.reply("Disconnect")
        script.pass(.milliseconds(100))
        var again = script
        script.connects()
        #expect(script.events.last == .didConnect(Script.headset, attempt: attempt))
        cancel(&again)
        again.fail("Connect", "org.bluez.Error.Failed", "br-connection-canceled")
        again.reply("Disconnect")
        again.pass(.milliseconds(100))
        connect(&again)
        again.fail("Connect", "org.bluez.Error.InProgress", "In Progress")
        #expect(again.waiting == ["Disconnect"])
    }

    @Test("Where that of a dead process leads to a link, the headset is discovered, or connected", arguments: [true, false])
    func foreignLeadsToLink(isAskedBefore: Bool) {
        var script = Script.ready()
        findsForeign(&script)
        startScan(&script)
        script.events.removeAll()
        if isAskedBefore {
            script.ask { $0.take(.stopScan) }
            script.reply("StopDiscovery")
            let attempt = connect(&script)
            script.fail("Connect", "org.bluez.Error.InProgress", "In Progress")
            script.device(["Connected": .boolean(true)])
            #expect(script.events == [.didConnect(Script.headset, attempt: attempt)])
            return
        }
        script.device(["Connected": .boolean(true)])
        #expect(script.events.contains { if case .didDiscover(Script.headset, _, _) = $0 { true } else { false } })
        let attempt = connect(&script)
        #expect(script.events.last == .didConnect(Script.headset, attempt: attempt) && !script.waiting.contains("Connect"))
    }

    @Test("That of a dead process is nobody's to cancel, but a link that it leads to is closed where nobody comes")
    func foreignWithoutCaller() {
        var script = Script.ready()
        findsForeign(&script)
        var up = script
        script.pass(.seconds(40))
        #expect(script.waiting.isEmpty && script.conversation.deadline == nil)
        up.device(["Connected": .boolean(true)])
        up.pass(.seconds(5))
        #expect(up.waiting == ["Disconnect"])
    }

    @Test("Nobody keeps a link for which nobody comes back: it is closed after 5 s")
    func unclaimed() {
        var script = givenUp()
        script.connects()
        script.pass(.milliseconds(4999))
        #expect(script.waiting.isEmpty)
        script.pass(.milliseconds(1))
        #expect(script.waiting == ["Disconnect"] && script.events.isEmpty)
    }

    @Test("After 30 s it is cancelled; a connect after that waits until the kernel has given it up")
    func expires() {
        var script = givenUp()
        script.pass(.seconds(30))
        #expect(script.waiting == ["Connect", "Disconnect"])
        script.fail("Connect", "org.bluez.Error.Failed", "br-connection-canceled")
        script.reply("Disconnect")
        #expect(script.events.isEmpty)
        connect(&script)
        #expect(script.waiting.isEmpty)
        script.others.removeAll()
        script.pass(.milliseconds(99))
        #expect(script.waiting.isEmpty && script.others.isEmpty)
        script.pass(.milliseconds(1))
        #expect(script.waiting == ["Connect"])
        // What the kernel is told of the link while it gives up another one is forgotten with that.
        #expect(script.others == [.loadConnectionParameters])
    }

    @Test("Where bluetoothd gives it up first, a caller who has joined it does not notice, and nobody else does")
    func bluetoothdGivesUp() {
        var script = givenUp()
        script.fail("Connect", "org.bluez.Error.Failed", "le-connection-abort-by-local")
        #expect(script.events.isEmpty && script.calls.isEmpty)
        connect(&script)
        #expect(script.waiting == ["Connect"])
        cancel(&script)
        let attempt = connect(&script)
        script.events.removeAll()
        script.fail("Connect", "org.bluez.Error.Failed", "le-connection-abort-by-local")
        #expect(script.events.isEmpty && script.waiting == ["Connect"])
        script.fail("Connect", "org.bluez.Error.Failed", "le-connection-abort-by-local")
        #expect(script.events == [.didFailToConnect(Script.headset, error: .connectionTimedOut, attempt: attempt)])
    }

    @Test("A link that bluetoothd never signals is found all the same")
    func neverSignalled() {
        var script = givenUp()
        startScan(&script)
        script.events.removeAll()
        script.reply("Connect")
        #expect(script.waiting == ["GetAll"])
        script.reply("GetAll", [Script.dictionary(Script.deviceProperties(["Connected": .boolean(true)]))])
        #expect(script.events.contains { if case .didDiscover(Script.headset, _, _) = $0 { true } else { false } })
    }

    @Test("One that bluetoothd calls a success without a link is none that could be joined", arguments: [true, false])
    func succeededWithoutLink(isAnswered: Bool) {
        func answer(_ script: inout BluetoothdScript) {
            if isAnswered {
                script.reply("GetAll", [Script.dictionary(Script.deviceProperties([:]))])
            } else {
                script.fail("GetAll", "org.freedesktop.DBus.Error.NoReply", "")
            }
        }
        var script = givenUp()
        script.reply("Connect")
        answer(&script)
        connect(&script)
        #expect(script.waiting == ["Connect"])
        // Of a caller who comes back before that is known, too.
        var early = givenUp()
        early.reply("Connect")
        let attempt = connect(&early)
        #expect(early.waiting == ["GetAll"])
        answer(&early)
        #expect(early.waiting == ["Connect"])
        early.connects()
        #expect(early.events == [.didConnect(Script.headset, attempt: attempt)])
    }

    @Test("It ends with the adapter, with bluetoothd and with this process")
    func ends() {
        #expect(givenUp().conversation.farewell.map(\.member) == ["Disconnect"])
        var off = givenUp()
        off.adapter(["Powered": .boolean(false)])
        #expect(off.conversation.farewell.isEmpty)
        var gone = givenUp()
        gone.ownerChanged(from: Script.owner, to: "")
        #expect(gone.conversation.farewell.isEmpty && gone.conversation.deadline == nil)
    }
}
