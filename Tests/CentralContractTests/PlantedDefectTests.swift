import CentralContract
import Testing

/// The suite bites: each defect is noticed by at least one case.
struct PlantedDefectTests {
    @Test("A planted defect is noticed", arguments: PlantedDefect.allCases)
    func isNoticed(defect: PlantedDefect) {
        var noticed: [String] = []
        for contractCase in ContractCase.all {
            let findings = contractCase.findings(on: SimulatedBench(seed: 1)) { SpoiledCentral($0, defect: defect) }
            if !findings.isEmpty { noticed.append(contractCase.sentence) }
        }
        #expect(!noticed.isEmpty, "no case notices \(defect)")
    }
}
