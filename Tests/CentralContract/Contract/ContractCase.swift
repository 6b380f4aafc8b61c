public import Bluetooth

/// One sentence of the contract of `Central`, and how it is put to the test.
public struct ContractCase: Sendable, CustomStringConvertible {
    /// The sentence.
    public let sentence: String
    private let perform: @Sendable (CentralUnderTest) throws(Breach) -> Void

    init(_ sentence: String, _ perform: @escaping @Sendable (CentralUnderTest) throws(Breach) -> Void) {
        self.sentence = sentence
        self.perform = perform
    }

    public var description: String { sentence }

    /// All of them.
    public static let all =
        adapterCases + restorationCases + scanCases + connectionCases + cancellationCases + discoveryCases + attributeCases
        + notificationCases + lossCases

    /// Puts a central to the test.
    ///
    /// - Parameters:
    ///   - bench: where it works; headset and adapter are as they were when this returns.
    ///   - spoil: changes each central before it is used; for planted defects.
    /// - Returns: in what it breaks the contract; empty for a good one.
    public func findings(
        on bench: any ContractBench, spoil: @escaping (any Central) -> any Central = { $0 }
    ) -> [String] {
        let central = CentralUnderTest(on: bench, spoil: spoil)
        var findings: [String] = []
        do {
            try perform(central)
        } catch {
            findings.append(error.finding)
        }
        central.leave()
        return findings + central.ledger.findings
    }
}

/// A sentence of the contract does not hold.
struct Breach: Error {
    /// What was seen instead.
    let finding: String
}
