import Bluetooth
import Headsets

extension ContractCase {
    /// Connects and their ends.
    static let connectionCases = [
        ContractCase("A connect is answered once, with its attempt") { central throws(Breach) in
            try central.link()
            try central.expectSilence(.seconds(10))
        },
        ContractCase("A connect waits for a headset that is away") { central throws(Breach) in
            try central.begin()
            try central.find()
            central.bench.takeAway(for: .seconds(20))
            let attempt = central.ask(.connect(central.headset))
            try central.expectSilence(.seconds(15))
            let event = try central.answer(to: .connect(central.headset), attempt, within: .seconds(20))
            guard case .didConnect = event else { throw Breach(finding: "the headset is back, but: \(event)") }
        },
        ContractCase("A connect to where nobody is stays silent or fails, and can be cancelled") { central throws(Breach) in
            try central.begin()
            central.ask(.connect(central.nobody))
            for event in try central.watch(.seconds(60)) {
                guard case .didFailToConnect = event else { throw Breach(finding: "nobody is there, but: \(event)") }
            }
            let event = try central.answer(to: .cancel(central.nobody))
            if let error = event.failure { throw Breach(finding: "a cancel was answered with \(error)") }
        },
        ContractCase("A connect to a headset that is connected is answered, and its attempt is the link's from then on") {
            central throws(Breach) in
            try central.establish()
            let second = try central.connect()
            try central.discover()
            central.loseLink(for: .seconds(20))
            _ = try central.waitForLoss(of: second)
        },
        ContractCase("Links come and go, each with its own attempts") { central throws(Breach) in
            try central.establish()
            for _ in 0..<3 {
                try central.cancel()
                try central.find()
                try central.connect()
                try central.discover()
            }
        },
    ]

    /// Cancels.
    static let cancellationCases = [
        ContractCase("A cancelled link ends once, without an error and with the cancel's attempt") { central throws(Breach) in
            try central.establish()
            try central.setNotify(true)
            try central.cancel()
            try central.expectNotConnected()
            try central.expectSilence(.seconds(10))
        },
        ContractCase("A cancel where there is nothing to cancel is answered") { central throws(Breach) in
            try central.begin()
            try central.cancel()
            try central.find()
            try central.cancel()
        },
        ContractCase("A pending connect that is cancelled has no answer of its own, and does not connect later") {
            central throws(Breach) in
            try central.begin()
            try central.find()
            central.bench.takeAway(for: .seconds(20))
            central.ask(.connect(central.headset))
            try central.watch(.seconds(3))
            try central.cancel()
            try central.expectSilence(.seconds(40))
        },
        ContractCase("A connect that is cancelled at once leaves no link, and the next one works") { central throws(Breach) in
            try central.begin()
            try central.find()
            central.ask(.connect(central.headset))
            try central.cancel()
            try central.expectSilence(.seconds(10)) { if case .didConnect = $0 { true } else { false } }
            try central.expectNotConnected()
            try central.find()
            try central.connect()
        },
        ContractCase("A connect that follows a cancel at once lets both be answered") { central throws(Breach) in
            try central.establish()
            let cancel = central.ask(.cancel(central.headset))
            let connect = central.ask(.connect(central.headset))
            try central.answer(to: .cancel(central.headset), cancel, within: .seconds(15))
            try central.answer(to: .connect(central.headset), connect, within: .seconds(60))
            try central.cancel()
            try central.expectNotConnected()
        },
        ContractCase("Two cancels at once are answered both") { central throws(Breach) in
            try central.link()
            let request = Request.cancel(central.headset)
            for attempt in [central.ask(request), central.ask(request)] {
                try central.answer(to: request, attempt, within: .seconds(15))
            }
            try central.expectNotConnected()
        },
    ]
}
