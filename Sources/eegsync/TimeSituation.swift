import Foundation
import Headsets
import Storage

/// What is wrong with the times of a headset that streams, or with the rate at which its samples come.
struct TimeSituation: Hashable {
    /// One complaint about one stream.
    struct Warning: Encodable, Hashable {
        /// What is complained about.
        enum Kind: String, Encodable, Hashable {
            /// Samples come at another rate than the headset declares.
            case rate
            /// Packets come so late that nothing can be said about their time.
            case lateness
            /// Samples are lost all the time.
            case loss
            /// The times are not known well.
            case uncertainty
        }

        var stream: String
        var kind: Kind
        /// What it is and means, in one sentence.
        var sentence: String
        /// What a person can do.
        var remedy: String
    }

    /// By stream, worst first.
    let warnings: [Warning]

    /// The time map of a link that is younger rests on too little, in seconds.
    private static let patienceSeconds = 60.0
    /// Samples that a rate is judged by, at the least: three of them are the 2 % that are tolerated.
    private static let ratedSamples = 150.0
    /// Crystals and oscillators of headsets keep their rate to this part; see the page about the data model.
    private static let toleratedRate = 0.02
    /// The part that may be lost before a person should look.
    private static let toleratedLoss = 0.02
    /// Packets wait in queues for some tenths of a second; half of them for longer than this is beyond belief, in seconds.
    private static let believableLateness = 1.0
    /// Times are promised to be right within this, in seconds, or within two sample periods, whatever is more.
    private static let usualUncertainty = 0.02

    /// Nothing is said of streams that do not flow.
    ///
    /// - Parameter streamingSeconds: for how long the headset has been streaming; nil where it is not, or that is not known.
    init(_ activity: HeadsetActivity, streamingSeconds: Double?) {
        guard let streamingSeconds, streamingSeconds >= Self.patienceSeconds else {
            warnings = []
            return
        }
        let present = activity.streams.filter { stream in
            stream.rowsPerSecond > 0
                && !activity.streams.contains { $0.id > stream.id && StreamName($0.name).continues(stream.name) }
        }
        warnings = present.flatMap { stream in
            [
                Self.rate(of: stream, streamingSeconds: streamingSeconds), Self.lateness(of: stream),
                Self.loss(of: stream, recording: activity.recording), Self.uncertainty(of: stream),
            ].compactMap(\.self)
        }
    }

    private static func rate(of stream: StreamActivity, streamingSeconds: Double) -> Warning? {
        guard let period = stream.times?.periodNanoseconds, period > 0,
            streamingSeconds * stream.samplingFrequency >= ratedSamples
        else { return nil }
        let rate = 1e9 / period
        let deviation = rate / stream.samplingFrequency - 1
        guard abs(deviation) > toleratedRate else { return nil }
        let declared = "\(stream.words) comes at \(hertz(rate)), not at the declared \(hertz(stream.samplingFrequency))"
        guard deviation < 0, stream.lossDetection != LossDetection.counter.rawValue else {
            return Warning(
                stream: stream.words, kind: .rate, sentence: "\(declared): what the headset declares is wrong",
                remedy: "go by the times of the samples, which follow the true rate, and not by n divided by the frequency; "
                    + "where a descriptor or a setting says the frequency, correct it")
        }
        return Warning(
            stream: stream.words, kind: .rate,
            sentence: String(
                format: "%@: either that is wrong, or %.1f %% of the samples are lost and nothing detects it", declared,
                -deviation * 100),
            remedy: "bring it closer: where the rate then rises, samples were lost; where it stays, the declared frequency is "
                + "wrong. Until then go by the times, and not by n")
    }

    private static func lateness(of stream: StreamActivity) -> Warning? {
        guard let residual = stream.times?.residualNanoseconds, residual / 1e9 > believableLateness else { return nil }
        return Warning(
            stream: stream.words, kind: .lateness,
            sentence: "half of the packets of \(stream.words) come later than their time by "
                + "\(Quantity.duration(seconds: residual / 1e9)) or more, so its times cannot be believed",
            remedy: "bring it closer, and end what keeps this machine or its radio busy; where that changes nothing, keep "
                + "what it sends for whoever can look: eegsync capture")
    }

    private static func loss(of stream: StreamActivity, recording: RecordingID?) -> Warning? {
        guard stream.lostFraction > toleratedLoss else { return nil }
        return Warning(
            stream: stream.words, kind: .loss,
            sentence: String(
                format: "%@ has lost %.1f %% of its samples of the last ten minutes on the way", stream.words,
                stream.lostFraction * 100),
            remedy: "bring it closer, keep other radios away, and charge it; what is missing: eegsync gaps "
                + "\(recording.map { "\($0.rawValue)" } ?? "RECORDING")")
    }

    private static func uncertainty(of stream: StreamActivity) -> Warning? {
        guard let uncertainty = stream.times?.uncertaintyNanoseconds,
            uncertainty / 1e9 > max(usualUncertainty, 2 / stream.samplingFrequency)
        else { return nil }
        return Warning(
            stream: stream.words, kind: .uncertainty,
            sentence: "times of \(stream.words) are right within \(Quantity.duration(seconds: uncertainty / 1e9)) only, as its "
                + "packets come unevenly",
            remedy: "bring it closer and keep other radios away; the times of a minute become better while the next one is "
                + "recorded")
    }

    /// With as many digits as 2 % ask for.
    private static func hertz(_ frequency: Double) -> String { Quantity.significant(frequency, digits: 4) + " Hz" }
}

extension StreamActivity {
    /// Such as `optics-2` for the second bank.
    var words: String { StreamDescription.bankName(name, bank) }
}
