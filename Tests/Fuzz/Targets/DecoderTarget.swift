import Bluetooth
import Headsets

extension FuzzTarget {
    /// One target for each model: whatever is in the catalog is fuzzed without a word here.
    static let decoders: [FuzzTarget] = HeadsetCatalog.builtIn.profiles.map { profile in
        let kinds = variants[profile.model] ?? [profile]
        return FuzzTarget("decoder-" + profile.model) { bytes in DecoderRun(kinds: kinds, input: bytes).brokenRule }
    }

    /// Profiles of one model whose decoders differ. The first byte of an input chooses.
    private static let variants: [String: [any HeadsetProfile]] = [
        "ganglion": [GanglionProfile(), GanglionProfile(isAccelerometerOn: false)],
        "mindwave": [MindWaveProfile(), MindWaveProfile(format: .stream)],
        "muse": [MuseProfile(preset: "p50", variant: .withPPG)]
            + [.p21, .p1034, .p1035, .p1041].map { MuseAthenaProfile(preset: $0) }
            + [MuseProfile(variant: .withoutPPG), MuseProfile(preset: "p22", variant: .withPPG)],
        "tgam": [TGAMProfile(radio: .hm10), TGAMProfile(radio: .issc)],
    ]
}

/// One link: what a headset, or somebody in its place, notifies on all of its characteristics.
///
/// An input is a byte that chooses the kind, and pieces: where from, length, bytes. The highest bit of where from puts the
/// right CRC-32C at the end, which no mutation would find.
struct DecoderRun {
    private let profile: any HeadsetProfile
    private var pieces: [(characteristic: BluetoothUUID, bytes: [UInt8])] = []

    init(kinds: [any HeadsetProfile], input: [UInt8]) {
        var input = FuzzInput(input)
        profile = kinds[input.byte() % kinds.count]
        let characteristics = Self.characteristics(of: profile)
        while true {
            let index = input.byte()
            guard var bytes = input.piece() else { break }
            if index >= 0x80, bytes.count >= 4 {
                let checksum = CRC32C.checksum(of: bytes, count: bytes.count - 4)
                for byte in 0..<4 { bytes[bytes.count - 4 + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * byte)) }
            }
            pieces.append((characteristics[index & 0x7F % characteristics.count], bytes))
        }
    }

    /// Those that notify, those that are read, and one that is none of the model's.
    private static func characteristics(of profile: any HeadsetProfile) -> [BluetoothUUID] {
        let read = CommandPurpose.allCases.flatMap { profile.commands(for: $0, status: nil) }.compactMap { step in
            if case .read(let characteristic) = step { characteristic } else { nil }
        }
        let own = profile.requiredCharacteristics + (profile.identityCharacteristic.map { [$0] } ?? []) + read
        return own.reduce(into: []) { if !$0.contains($1) { $0.append($1) } } + [.batteryLevel]
    }

    /// The first rule that does not hold.
    var brokenRule: String? {
        var decoder = profile.makeDecoder()
        var rules = DecodedRules(streams: profile.streams)
        var decoded = Decoded()
        for (characteristic, bytes) in pieces {
            decoded.removeAll()
            decoder.decode(bytes, from: characteristic, into: &decoded)
            if let broken = rules.check(decoded, byteCount: bytes.count) { return broken }
        }
        return ruleOfStreams
    }

    /// Characteristics whose notifications are pieces of one stream.
    private static let byteStreams: [BluetoothUUID] = [
        .serialPort, ExploreService.explorePro.data, TGAMProfile.Radio.hm10.data, TGAMProfile.Radio.issc.data,
    ]

    /// Models whose frames have no checksum: whether a frame is one, they also ask of what follows it, as far as it has come.
    /// They do not hold a frame back until then.
    private static let modelsThatLookAhead = ["cyton", "unicorn"]

    /// A byte stream means the same however it is cut.
    private var ruleOfStreams: String? {
        guard !Self.modelsThatLookAhead.contains(profile.model) else { return nil }
        for characteristic in Self.byteStreams {
            let stream = pieces.filter { $0.characteristic == characteristic }.map(\.bytes)
            guard stream.count > 1 else { continue }
            let whole = content(of: [stream.flatMap { $0 }], from: characteristic)
            let inPieces = content(of: stream, from: characteristic)
            if inPieces != whole { return "in pieces the stream is \(inPieces), as a whole \(whole)" }
        }
        return nil
    }

    /// What a byte stream holds, however it is distributed over blocks.
    private struct Content: Equatable {
        var values: [Int: [Int32]] = [:]
        var damaged: [Int: Int] = [:]
        var texts: [String] = []
    }

    private func content(of pieces: [[UInt8]], from characteristic: BluetoothUUID) -> Content {
        var decoder = profile.makeDecoder()
        var decoded = Decoded()
        var content = Content()
        for bytes in pieces {
            decoded.removeAll()
            decoder.decode(bytes, from: characteristic, into: &decoded)
            for item in decoded.items {
                switch item {
                case .samples(let block): content.values[block.stream, default: []] += decoded.values[block.values]
                case .damaged(let stream, let count): content.damaged[stream, default: 0] += count
                case .event(let event): content.texts.append(event.description)
                case .message(let text): content.texts.append(text)
                default: break
                }
            }
        }
        return content
    }
}
