package import Bluetooth
import Headsets

/// A sample that an imitated headset has measured, to compare a recording with.
package struct PlayedSample: Hashable, Sendable {
    /// Which run of the headset it belongs to, from 0: a start to a stop, or, of a headset with memory, a boot.
    package var run: Int
    /// The stream's index in the headset's list.
    package var stream: Int
    /// The number that the headset counts it by, not reduced by the counter's modulus.
    package var index: Int64
    /// When it was measured.
    package var time: MonotonicTime
    /// By channel, as a perfect decoder gets them; nil where the headset by design never sends the value, or a tape does not
    /// hold its packet.
    package var values: [Int32?]
}

/// Up to where the samples of a headset were taken.
struct PlayedCursor {
    private var run = 0
    /// By stream.
    private var positions: [Int64] = []

    /// Takes what a headset without memory has measured until an instant.
    mutating func take(
        from headset: any SessionHeadset, streams: [StreamDescription], at now: MonotonicTime
    ) -> [PlayedSample] {
        var samples: [PlayedSample] = []
        while run < headset.sessions.count {
            let session = headset.sessions[run]
            begin(streamCount: streams.count)
            for (stream, description) in streams.enumerated() {
                // The sample at a position is taken when so many periods have passed.
                let end = session.position(at: now, stream: stream) + 1
                while positions[stream] < end {
                    let position = positions[stream]
                    samples.append(
                        PlayedSample(
                            run: run, stream: stream, index: session.firstIndexes[stream] + position,
                            time: session.time(of: position, stream: stream),
                            values: description.channels.indices.map {
                                headset.sent(session: run, stream: stream, channel: $0, position: position)
                            }))
                    positions[stream] += 1
                }
            }
            guard session.ended != nil else { break }
            end()
        }
        return samples
    }

    /// Takes what a headset with memory has measured until an instant.
    mutating func take(from headset: BufferedHeadset, at now: MonotonicTime) -> [PlayedSample] {
        var samples: [PlayedSample] = []
        while run < headset.bootHistory.count {
            let boot = headset.bootHistory[run]
            begin(streamCount: boot.streams.count)
            for (stream, record) in boot.streams.enumerated() {
                let channels = headset.specification.streams[stream].channels.indices
                for sampled in record.runs {
                    let end = sampled.end ?? boot.position(at: now, stream: stream)
                    positions[stream] = max(positions[stream], sampled.start)
                    while positions[stream] < end {
                        samples.append(
                            PlayedSample(
                                run: run, stream: stream, index: Int64(record.firstIndex) + positions[stream],
                                time: boot.time(of: positions[stream], stream: stream),
                                values: channels.map {
                                    headset.value(
                                        bootNumber: run, stream: stream, channel: $0, position: positions[stream])
                                }))
                        positions[stream] += 1
                    }
                }
            }
            guard boot.ended != nil else { break }
            end()
        }
        return samples
    }

    private mutating func begin(streamCount: Int) {
        if positions.isEmpty { positions = [Int64](repeating: 0, count: streamCount) }
    }

    private mutating func end() {
        run += 1
        positions = []
    }
}
