/// What a Muse S Athena can be set to send. All presets have motion and the reference electrodes.
///
/// What a preset holds was seen in recordings (OpenMuse's, amused-py's) or is what programs agree on; with `p50` ... `p61`,
/// BrainFlow's documentation promises optics that no recording has.
package enum MuseAthenaPreset: String, Hashable, Sendable, CaseIterable {
    /// 4 channels of EEG.
    case p20, p21, p50, p51, p60, p61
    /// 4 channels of EEG, 8 of optics.
    case p1034
    /// 4 channels of EEG, 4 of optics.
    case p1035
    /// 8 channels of EEG, 16 of optics; at low and at high power.
    case p1041, p1042
    /// 8 channels of EEG, 8 of optics; at low and at high power.
    case p1043, p1044
    /// 8 channels of EEG, 4 of optics; at low, at high, and at unknown power.
    case p1045, p1046, p4129

    /// Channels of the EEG, 4 or 8.
    package var eegChannelCount: Int {
        switch self {
        case .p20, .p21, .p50, .p51, .p60, .p61, .p1034, .p1035: 4
        case .p1041, .p1042, .p1043, .p1044, .p1045, .p1046, .p4129: 8
        }
    }

    /// Channels of the optics, 0, 4, 8 or 16.
    package var opticsChannelCount: Int {
        switch self {
        case .p20, .p21, .p50, .p51, .p60, .p61: 0
        case .p1035, .p1045, .p1046, .p4129: 4
        case .p1034, .p1043, .p1044: 8
        case .p1041, .p1042: 16
        }
    }

    /// What its blocks hold.
    var layout: MuseAthenaLayout {
        MuseAthenaLayout(eegChannelCount: eegChannelCount, opticsChannelCount: opticsChannelCount)
    }
}
