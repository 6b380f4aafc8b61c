import Bluetooth
import CentralContract
import Simulation
import Testing

/// The simulation's central keeps the contract, whoever holds its links.
struct SimulationContractTests {
    @Test("The simulation's central keeps the contract, with links that bluetoothd holds", arguments: ContractCase.all)
    func bluetoothd(contractCase: ContractCase) {
        for seed in UInt64(1)...5 {
            let findings = contractCase.findings(on: SimulatedBench(seed: seed))
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
        }
    }

    @Test("The simulation's central keeps the contract, with links that its own sockets hold", arguments: ContractCase.all)
    func kernelSockets(contractCase: ContractCase) {
        for seed in UInt64(1)...5 {
            let findings = contractCase.findings(on: SimulatedBench(seed: seed, system: .kernelSockets))
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
        }
    }

    @Test("No two cases have the same sentence")
    func sentences() {
        let sentences = ContractCase.all.map(\.sentence)
        #expect(Set(sentences).count == sentences.count)
    }
}
