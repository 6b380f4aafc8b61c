import Headsets
import Simulation
import Storage

/// A recording in a database, for a headset to send it again. It reads some thousand rows at a time.
final class RecordedTape: SignalTape {
    let duration: Duration?
    /// Why rows could not be read, since which nothing is on the tape any more.
    private(set) var failure: (any Error)?

    private let reader: RecordingReader
    /// By the headset's stream; nil for one that was not recorded.
    private var streams: [PlayedStream?]

    private struct PlayedStream {
        let id: StreamID
        let channelCount: Int
        let layout: TapeLayout
        /// The latest ones; the last used is the first.
        var pages: [Page] = []
    }

    /// All n of a range.
    private struct Page {
        let firstN: Int64
        /// By n and channel.
        var values: [Int32?]
    }

    private static let rowsPerPage: Int64 = 4096
    /// A headset that sends what it measures beside its memory goes back and forth.
    private static let pagesMaximum = 4

    /// - Parameters:
    ///   - reader: of the recording.
    ///   - streams: the headset's.
    ///   - indexesPerPacket: by stream; empty for one each.
    /// - Throws: ``Failure`` where none of the streams was recorded, or their times make no sense.
    init(_ reader: RecordingReader, of streams: [StreamDescription], indexesPerPacket: [Int64]) throws {
        self.reader = reader
        let recorded = streams.map { stream in reader.contents.streams.first { Self.holds($0, stream) } }
        guard recorded.allSatisfy({ $0?.canBeLaidOut ?? true }) else {
            throw Failure(
                problem: "the time map of recording \(reader.contents.id.rawValue) is damaged.",
                consequence: "no headset is imitated.", remedy: "`eegsync audit` says what is wrong.", code: .dataError)
        }
        let timeline = TapeTimeline(recorded.compactMap(\.self))
        self.streams = recorded.enumerated().map { index, found in
            found.map { stream in
                PlayedStream(
                    id: stream.id, channelCount: stream.description.channels.count,
                    layout: TapeLayout(
                        stream, on: timeline,
                        indexesPerPacket: indexesPerPacket.indices.contains(index) ? indexesPerPacket[index] : 1))
            }
        }
        let lengths = zip(self.streams, streams).map { stream, description in
            Double(stream?.layout.end ?? 0) / description.samplingFrequency
        }
        let length = lengths.max() ?? 0
        duration = .seconds(length)
        guard length > 0 else {
            throw Failure(
                problem: "recording \(reader.contents.id.rawValue) holds no samples of a \(reader.contents.model).",
                consequence: "no headset is imitated.", remedy: "choose another one with --recording.", code: .dataError)
        }
    }

    /// Whether a recorded stream is one of a headset's: has its name, its rate and the range of its values.
    static func holds(_ recorded: StreamContents, _ stream: StreamDescription) -> Bool {
        let (found, wanted) = (recorded.description, stream)
        return recorded.rowCount > 0 && found.bankName == wanted.bankName
            && found.samplingFrequency == wanted.samplingFrequency
            && found.channels.first?.rawMinimum == wanted.channels.first?.rawMinimum
            && found.channels.first?.rawMaximum == wanted.channels.first?.rawMaximum
    }

    func value(stream: Int, channel: Int, position: Int64) -> Int32? {
        guard failure == nil, streams.indices.contains(stream), let played = streams[stream],
            channel < played.channelCount, let n = played.layout.n(at: position)
        else { return nil }
        let firstN = n - ((n % Self.rowsPerPage) + Self.rowsPerPage) % Self.rowsPerPage
        if played.pages.first?.firstN != firstN {
            do {
                try turn(to: firstN, stream: stream, played)
            } catch {
                failure = error
                return nil
            }
        }
        return streams[stream]?.pages.first?.values[Int(n - firstN) * played.channelCount + channel]
    }

    /// Puts a page first, from those at hand or from the file.
    private func turn(to firstN: Int64, stream: Int, _ played: PlayedStream) throws {
        var pages = played.pages
        if let index = pages.firstIndex(where: { $0.firstN == firstN }) {
            pages.insert(pages.remove(at: index), at: 0)
        } else {
            pages.insert(try read(firstN, played), at: 0)
            if pages.count > Self.pagesMaximum { pages.removeLast() }
        }
        streams[stream]?.pages = pages
    }

    private func read(_ firstN: Int64, _ played: PlayedStream) throws -> Page {
        let count = played.channelCount
        var page = Page(firstN: firstN, values: Array(repeating: nil, count: Int(Self.rowsPerPage) * count))
        let range = firstN...firstN + Self.rowsPerPage - 1
        try reader.forEachChunk(of: played.id, in: range, rowsPerChunk: Int(Self.rowsPerPage)) { chunk in
            for (row, n) in chunk.n.enumerated() {
                for channel in 0..<count where chunk.missingChannels[row] & 1 << UInt8(channel) == 0 {
                    page.values[Int(n - firstN) * count + channel] = chunk.values[row * count + channel]
                }
            }
        }
        return page
    }
}
