import Bluetooth
import HeadsetDescriptors
import Headsets
import ShippedHeadsets

/// Headsets that a descriptor describes: what reading a plan costs beside code that was written for one headset.
extension DecodeWorkload {
    static var described: [DecodeWorkload] {
        [
            DecodeWorkload(
                name: "described: Hermes", decoder: decoder("hermes-described.yaml"),
                notifications: (0..<128).map { (HermesService.eegData, [UInt8($0)] + bytes(240, seed: $0)) }),
            DecodeWorkload(
                name: "described: OpenBCI frames", decoder: decoder("openbci-nus.yaml"), notifications: openBCI),
        ]
    }

    private static func decoder(_ file: String) -> any HeadsetDecoder {
        guard let text = ShippedDescriptor.all.first(where: { $0.file == file })?.text,
            let descriptor = try? DescriptorReader.read(text)
        else { preconditionFailure("\(file) is no descriptor") }
        return DescribedProfile(descriptor).makeDecoder()
    }

    /// A turn of the counter, cut without regard to frames.
    private static var openBCI: [Notification] {
        var stream: [UInt8] = []
        for number in 0..<256 { stream += [0xA0, UInt8(number)] + bytes(24, seed: number) + [0, 0, 0, 0, 0, 0, 0xC0] }
        let transmit = BluetoothUUID(high: 0x6E40_0003_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E)
        return stride(from: 0, to: stream.count, by: 182).map {
            (transmit, Array(stream[$0..<min(stream.count, $0 + 182)]))
        }
    }
}
