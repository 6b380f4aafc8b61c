package import Bluetooth
package import Headsets

/// One sentence of the contract of `Central`, and how it is put to the test.
package struct ContractCase: Sendable, CustomStringConvertible {
    /// The sentence.
    package let sentence: String
    /// What it needs that not every headset has.
    let needs: [Need]
    private let perform: @Sendable (CentralUnderTest) throws(Breach) -> Void

    /// What a headset with a serial port over Bluetooth Classic does not have.
    enum Need {
        /// Advertisements.
        case advertisements
        /// Characteristics that can be read, subscribed to and written one by one.
        case characteristics
    }

    init(
        _ sentence: String, needs: Need..., perform: @escaping @Sendable (CentralUnderTest) throws(Breach) -> Void
    ) {
        self.sentence = sentence
        self.needs = needs
        self.perform = perform
    }

    package var description: String { sentence }

    /// All of them.
    package static let all =
        adapterCases + restorationCases + scanCases + connectionCases + cancellationCases + discoveryCases + attributeCases
        + notificationCases + lossCases

    /// Whether the case can be put to a headset of the model.
    package func applies(to profile: any HeadsetProfile) -> Bool { needs.isEmpty || !profile.usesSerialPort }

    /// Puts a central to the test. A case that does not apply to the bench's headset has no findings.
    ///
    /// - Parameters:
    ///   - bench: where it works; headset and adapter are as they were when this returns.
    ///   - spoil: changes each central before it is used; for planted defects.
    /// - Returns: in what it breaks the contract; empty for a good one.
    package func findings(
        on bench: any ContractBench, spoil: @escaping (any Central) -> any Central = { $0 }
    ) -> [String] {
        guard applies(to: bench.profile) else { return [] }
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
