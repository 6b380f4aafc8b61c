import Bluetooth
import HeadsetDescriptors
import Headsets
import ShippedHeadsets
import YAMLReading

extension FuzzTarget {
    /// What somebody has written about a headset, and what such a headset sends.
    static let descriptors: [FuzzTarget] = [
        FuzzTarget("descriptor", run: descriptor),
        FuzzTarget("decoder-described") { bytes in DecoderRun(kinds: shippedProfiles, input: bytes).brokenRule },
    ]

    /// The shipped descriptors without the template, which is none yet.
    private static let shippedProfiles: [any HeadsetProfile] = ShippedDescriptor.all.compactMap {
        (try? DescriptorReader.read($0.text)).map { DescribedProfile($0) }
    }

    /// Any text is refused with a reason, or is a profile whose decoder takes any bytes: here the text's own.
    private static func descriptor(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(YAMLDocumentError) {
            let profile = DescribedProfile(try DescriptorReader.read(text))
            if profile.streams.isEmpty, profile.memory == .none { return "a headset without streams" }
            var decoder = profile.makeDecoder()
            var decoded = Decoded()
            for source in profile.descriptor.sources {
                decoder.decode(bytes, from: source.characteristic, into: &decoded)
                for case .samples(let block) in decoded.items
                where block.values.count != block.channelCount * block.instantCount
                    || block.values.upperBound > decoded.values.count
                {
                    return "a block of another size than its channels and instants: \(block)"
                }
                decoded.removeAll()
            }
            return nil
        } catch {
            if case .invalid(let problems) = error {
                return problems.isEmpty || problems.count > YAMLDocumentError.problemsMaximum ? "no reason, or too many" : nil
            }
            return error.description.isEmpty ? "no reason" : nil
        }
    }
}
