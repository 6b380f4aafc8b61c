import Bluetooth
import Headsets

extension FuzzTarget {
    /// Defects that a fuzzer worth its time must find, one of each kind: what ends the process, what breaks a rule, what takes
    /// memory because it was told to, what the audit finds in the database, what is done for whom it must not be done.
    package static let planted: [FuzzTarget] = [
        FuzzTarget("planted-crash") { bytes in brokenRule(of: bytes, defect: .trustsLength) },
        FuzzTarget("planted-rule") { bytes in brokenRule(of: bytes, defect: .miscountsInstants) },
        FuzzTarget("planted-memory") { bytes in brokenRule(of: bytes, defect: .reservesWhatIsAnnounced) },
        plantedAcquisition, plantedRequest,
    ]

    private static func brokenRule(of bytes: [UInt8], defect: DefectiveDecoder.Defect) -> String? {
        var input = FuzzInput(bytes)
        var decoder = DefectiveDecoder(defect: defect)
        var rules = DecodedRules(streams: ThinkGearProfile().streams)
        var decoded = Decoded()
        while let piece = input.piece() {
            decoded.removeAll()
            decoder.decode(piece, from: .serialPort, into: &decoded)
            if let broken = rules.check(decoded, byteCount: piece.count) { return broken }
        }
        return nil
    }
}

/// Decodes `A5 5A length sample...`, and has one defect.
private struct DefectiveDecoder: HeadsetDecoder {
    enum Defect {
        /// The length byte is believed.
        case trustsLength
        /// A packet of seven samples says that it has eight.
        case miscountsInstants
        /// Room is made for as many samples as the first four of them announce.
        case reservesWhatIsAnnounced
    }

    let defect: Defect
    private var kept: [Int32] = []

    init(defect: Defect) {
        self.defect = defect
    }

    mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        guard bytes.count > 3, bytes[0] == 0xA5, bytes[1] == 0x5A else { return }
        var count = Int(bytes[2])
        if defect != .trustsLength { count = min(count, bytes.count - 3) }
        if defect == .reservesWhatIsAnnounced, bytes.count > 6 {
            kept.reserveCapacity(bytes[3..<7].reduce(0) { $0 << 8 | Int($1) })
        }
        for index in 3..<(3 + count) { decoded.values.append(Int32(bytes[index])) }
        var instants = decoded.values.count
        guard instants > 0 else { return }
        if defect == .miscountsInstants, instants == 7 { instants = 8 }
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: ThinkGearProfile.eeg, counter: nil, channelCount: 1, instantCount: instants,
                    values: 0..<decoded.values.count)))
    }
}
