import Bluetooth
import Storage
import Tap

/// What the readers of the tap hear: what is assembled and noticed, at once, and what of it is stored, as soon as it is.
///
/// Nothing that is written, asked or timed depends on whether somebody reads.
extension AcquisitionEngine {
    /// A message holds no more runs of committed rows: a frame has a bound.
    private static let runMaximum = 10_000

    /// A reader has come: it hears how things stand, and everything from now on.
    func greet(_ reader: TapQueue.ReaderID, droppedReaders: UInt64, at now: MonotonicTime) {
        if context.tap.isWanted {
            // What was noticed before is for those who were there.
            sayAssembled(at: now)
        } else {
            context.tap.begin()
            for acquisition in acquisitions { acquisition.setFollowed(true) }
            readMarks()
        }
        var contents: [TapContent] = [
            .hello(TapHello(program: history.identity?.version ?? "", droppedReaders: droppedReaders))
        ]
        if let clock = clock.latest { contents.append(.clock(clock)) }
        for acquisition in acquisitions { contents += acquisition.tapDescription }
        let number = context.tap.number
        emit(.greetReader(reader, contents.map { TapMessage(number: number, at: now, content: $0) }))
    }

    /// Nobody reads any more.
    func endTap() {
        context.tap.end()
        for acquisition in acquisitions { acquisition.setFollowed(false) }
    }

    /// A recording begins to be acquired.
    func describe(_ acquisition: HeadsetAcquisition, at now: MonotonicTime) {
        guard context.tap.isWanted else { return }
        acquisition.setFollowed(true)
        for content in acquisition.tapDescription { context.tap.say(content, at: now) }
    }

    /// Says what was assembled and noticed since the last time.
    func sayAssembled(at now: MonotonicTime) {
        guard context.tap.isWanted else { return }
        for acquisition in acquisitions { acquisition.sayAssembled(at: now) }
        let messages = context.tap.take()
        if !messages.isEmpty { emit(.tap(messages)) }
    }

    /// Says what is found only when a batch is taken: pieces of time maps, and checks of signals.
    ///
    /// - Returns: the number of the latest message.
    func sayFound(in batch: WriteBatch, at now: MonotonicTime) -> UInt64 {
        guard context.tap.isWanted else { return 0 }
        for change in batch.changes {
            switch change {
            case .segment(let segment): context.tap.say(.segment(segment), at: now)
            case .signalCheck(let check): context.tap.say(.check(check), at: now)
            default: break
            }
        }
        let messages = context.tap.take()
        if !messages.isEmpty { emit(.tap(messages)) }
        return context.tap.number
    }

    /// Says what is stored from now on.
    func sayCommitted(_ done: CommitPipeline.UnderWay, _ refused: [RefusedPart], at now: MonotonicTime) {
        guard context.tap.isWanted else { return }
        for refusal in refused {
            context.tap.say(
                .refused(
                    TapRefusal(
                        recording: refusal.part.recording, through: done.saidThrough, reason: "\(refusal.error)")), at: now)
        }
        let streams = Set(refused.flatMap(\.part.streams))
        var runs: [TapCommit.Rows] = []
        for rows in done.batch.samples where !streams.contains(rows.stream) {
            let count = Int64(rows.rowCount)
            if let last = runs.last, last.stream == rows.stream, last.firstN + last.count == rows.firstN {
                runs[runs.count - 1].count += count
            } else {
                runs.append(TapCommit.Rows(stream: rows.stream, firstN: rows.firstN, count: count))
            }
        }
        repeat {
            let part = Array(runs.prefix(Self.runMaximum))
            context.tap.say(.committed(TapCommit(through: done.saidThrough, rows: part)), at: now)
            runs.removeFirst(part.count)
        } while !runs.isEmpty
        emit(.tap(context.tap.take()))
    }

    // MARK: What people mark

    /// Has it read what people and other programs have marked, where somebody listens.
    func readMarks() {
        guard context.tap.isWanted, !shutdown.hasBegun else { return }
        guard !context.tap.marks.isUnderWay else { return context.tap.marks.isStale = true }
        context.tap.marks.isUnderWay = true
        emit(.readMarks(after: context.tap.marks.latest))
    }

    /// It was read.
    func marksRead(_ result: Result<StoredMarks, StorageError>, at now: MonotonicTime) {
        let isStale = context.tap.marks.isStale
        (context.tap.marks.isUnderWay, context.tap.marks.isStale) = (false, false)
        // What cannot be read now is read when something is written again.
        guard case .success(let read) = result, context.tap.isWanted else { return }
        context.tap.marks.latest = read.latest
        for annotation in read.marks {
            context.tap.say(.mark(TapMark(annotation: annotation, isStored: true)), at: now)
        }
        sayAssembled(at: now)
        if isStale { readMarks() }
    }
}
