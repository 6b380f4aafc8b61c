import Bluetooth
import Foundation
import Storage

/// `eegsync mark --lines`: takes marks from standard input, and answers each line with one.
struct MarkLines {
    let store: ControlStore

    /// What a line is answered with: where it was written, or why it was not.
    struct Answer: Codable, Hashable {
        var recordings: [Int64] = []
        var annotations: [Int64] = []
        var problem: String?
        /// True where the same line may be written when it is tried again.
        var mayBeTriedAgain: Bool?
    }

    /// Takes marks until nobody writes any more.
    func run() {
        let input = LineReader(descriptor: STDIN_FILENO, byteMaximum: MarkLine.handedByteMaximum)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        while let line = input.next() {
            let answer = answer(line, at: HostClock.now)
            print((try? encoder.encode(answer)).map { String(decoding: $0, as: UTF8.self) } ?? "{}")
            fflush(nil)
        }
    }

    /// Writes a mark of a line that came at an instant. A line that comes twice with its boottime is written once.
    func answer(_ line: [UInt8], at now: MonotonicTime) -> Answer {
        do {
            let mark = try MarkLine(line, byteMaximum: MarkLine.handedByteMaximum).placed(now)
            let onset = StatedOnset.boottime(MonotonicTime(nanoseconds: mark.boottime ?? now.nanoseconds))
            let recordings = try store.recordings(at: onset, of: mark.headset, now: now)
            guard !recordings.isEmpty else {
                return Answer(problem: "no recording\(mark.headset.map { " of \($0)" } ?? "") ran then")
            }
            let stated = StatedAnnotation(onset: onset, durationSeconds: mark.durationSeconds, description: mark.text)
            let annotations = try recordings.map { try store.annotate($0, with: stated, once: true, at: now) }
            return Answer(recordings: recordings.map(\.rawValue), annotations: annotations)
        } catch let error as MarkLineError {
            return Answer(problem: "the line is refused: \(error.reason)")
        } catch {
            let failure = Failure(error)
            return Answer(problem: failure.problem, mayBeTriedAgain: failure.code.lasts ? nil : true)
        }
    }
}
