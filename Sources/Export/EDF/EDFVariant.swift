/// The two members of the format's family, which differ in the width of a sample and in a few words of the header.
///
/// Sources: EDF+ specification (Kemp and Olivan 2003, edfplus.info), section 2; BDF: BioSemi's file format page; BDF+:
/// EDFbrowser's description of BDF+, which carries EDF+'s rules over to 24 bits.
enum EDFVariant: Hashable, Sendable {
    case edf, bdf

    var bytesPerSample: Int { self == .edf ? 2 : 3 }

    /// What a sample can hold.
    var digitalLimits: ClosedRange<Int32> { self == .edf ? -32_768...32_767 : -8_388_608...8_388_607 }

    /// The first eight bytes of a file.
    var version: [UInt8] {
        self == .edf ? Array("0       ".utf8) : [0xFF] + Array("BIOSEMI".utf8)
    }

    /// The label by which readers know the signal of annotations.
    var annotationLabel: String { self == .edf ? "EDF Annotations" : "BDF Annotations" }

    /// The header's reserved field.
    func reserved(isContinuous: Bool) -> String {
        (self == .edf ? "EDF+" : "BDF+") + (isContinuous ? "C" : "D")
    }

    /// The name as people write it.
    var name: String { self == .edf ? "EDF+" : "BDF+" }
}
