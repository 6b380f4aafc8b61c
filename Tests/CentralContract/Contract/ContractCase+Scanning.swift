import Bluetooth
import Headsets

extension ContractCase {
    /// Scans.
    static let scanCases = [
        ContractCase("A scan for the headset's service finds it", needs: .advertisements) { central throws(Breach) in
            try central.begin()
            central.scan(ScanFilter(serviceUUIDs: [BufferedEEGService.service]))
            try central.sight()
        },
        ContractCase("A scan for the beginning of the headset's name finds it", needs: .advertisements) {
            central throws(Breach) in
            try central.begin()
            central.scan(ScanFilter(namePrefixes: [BufferedEEGService.namePrefix]))
            try central.sight()
        },
        ContractCase("A scan for something else finds nothing", needs: .advertisements) { central throws(Breach) in
            try central.begin()
            central.scan(CentralUnderTest.foreignFilter)
            try central.expectSilence(.seconds(10))
            central.scan(ScanFilter(namePrefixes: ["no headset is called so"], companies: [0xFFF0]))
            try central.expectSilence(.seconds(10))
        },
        ContractCase("A scan for nothing finds nothing", needs: .advertisements) { central throws(Breach) in
            try central.begin()
            central.scan(ScanFilter())
            try central.expectSilence(.seconds(10))
        },
        ContractCase("A scan goes on until it is stopped; then nothing more is found", needs: .advertisements) {
            central throws(Breach) in
            try central.begin()
            central.scan(CentralUnderTest.filter)
            for _ in 0..<3 { try central.sight() }
            central.stopScan()
            central.forget()
            try central.expectSilence(.seconds(10))
        },
        ContractCase("A scan that is stopped at once finds nothing, and the next one works", needs: .advertisements) {
            central throws(Breach) in
            try central.begin()
            central.scan(CentralUnderTest.filter)
            central.stopScan()
            try central.expectSilence(.seconds(5))
            central.stopScan()
            central.scan(CentralUnderTest.filter)
            central.stopScan()
            central.scan(CentralUnderTest.filter)
            try central.sight()
        },
        ContractCase("A running scan takes another filter, in either direction", needs: .advertisements) {
            central throws(Breach) in
            try central.begin()
            central.scan(CentralUnderTest.foreignFilter)
            try central.expectSilence(.seconds(5))
            central.scan(CentralUnderTest.filter)
            try central.sight()
            central.scan(CentralUnderTest.foreignFilter)
            central.forget()
            try central.expectSilence(.seconds(5))
            central.scan(CentralUnderTest.foreignFilter)
            central.scan(CentralUnderTest.filter)
            try central.sight()
        },
        ContractCase("A headset that returns while a scan runs is found", needs: .advertisements) { central throws(Breach) in
            try central.begin()
            central.scan(CentralUnderTest.filter)
            try central.sight()
            central.bench.takeAway(for: .seconds(15))
            try central.watch(.seconds(10))
            try central.sight(within: .seconds(20))
        },
    ]
}
