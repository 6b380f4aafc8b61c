import Bluetooth
import Headsets
import Storage

@testable import Tap

/// One content of each kind, and variants of those that have some.
enum TapExamples {
    static let stream = StreamID(rawValue: 7)
    static let recording = RecordingID(rawValue: 3)

    static let samples = TapSamples(
        rows: SampleRows(
            stream: stream, channelCount: 2, firstN: 1_000, values: [1, -1, .max, .min, 0, 7], missingChannels: [0, 2, 1]),
        time: TapTime(
            first: MonotonicTime(nanoseconds: 5_000_000_000), periodNanoseconds: 4_000_012.5, uncertaintyNanoseconds: 2e6),
        arrival: MonotonicTime(nanoseconds: 5_012_345_678), isLate: false)

    private static let description = StreamDescription(
        name: "eeg", bank: 1, samplingFrequency: 250, samplesPerCount: 4, counterModulus: 1 << 32,
        channels: ["TP9", "Fp1 µ"].map {
            ChannelDescription(name: $0, scale: 0.0224, offset: -3, rawMinimum: -8_388_608, rawMaximum: 8_388_607)
        })

    static let all: [TapContent] =
        [
            .hello(TapHello(program: "0.1.0+abc", droppedReaders: 2)),
            .headset(TapHeadset(recording: recording, headset: HeadsetID(rawValue: 2), name: "left", model: "muse")),
            .stream(NewStream(id: stream, recording: recording, position: 1, description: description)),
            .state(
                TapState(
                    recording: recording, since: .boot, state: "waitingForAdapter", cause: "poweredOff", detail: nil)),
            .clock(
                ClockOffsetRecord(
                    at: MonotonicTime(nanoseconds: 9), offsetNanoseconds: 1_790_000_000_000_000_000, stepNanoseconds: -5,
                    isSynchronised: true)),
            .samples(samples),
            .samples(
                TapSamples(
                    rows: SampleRows(stream: stream, channelCount: 8, firstN: 0, values: [Int32](repeating: 5, count: 80)),
                    time: nil, arrival: nil, isLate: true)),
            .fill(ChannelFill(stream: stream, channel: 2, firstN: 1_001, values: [4, 5])),
            .mark(
                TapMark(
                    annotation: AnnotationRecord(
                        recording: recording, onset: MonotonicTime(nanoseconds: 77), durationSeconds: 1.5,
                        description: "lights out", source: "operator"), isStored: true)),
            .mark(
                TapMark(
                    annotation: AnnotationRecord(
                        recording: recording, onset: .boot, durationSeconds: nil, description: "Trigger 4", source: "headset",
                        sample: AnnotatedSample(stream: stream, n: 1_001), deviceTicks: .max, code: 4), isStored: false)),
            .check(
                SignalCheckRecord(
                    stream: stream, channel: 1, firstN: 0, lastN: 499, condition: .lineNoise, sampleCount: 500,
                    railedFraction: 0.25, peakToPeak: 12, line50Hz: 8.5, line60Hz: nil)),
            .battery(TapBattery(headset: HeadsetID(rawValue: 2), at: .boot, percent: 80, condition: "streaming")),
            .impedance(ImpedanceRecord(recording: recording, at: .boot, electrode: "TP9", kilohms: 12.5)),
            .segment(
                SegmentRecord(
                    stream: stream, firstN: 0, lastN: 999, epoch: 2, referenceN: 5, referenceTime: .boot,
                    periodNanoseconds: 4e6, residualNanoseconds: nil, observationCount: 60, uncertaintyNanoseconds: 1e6)),
            .recording(.started(recording, at: .boot)),
            .recording(.stopped(recording, at: MonotonicTime(nanoseconds: 8))),
            .committed(
                TapCommit(
                    through: 41,
                    rows: [TapCommit.Rows(stream: stream, firstN: 1_000, count: 3), .init(stream: stream, firstN: 9, count: 1)])
            ),
            .refused(TapRefusal(recording: recording, through: 12, reason: "constraint")),
        ] + gaps.map { .gap($0) }

    static let gaps = [
        TapGap(
            entry: .open(
                stream: stream, firstN: 10, channel: 0, count: nil, cause: .linkLost, noticed: MonotonicTime(nanoseconds: 4)),
            time: nil),
        TapGap(
            entry: .open(
                stream: stream, firstN: 10, channel: 3, count: 2, cause: .packetLost, noticed: .boot, certainty: .counted),
            time: MonotonicTime(nanoseconds: 40_000_000)),
        TapGap(
            entry: .close(stream: stream, firstN: 10, channel: 0, count: 5, certainty: .timed(uncertainty: 2)), time: .boot),
        TapGap(entry: .recover(stream: stream, firstN: 10, channel: 0, count: 5), time: nil),
        TapGap(entry: .withdraw(stream: stream, firstN: 10, channel: 0), time: nil),
    ]

    static let messages = all.enumerated().map { index, content in
        TapMessage(number: UInt64(index), at: MonotonicTime(nanoseconds: Int64(index) * 1_000), content: content)
    }
}
