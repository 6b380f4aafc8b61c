/// What a Muse 2016, Muse 2 or Muse S can be set to send.
///
/// Sources agree on these (BlueMuse, muse-lsl, BrainFlow); of `p23`, `p31`, `p32`, `p52`, `p53` and `p63` nobody says what
/// they hold.
package enum MusePreset: String, Hashable, Sendable, CaseIterable {
    /// 5 channels of EEG, the fifth at the auxiliary input; motion.
    case p20
    /// 4 channels of EEG, motion.
    case p21
    /// 4 channels of EEG and nothing else.
    case p22
    /// As p20, with optical channels.
    case p50
    /// As p21, with optical channels.
    case p51
    /// As p50, of a Muse S.
    case p60
    /// As p51, of a Muse S.
    case p61

    /// Channels of the EEG, 4 or 5.
    package var eegChannelCount: Int {
        switch self {
        case .p20, .p50, .p60: 5
        case .p21, .p22, .p51, .p61: 4
        }
    }

    /// Whether accelerometer and gyroscope are sent.
    package var hasMotion: Bool { self != .p22 }

    /// Whether the optical channels are sent.
    package var hasPPG: Bool {
        switch self {
        case .p50, .p51, .p60, .p61: true
        case .p20, .p21, .p22: false
        }
    }

    /// The same for a headset without optical channels, which does not know the preset.
    package var withoutPPG: MusePreset { hasPPG ? (eegChannelCount == 5 ? .p20 : .p21) : self }
}
