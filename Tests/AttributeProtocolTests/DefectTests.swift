import AttributeProtocol
import Bluetooth
import Simulation
import Testing

@Suite("Defects") struct DefectTests {
    @Test(
        "of a server never leave a request without its answer or the news that the link is dead",
        arguments: ServerDefect.allCases)
    func servers(defect: ServerDefect) {
        for others in [[], [ServerDefect.cutsAnswers], [.reportsForeignErrorsFirst], [.answersSomethingElseFirst]] {
            var conversation = Conversation()
            conversation.discover()
            conversation.server.defects = [defect] + others
            conversation.emitted = []
            conversation.discover()
            _ = conversation.read(.modelNumberString)
            conversation.write([UInt8](repeating: 3, count: 300), .configuration)
            conversation.setNotify(.eeg)
            conversation.setNotify(.eeg, false)
            conversation.pass(.seconds(120))
            if conversation.emitted.contains(.didTimeOut) { continue }
            let answers = conversation.emitted.filter { event in
                switch event {
                case .central(.didDiscoverServices), .central(.didReadValue), .central(.didWriteValue),
                    .central(.didUpdateNotificationState):
                    true
                default: false
                }
            }
            #expect(answers.count == 5, "\(defect) and \(others): \(conversation.emitted)")
            #expect(conversation.server.violations.isEmpty, "\(defect) and \(others): \(conversation.server.violations)")
        }
    }

    @Test(
        "that are harmless change no result",
        arguments: [
            ServerDefect.hidesConfigurations, .answersSomethingElseFirst, .reportsForeignErrorsFirst, .lacksReadBlob,
            .offersTinyPackets,
        ])
    func harmless(defect: ServerDefect) {
        var server = InMemoryServer.headset()
        var sound = Conversation(server)
        server.defects = [defect]
        var conversation = Conversation(server)
        #expect(conversation.discover() == sound.discover())
        #expect(conversation.read(.serialNumberString) == sound.read(.serialNumberString))
        #expect(conversation.setNotify(.eeg) == .success(true))
    }

    @Test("of a client are noticed by the server of these tests: each rule bites")
    func clients() {
        let misdeeds: [([[UInt8]], String)] = [
            ([[0x0A, 3, 0], [0x0A, 3, 0]], "a second request before"),
            ([[0x12, 3, 0] + [UInt8](repeating: 1, count: 21)], "a packet of 24 bytes"),
            ([[0x1E]], "a confirmation of nothing"),
            ([[0x0A]], "no packet"),
        ]
        for (packets, expected) in misdeeds {
            var server = InMemoryServer.headset()
            _ = server.receive(packets)
            #expect(server.violations.count == 1 && server.violations[0].hasPrefix(expected))
        }
        var server = InMemoryServer.headset()
        _ = server.receive([[0x02, 0xF7, 0x00]])
        _ = server.receive([[0x02, 0xF7, 0x00]])
        #expect(server.violations == ["a second exchange of packet sizes"])
    }

    @Test("of 200 random peers, who send what they like, leave no request without its answer")
    func randomConversations() {
        let uuids: [BluetoothUUID] = [.control, .eeg, .motion, .configuration, .lastOne, .serialNumberString, .vendorService]
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var server = InMemoryServer.headset(extraServices: Int.random(in: 0...3, using: &generator))
            server.receiveLimit = AttributeMTU(Int.random(in: 20...300, using: &generator))
            var conversation = Conversation(server)
            conversation.discover()
            for step in 0..<20 {
                let uuid = uuids.randomElement(using: &generator) ?? .eeg
                var isAnswered = true
                switch Int.random(in: 0...5, using: &generator) {
                case 0: isAnswered = conversation.setNotify(uuid, generator.once(in: 2)) != nil
                case 1: isAnswered = conversation.read(uuid) != nil
                case 2: isAnswered = conversation.write(generator.bytes(0...300), uuid) != nil
                case 3: conversation.write(generator.bytes(0...30), uuid, .withoutResponse)
                case 4: conversation.notify(generator.bytes(1...20), of: uuid)
                default:
                    // But no indication, whose confirmation would puzzle the server, and no exchange of sizes without it.
                    let bytes = generator.bytes(0...30)
                    if bytes.first != 0x1D, bytes.first != 0x02 { conversation.deliver(bytes) }
                }
                #expect(isAnswered, "seed \(seed), step \(step)")
                if generator.once(in: 10) { conversation.pass(.seconds(1)) }
            }
            #expect(conversation.server.violations.isEmpty, "seed \(seed): \(conversation.server.violations)")
            #expect(!conversation.emitted.contains(.didTimeOut), "seed \(seed)")
        }
    }
}
