import Bluetooth
import Headsets

extension ContractCase {
    /// Links that are lost.
    static let lossCases = [
        ContractCase("A headset that goes out of range is reported as a lost link, with the attempt of its connect") {
            central throws(Breach) in
            let link = try central.establish()
            try central.setNotify(true)
            central.loseLink(for: .seconds(25))
            let error = try central.waitForLoss(of: link)
            guard error == .linkLost else { throw Breach(finding: "the link was lost, but reported was \(error)") }
            try central.expectNotConnected()
            try central.expectSilence(.seconds(5))
        },
        ContractCase("A headset that returns can be connected to again, and starts afresh") { central throws(Breach) in
            let first = try central.establish()
            try central.setNotify(true)
            central.loseLink(for: .seconds(10))
            _ = try central.waitForLoss(of: first)
            try central.find()
            try central.connect()
            try central.discover()
            try central.setNotify(true)
            try central.expectLife()
        },
        ContractCase("A connect right after a loss waits for the headset's return") { central throws(Breach) in
            let first = try central.establish()
            central.loseLink(for: .seconds(15))
            _ = try central.waitForLoss(of: first)
            try central.answer(to: .connect(central.headset), within: .seconds(30))
            try central.discover()
        },
        ContractCase("A link that the headset closes ends once, with the attempt of its connect") { central throws(Breach) in
            let link = try central.establish()
            central.bench.closeLinkFromHeadset()
            let error = try central.waitForLoss(of: link)
            guard error == .linkLost || error == .peripheralDisconnected else {
                throw Breach(finding: "the headset closed the link, but reported was \(error)")
            }
            try central.expectNotConnected()
        },
        ContractCase(
            "Requests under way when a link is lost are answered at most once, and never on the next link",
            needs: .characteristics
        ) { central throws(Breach) in
            let link = try central.establish()
            central.loseLink(for: .seconds(10))
            let reads = (0..<3).map { _ in central.ask(.read(.serialNumberString, central.headset)) }
            _ = try central.waitForLoss(of: link)
            try central.find()
            try central.connect()
            central.forget()
            try central.discover()
            try central.answer(to: .read(.serialNumberString, central.headset))
            for event in try central.watch(.seconds(40)) where reads.contains(where: { $0 == event.attempt }) {
                throw Breach(finding: "answered on the next link: \(event)")
            }
        },
        ContractCase("A cancel while the link is being lost is answered") { central throws(Breach) in
            try central.establish()
            central.loseLink(for: .seconds(15))
            try central.cancel()
            try central.expectNotConnected()
        },
    ]
}
