import Bluetooth
import Headsets

private let control = BufferedEEGService.control
private let status = BufferedEEGCommand.status.encoded()

extension ContractCase {
    /// Discoveries.
    static let discoveryCases = [
        ContractCase("A discovery finds what the profile requires, with its properties", needs: .characteristics) {
            central throws(Breach) in
            try central.link()
            let database = try central.discover()
            let required = central.profile.requiredCharacteristics + [.serialNumberString]
            for uuid in required where database[uuid] == nil {
                throw Breach(finding: "\(uuid) was not found, but \(database.characteristics)")
            }
            for expected in BufferedEEGService.characteristics {
                guard let found = database[expected.uuid], found.service == expected.service,
                    found.properties.isSuperset(of: expected.properties)
                else { throw Breach(finding: "\(expected) is reported as \(String(describing: database[expected.uuid]))") }
            }
        },
        ContractCase("A second discovery on a link is answered as the first") { central throws(Breach) in
            try central.link()
            let first = try central.discover()
            let second = try central.discover()
            if first != second { throw Breach(finding: "first \(first), then \(second)") }
        },
    ]

    /// Reads and writes.
    static let attributeCases = [
        ContractCase("A read is answered with the value", needs: .characteristics) { central throws(Breach) in
            try central.establish()
            let event = try central.answer(to: .read(.serialNumberString, central.headset))
            let expected = Array(central.bench.headset.serialNumber.utf8)
            guard case .didReadValue(_, _, .success(expected), _) = event else {
                throw Breach(finding: "expected \(central.bench.headset.serialNumber), got \(event)")
            }
        },
        ContractCase("Requests that are made together are each answered with their own attempt", needs: .characteristics) {
            central throws(Breach) in
            try central.establish()
            let requests: [Request] = [
                .read(.serialNumberString, central.headset), .setNotify(true, control, central.headset),
                .read(.serialNumberString, central.headset), .write(status, control, .withResponse, central.headset),
                .setNotify(true, BufferedEEGService.data, central.headset),
                .write(status, control, .withResponse, central.headset),
                .read(CentralUnderTest.foreignService, central.headset),
            ]
            for (request, attempt) in requests.map({ ($0, central.ask($0)) }) {
                let event = try central.answer(to: request, attempt)
                if case .read(CentralUnderTest.foreignService, _) = request { continue }
                if let error = event.failure { throw Breach(finding: "\(request) failed: \(error)") }
            }
        },
        ContractCase("A write with response is answered, and has its effect", needs: .characteristics) {
            central throws(Breach) in
            try central.establish()
            try central.setNotify(true)
            try central.write(.status)
            try central.waitForValue(of: control)
        },
        ContractCase("A write without response is not answered", needs: .characteristics) { central throws(Breach) in
            try central.establish()
            central.ask(.write(status, control, .withoutResponse, central.headset))
            central.ask(.write(status, CentralUnderTest.foreignService, .withoutResponse, central.headset))
            try central.expectSilence(.seconds(5))
        },
        ContractCase("A characteristic that the headset does not have is reported as such", needs: .characteristics) {
            central throws(Breach) in
            try central.establish()
            let foreign = CentralUnderTest.foreignService
            let requests: [Request] = [
                .read(foreign, central.headset), .setNotify(true, foreign, central.headset),
                .write(status, foreign, .withResponse, central.headset),
            ]
            for request in requests {
                try central.expectFailure(.noSuchCharacteristic(foreign), of: central.answer(to: request))
            }
        },
        ContractCase("What the headset refuses comes with its ATT error", needs: .characteristics) { central throws(Breach) in
            try central.establish()
            let requests: [Request] = [
                .read(control, central.headset), .setNotify(true, .serialNumberString, central.headset),
                .write([0], .serialNumberString, .withResponse, central.headset),
            ]
            for request in requests {
                let event = try central.answer(to: request)
                guard case .att? = event.failure else { throw Breach(finding: "no ATT error: \(event)") }
            }
        },
        ContractCase("Requests to a headset that is not connected are refused") { central throws(Breach) in
            try central.begin()
            try central.expectNotConnected()
            try central.find()
            try central.expectNotConnected()
        },
    ]

    /// Notifications.
    static let notificationCases = [
        ContractCase("Notifications come while they are on, with the time of their arrival", needs: .characteristics) {
            central throws(Breach) in
            try central.establish()
            try central.write(.status)
            try central.expectSilence(.seconds(2))
            try central.setNotify(true)
            try central.setNotify(true, BufferedEEGService.data)
            try central.write(.wake)
            try central.watch(.milliseconds(500))
            try central.write(.configure)
            try central.write(.start)
            for _ in 0..<50 { try central.waitForValue(of: BufferedEEGService.data) }
            try central.setNotify(false, BufferedEEGService.data)
            try central.watch(.seconds(1))
            central.forget()
            try central.write(.status)
            try central.waitForValue(of: control)
            try central.write(.stop)
            try central.setNotify(false)
            central.forget()
            try central.write(.status)
            try central.expectSilence(.seconds(3))
        },
        ContractCase("Notifications that are set again are answered again") { central throws(Breach) in
            try central.establish()
            for isOn in [false, true, true, false, false, true, false] { try central.setNotify(isOn) }
            try central.expectSilence(.seconds(3)) { $0.isValue }
        },
        ContractCase("Notifications that are set several times at once end as was asked last", needs: .characteristics) {
            central throws(Breach) in
            try central.establish()
            for wishes in [[true, true, false, true], [false, false, true, false, true, true], [false, true, false]] {
                for (isOn, attempt) in wishes.map({ ($0, central.ask(.setNotify($0, control, central.headset))) }) {
                    let event = try central.answer(to: .setNotify(isOn, control, central.headset), attempt)
                    if let error = event.failure { throw Breach(finding: "notifications could not be set: \(error)") }
                }
                try central.write(.status)
                if wishes.last == true { try central.waitForValue(of: control) }
                try central.watch(.seconds(1))
            }
            try central.write(.status)
            try central.expectSilence(.seconds(3))
        },
        ContractCase("A new link begins without notifications", needs: .characteristics) { central throws(Breach) in
            try central.establish()
            try central.setNotify(true)
            try central.cancel()
            try central.find()
            try central.connect()
            try central.discover()
            try central.write(.status)
            try central.expectSilence(.seconds(3))
            try central.setNotify(true)
            try central.write(.status)
            try central.waitForValue(of: control)
        },
    ]
}
