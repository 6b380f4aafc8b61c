package import Bluetooth

/// A headset that a descriptor describes.
package struct DescribedProfile: HeadsetProfile {
    /// What the profile was made of.
    package let descriptor: HeadsetDescriptor

    package let controlCharacteristics: [BluetoothUUID]
    package let dataCharacteristics: [BluetoothUUID]
    package let vitalCharacteristics: [BluetoothUUID]
    private let plan: DescribedPlan
    /// Why the GATT database is not one of this model; nil where it may be.
    private let mismatch: String?

    /// Creates the profile of any headset of the model.
    package init(_ descriptor: HeadsetDescriptor) {
        self.init(descriptor, plan: DescribedPlan(descriptor), mismatch: nil)
    }

    private init(_ descriptor: HeadsetDescriptor, plan: DescribedPlan, mismatch: String?) {
        self.descriptor = descriptor
        self.plan = plan
        self.mismatch = mismatch
        var control = Self.characteristics(of: descriptor, .control)
        var data = Self.characteristics(of: descriptor, .data)
        if descriptor.memory == .bufferedEEGService {
            control.append(BufferedEEGService.control)
            data.append(BufferedEEGService.data)
        }
        controlCharacteristics = control
        dataCharacteristics = mismatch == nil ? data : []
        vitalCharacteristics = mismatch == nil ? descriptor.sources.filter(\.isVital).map(\.characteristic) : []
    }

    private static func characteristics(
        of descriptor: HeadsetDescriptor, _ role: DescribedSource.Role
    ) -> [BluetoothUUID] {
        var result: [BluetoothUUID] = []
        for source in descriptor.sources where source.role == role && !result.contains(source.characteristic) {
            result.append(source.characteristic)
        }
        return result
    }

    /// Of the open service; what is counted elsewhere, a descriptor does not say of each characteristic.
    package var countedCharacteristics: [BluetoothUUID] {
        memory == .bufferedEEGService ? [BufferedEEGService.control, BufferedEEGService.data] : []
    }

    package var model: String { descriptor.model }
    package var displayName: String { descriptor.displayName }
    package var recognition: Recognition { descriptor.recognition }
    package var services: [BluetoothUUID] { descriptor.services }
    package var identityCharacteristic: BluetoothUUID? { descriptor.identityCharacteristic }
    package var streams: [StreamDescription] { plan.streams }
    package var epochRule: EpochRule { descriptor.epochRule }
    package var memory: MemoryCapability { descriptor.memory }
    package var timing: ProfileTiming { descriptor.timing }

    /// A serial number in a status replaces a characteristic's.
    package var sendsIdentityInStatus: Bool {
        identityCharacteristic == nil
            && descriptor.sources.contains { $0.packets.contains { $0.status?.serialNumber != nil } }
    }

    package var isDiscriminatedByDatabase: Bool {
        !descriptor.required.isEmpty || !descriptor.excluded.isEmpty || descriptor.sources.contains(where: \.isOptional)
    }

    /// The commands as described. Where the headset turned out to be of another model, the link is given up; where it has a
    /// memory, the Buffered EEG service is asked as well.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        if let mismatch { return purpose == .initialise ? [.abandonLink(reason: mismatch)] : [] }
        var steps = descriptor.commands.first { $0.purpose == purpose }?.steps ?? []
        if memory == .bufferedEEGService, purpose == .queryStatus { steps.append(BufferedEEGCommand.status.step) }
        return steps
    }

    /// The profile without what this headset lacks, or one that gives the link up where it is another model.
    package func adapted(to database: GATTDatabase) -> any HeadsetProfile {
        if let absent = descriptor.required.first(where: { database[$0] == nil }) {
            let reason = "it lacks the characteristic \(absent), so it is no \(displayName)"
            return DescribedProfile(descriptor, plan: plan, mismatch: reason)
        }
        if let present = descriptor.excluded.first(where: { database[$0] != nil }) {
            let reason = "it has the characteristic \(present), so it is no \(displayName)"
            return DescribedProfile(descriptor, plan: plan, mismatch: reason)
        }
        let sources = descriptor.sources.filter { !$0.isOptional || database[$0.characteristic] != nil }
        return sources.count == descriptor.sources.count ? self : DescribedProfile(descriptor.keeping(sources))
    }

    package func makeDecoder() -> any HeadsetDecoder { DescribedDecoder(plan: plan, memory: memory) }
}

extension HeadsetDescriptor {
    /// The descriptor with these sources only, and with those streams that any of them fills.
    fileprivate func keeping(_ sources: [DescribedSource]) -> HeadsetDescriptor {
        let filled = sources.flatMap { $0.packets.flatMap { $0.samples.map(\.stream) } }
        let kept = streams.indices.filter(filled.contains)
        var result = self
        result.streams = kept.map { streams[$0] }
        result.sources = sources
        for source in result.sources.indices {
            for packet in result.sources[source].packets.indices {
                for samples in result.sources[source].packets[packet].samples.indices {
                    let old = result.sources[source].packets[packet].samples[samples].stream
                    result.sources[source].packets[packet].samples[samples].stream = kept.firstIndex(of: old) ?? -1
                }
            }
        }
        return result
    }
}

extension DescribedProfile {
    /// The one byte stream that carries the samples, for bytes that were recorded without times; nil where there is none,
    /// or more than one. `bytesPerSecond` is known where each kind of packet has its own length.
    package func byteStream(beginning: [UInt8]) -> HeadsetByteStream? {
        let sources = descriptor.sources.filter { $0.role == .data }
        guard sources.count == 1, let source = sources.first, source.framing.isByteStream else { return nil }
        guard let packet = source.packets.first(where: { !$0.samples.isEmpty }), let length = packet.length,
            let samples = packet.samples.first, case .fixed(let count) = samples.count, count > 0,
            descriptor.streams.indices.contains(samples.stream)
        else { return HeadsetByteStream(characteristic: source.characteristic, bytesPerSecond: nil) }
        let rate = Double(length) * descriptor.streams[samples.stream].samplingFrequency / Double(count)
        return HeadsetByteStream(characteristic: source.characteristic, bytesPerSecond: rate)
    }
}
