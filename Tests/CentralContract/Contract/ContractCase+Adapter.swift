import Bluetooth
import Headsets

extension ContractCase {
    /// The adapter, and what the system holds.
    static let adapterCases = [
        ContractCase("The adapter's state is unknown at first, and then reported once") { central throws(Breach) in
            guard central.state == .unknown else { throw Breach(finding: "the state was \(central.state) before it was known") }
            try central.begin()
            try central.expectSilence(.seconds(5))
        },
        ContractCase("What is asked before the adapter's state is known is answered all the same") { central throws(Breach) in
            let requests: [Request] = [
                .restore(identifiers: [central.headset], services: []),
                .retrieve(services: central.profile.services), .cancel(central.headset),
            ]
            for (request, attempt) in requests.map({ ($0, central.ask($0)) }) { try central.answer(to: request, attempt) }
            try central.expectNotConnected()
        },
        ContractCase("Switching the adapter off ends a link, once and with an error") { central throws(Breach) in
            let link = try central.establish()
            try central.setNotify(true)
            central.bench.switchAdapterOff(for: .seconds(20))
            try central.waitForState(.poweredOff, within: .seconds(10))
            _ = try central.waitForLoss(of: link)
            try central.expectNotConnected()
            try central.waitForState(.poweredOn, within: .seconds(30))
            try central.expectSilence(.seconds(3))
            try central.find()
            try central.connect()
        },
        ContractCase("Switching the adapter off ends a pending connect") { central throws(Breach) in
            try central.begin()
            try central.find()
            central.bench.takeAway(for: .seconds(30))
            let attempt = central.ask(.connect(central.headset))
            try central.watch(.seconds(2))
            central.bench.switchAdapterOff(for: .seconds(20))
            let event = try central.answer(to: .connect(central.headset), attempt)
            guard case .didFailToConnect = event else { throw Breach(finding: "connected without an adapter: \(event)") }
            try central.waitForState(.poweredOff, within: .seconds(10))
            try central.waitForState(.poweredOn, within: .seconds(30))
        },
        ContractCase(
            "Switching the adapter off ends a scan, and switching it on does not begin it again", needs: .advertisements
        ) { central throws(Breach) in
            try central.begin()
            central.scan(CentralUnderTest.filter)
            try central.sight()
            central.bench.switchAdapterOff(for: .seconds(20))
            try central.wait(.seconds(10), for: "the end of the scan") { event in
                if case .didFailToScan = event { () } else { nil }
            }
            try central.waitForState(.poweredOff, within: .seconds(10))
            try central.waitForState(.poweredOn, within: .seconds(30))
            central.forget()
            try central.expectSilence(.seconds(5))
            try central.find()
        },
        ContractCase("While the adapter is off everything is refused, and answered") { central throws(Breach) in
            try central.begin()
            central.bench.switchAdapterOff(for: .seconds(60))
            try central.waitForState(.poweredOff, within: .seconds(10))
            let connect = try central.answer(to: .connect(central.headset))
            try central.expectFailure(.adapterUnavailable(.poweredOff), of: connect)
            central.scan(CentralUnderTest.filter)
            let failure = try central.wait(.seconds(10), for: "a refused scan") { event in
                if case .didFailToScan(let error) = event { error } else { nil }
            }
            guard failure == .adapterUnavailable(.poweredOff) else { throw Breach(finding: "a scan failed with \(failure)") }
            try central.expectNotConnected()
            try central.cancel()
            try central.answer(to: .retrieve(services: central.profile.services))
            try central.answer(to: .restore(identifiers: [central.headset], services: []))
            try central.waitForState(.poweredOn, within: .seconds(90))
        },
    ]

    /// What an earlier process has left.
    static let restorationCases = [
        ContractCase("What is not connected is neither restored nor retrieved") { central throws(Breach) in
            try central.begin()
            let restore = Request.restore(identifiers: [central.headset], services: central.profile.services)
            let restoration = try central.answer(to: restore)
            if case .willRestoreState(let restored, _) = restoration, restored.contains(where: \.isConnected) {
                throw Breach(finding: "restored as connected: \(restored)")
            }
            let retrieval = try central.answer(to: .retrieve(services: central.profile.services))
            if case .didRetrieveConnected(let found, _) = retrieval, !found.isEmpty {
                throw Breach(finding: "retrieved: \(found)")
            }
        },
        ContractCase("A connected peripheral is retrieved by its services, and by no others") { central throws(Breach) in
            try central.establish()
            let found = try central.answer(to: .retrieve(services: central.profile.services))
            guard case .didRetrieveConnected([central.headset], _) = found else {
                throw Breach(finding: "the headset is connected, but: \(found)")
            }
            let none = try central.answer(to: .retrieve(services: [CentralUnderTest.foreignService]))
            guard case .didRetrieveConnected([], _) = none else { throw Breach(finding: "no such service, but: \(none)") }
        },
        ContractCase("A link that another process has made is retrieved by its services, and by no others") {
            central throws(Breach) in
            guard central.bench.leavesLinks else { return }
            try central.establish()
            central.restart()
            try central.begin()
            let none = try central.answer(to: .retrieve(services: [CentralUnderTest.foreignService]))
            guard case .didRetrieveConnected([], _) = none else { throw Breach(finding: "no such service, but: \(none)") }
            let found = try central.answer(to: .retrieve(services: central.profile.services))
            guard case .didRetrieveConnected([central.headset], _) = found else {
                throw Breach(finding: "the headset is connected, but: \(found)")
            }
        },
        ContractCase("A link that outlived its process is restored, works, and ends without an attempt") {
            central throws(Breach) in
            guard central.bench.keepsLinks else { return }
            try central.establish()
            central.restart()
            try central.begin()
            let event = try central.answer(to: .restore(identifiers: [central.headset], services: []))
            guard case .willRestoreState(let restored, _) = event,
                restored.contains(where: { $0.identifier == central.headset && $0.isConnected })
            else { throw Breach(finding: "the link is up, but: \(event)") }
            try central.discover()
            try central.setNotify(true)
            try central.write(.status)
            try central.waitForValue(of: BufferedEEGService.control)
            central.bench.takeAway(for: .seconds(20))
            _ = try central.waitForLoss(of: .none)
        },
        ContractCase("A link that outlived its process can be connected to and cancelled") { central throws(Breach) in
            guard central.bench.keepsLinks else { return }
            try central.establish()
            central.restart()
            try central.begin()
            try central.connect()
            try central.discover()
            try central.cancel()
            try central.expectNotConnected()
        },
    ]
}
