/// A descriptor that comes with the program.
public struct ShippedDescriptor: Hashable, Sendable {
    /// The name of its file in `Deploy/headsets`.
    public let file: String
    /// The YAML text.
    public let text: String

    /// All of them, in the order of their names. A file of the folder that is not listed here fails a test.
    public static let all: [ShippedDescriptor] = [
        ShippedDescriptor("ads1299-nus.yaml", PackageResources.ads1299_nus_yaml),
        ShippedDescriptor("cleio-template.yaml", PackageResources.cleio_template_yaml),
        ShippedDescriptor("hermes-described.yaml", PackageResources.hermes_described_yaml),
        ShippedDescriptor("openbci-nus.yaml", PackageResources.openbci_nus_yaml),
        ShippedDescriptor("openearable-exg.yaml", PackageResources.openearable_exg_yaml),
    ]

    private init(_ file: String, _ bytes: [UInt8]) {
        self.file = file
        self.text = String(decoding: bytes, as: UTF8.self)
    }
}
