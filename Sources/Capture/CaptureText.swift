import Bluetooth

/// Lines of `time<TAB>characteristic<TAB>hex`, as pieces. A line that is wrong is left out and counted.
package struct CaptureText: Sequence, Sendable {
    private let bytes: CaptureBytes

    /// How many lines in a row may lie before the ones before them: of more, nobody knows which have the right time.
    fileprivate static let backwardsLimit = 3
    /// By how much notifications of several threads may be out of order. They are kept, the later one's time for both.
    fileprivate static let disorderLimit: Int64 = 1_000_000_000
    /// The longest line; a notification has no more than 1,036 digits, a piece of a byte stream could.
    fileprivate static let lineLimit = 1 << 16

    /// What was left out.
    package struct Summary: Hashable, Sendable {
        /// Lines that are wrong.
        package var wrongLineCount = 0
        /// What was wrong with the first of them.
        package var firstError: CaptureError?

        /// Nothing was left out.
        package init() {}
    }

    /// - Parameter bytes: the file.
    package init(_ bytes: CaptureBytes) {
        self.bytes = bytes
    }

    /// Starts at the first line.
    package func makeIterator() -> Iterator { Iterator(bytes) }

    /// Reads all lines.
    ///
    /// - Returns: what they hold, and what was left out.
    /// - Throws: ``CaptureError`` where nothing can be played, or the lines are in no order.
    package func contents() throws(CaptureError) -> (contents: CaptureContents, summary: Summary) {
        var iterator = makeIterator()
        var contents = CaptureContents(pieces: self, characteristics: [], duration: .zero)
        while let piece = iterator.next() {
            contents.note(piece)
        }
        if let failure = iterator.failure { throw failure }
        contents.startUnixNanoseconds = iterator.startUnixNanoseconds
        if contents.characteristics.isEmpty { throw iterator.summary.firstError ?? .empty }
        return (contents, iterator.summary)
    }

    /// Goes from line to line.
    package struct Iterator: IteratorProtocol {
        private var cursor: ByteCursor
        private var reader = CaptureLineReader()
        private var held: CaptureLineReader.Line?
        private var origin: Int64?
        private var latest: Int64 = .min
        private var backwardsCount = 0
        /// What was left out until now.
        package private(set) var summary = Summary()
        /// Why it ended before the end.
        private(set) var failure: CaptureError?
        /// UTC of the first piece, where the times are such.
        private(set) var startUnixNanoseconds: Int64?

        fileprivate init(_ bytes: CaptureBytes) {
            let hasMark = bytes.prefix(3) == [0xEF, 0xBB, 0xBF]
            cursor = ByteCursor(bytes, skipping: hasMark ? 3 : 0)
        }

        /// The next piece.
        package mutating func next() -> Capture.Piece? {
            while failure == nil {
                guard var line = nextLine() else {
                    defer { held = nil }
                    return held.map { piece($0) }
                }
                guard let before = held else {
                    held = line
                    continue
                }
                if line.nanoseconds < before.nanoseconds {
                    if before.nanoseconds - line.nanoseconds <= CaptureText.disorderLimit {
                        line.nanoseconds = before.nanoseconds
                    } else if line.nanoseconds >= latest {
                        // It would have been the first of many that go back: its own time is wrong.
                        leaveOut(before)
                        held = line
                        continue
                    } else {
                        leaveOut(line)
                        backwardsCount += 1
                        if backwardsCount == CaptureText.backwardsLimit { failure = .timeGoesBackwards(line: line.number) }
                        continue
                    }
                }
                backwardsCount = 0
                held = line
                return piece(before)
            }
            return nil
        }

        /// The next line that is right by itself.
        private mutating func nextLine() -> CaptureLineReader.Line? {
            while let row = cursor.line(limit: CaptureText.lineLimit) {
                do throws(CaptureError) {
                    if let line = try reader.read(row) { return line }
                } catch {
                    summary.wrongLineCount += 1
                    summary.firstError = summary.firstError ?? error
                }
            }
            return nil
        }

        private mutating func leaveOut(_ line: CaptureLineReader.Line) {
            summary.wrongLineCount += 1
            summary.firstError = summary.firstError ?? .timeGoesBackwards(line: line.number)
        }

        private mutating func piece(_ line: CaptureLineReader.Line) -> Capture.Piece {
            if origin == nil, reader.isAbsolute { startUnixNanoseconds = line.nanoseconds }
            let first = origin ?? line.nanoseconds
            origin = first
            latest = line.nanoseconds
            return Capture.Piece(
                time: .nanoseconds(line.nanoseconds - first), characteristic: line.characteristic, value: line.value)
        }
    }
}

extension CaptureContents {
    /// Takes note of the next piece.
    mutating func note(_ piece: Capture.Piece) {
        duration = piece.time
        if piece.characteristic != characteristics.last, !characteristics.contains(piece.characteristic) {
            characteristics.append(piece.characteristic)
        }
    }
}
