import Headsets

/// From where on a signal is not good any more.
enum SignalThresholds {
    /// Samples of one window: long enough to distinguish 50 Hz from 60 Hz and both from EEG (the spectral line is 2 Hz wide),
    /// short enough for a mains frequency that wanders by 0.05 Hz, which then costs 1 % of the amplitude.
    static let windowSeconds = 2.0
    /// After how many windows a result is stored where nothing changes: 10 s.
    static let windowsPerResult = 5

    /// Beyond this part of half the range a sample is railed; OpenBCI's own program draws its line there, too.
    static let railedLevel = 0.9
    /// A channel is railed from this part of a window's samples on. A blink alone stays below it.
    static let railedFraction = 0.1

    /// A channel that moves by less, peak to peak in a window, is flat. An amplifier with shorted inputs has noise of about
    /// 1 µV (Texas Instruments, ADS1299: 1 µV peak to peak in 70 Hz); the EEG of a living brain has more than 2 µV, by the
    /// definition of its absence (American Clinical Neurophysiology Society, Guideline 3).
    static let flatMicrovolts = 2.0
    /// The same where the unit is none of voltage: the last bit of the converter.
    static let flatCounts: Int64 = 1

    /// Line noise is high from this amplitude on: 20 µV peak to peak are as much as many people's alpha rhythm.
    static let lineNoiseMicrovolts = 10.0

    /// NeuroSky's measure of poor signal is 0 where all is well, and 200 where the electrodes touch no skin (ThinkGear
    /// Communications Protocol, code 02).
    static let noContact: Int32 = 200

    /// Microvolts of one raw step; nil where the unit is none of voltage.
    static func microvoltsPerCount(_ channel: ChannelDescription) -> Double? {
        switch channel.unit {
        case "nV": abs(channel.scale) / 1e3
        case "uV", "µV": abs(channel.scale)
        case "mV": abs(channel.scale) * 1e3
        case "V": abs(channel.scale) * 1e6
        default: nil
        }
    }
}
