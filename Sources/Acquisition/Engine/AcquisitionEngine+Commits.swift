import Bluetooth
import Headsets
import Storage

/// From records in memory to rows that survive a power cut: one batch at a time.
struct CommitPipeline {
    /// A batch that was handed out and is not committed yet, with what may be acknowledged once it is.
    struct UnderWay {
        var batch: WriteBatch
        /// How many rows the batch holds.
        var rowCount: Int
        var began: MonotonicTime
        /// True once the database has refused it as a whole.
        var isByHeadset = false
        var settled: [Settled]
        var ended: [HeadsetAcquisition]
        /// The number of the latest message of the tap that says what is in the batch.
        var saidThrough: UInt64 = 0
    }

    /// What a headset may forget.
    typealias Settled = (acquisition: HeadsetAcquisition, committed: [(stream: StreamID, n: Int64)])

    var underWay: UnderWay?
    /// What stands in the spool, and waits for its transaction.
    var gathered: UnderWay?
    /// Why the spool takes nothing; nil while it does.
    var spoolProblem: StorageError?
    /// The number of the latest batch.
    var number: UInt64 = 0
    /// When the next batch is due, once none is under way.
    var next: MonotonicTime?
    /// Which of them are brought forward.
    var early = EarlyCommits()
    var clockOffsets: [ClockOffsetRecord] = []
    /// What is committed and does not survive a power cut yet.
    var unflushed: [Settled] = []
    /// The same, of a flush that is under way; nil while none is.
    var flushing: [Settled]?
    /// True where something was committed since the latest flush was begun.
    var isFlushOwed = false
    /// When the next flush is due.
    var flushDue = MonotonicTime.boot
    /// Why what is committed does not survive a power cut, and since when.
    var flushProblem: (error: StorageError, since: MonotonicTime)?
    /// What was noted last beside the database; nil before the first batch, as an earlier process may have left a note.
    var isUnstoredNoted: Bool?
    /// Why batches cannot be written, and since when.
    var problem: (error: StorageError, since: MonotonicTime)?
    /// The error that only a person can mend.
    var failure: StorageError?
    /// See ``AcquisitionEngine/init(nextStreamID:beginsAfterFailedWrites:limits:seed:process:hostFacts:lookUp:)``.
    var beginsAfterFailedWrites = false
}

extension AcquisitionEngine {
    /// Rows that are not committed yet.
    package var bufferedRows: Int {
        let drained = (commits.underWay?.rowCount ?? 0) + (commits.gathered?.rowCount ?? 0)
        return acquisitions.reduce(drained) { $0 + $1.rowCount }
    }

    /// What is to be written is written at the next opportunity.
    func commitSoon(at now: MonotonicTime) {
        commits.next = now
        scheduleCommit(at: now)
    }

    /// A commit is due, once none is under way.
    func scheduleCommit(at now: MonotonicTime) {
        let next = commits.next ?? nextCommit(after: now)
        commits.next = next
        timers[.commit] = commits.underWay == nil && commits.failure == nil ? next : nil
    }

    /// Commits, or tries again, where that is due.
    ///
    /// - Parameter isForced: also where it is not due, as at the end.
    func commit(at now: MonotonicTime, isForced: Bool = false) {
        if let underWay = commits.underWay {
            if timers.take(.retry, at: now) || isForced && timers[.retry] != nil { write(underWay) }
        } else if commits.failure == nil, timers.take(.commit, at: now) || isForced {
            commits.next = nextCommit(after: now)
            commits.underWay = takeGathered(at: now)
            scheduleCommit(at: now)
            // Where nothing more comes, as behind the end of a recording, what was committed last is flushed all the same.
            if let underWay = commits.underWay { write(underWay) } else { flush(at: now) }
        }
    }

    private func write(_ underWay: CommitPipeline.UnderWay) {
        timers[.retry] = nil
        commits.underWay?.batch.usesReserve = shutdown.hasBegun
        guard let batch = commits.underWay?.batch else { return }
        emit(underWay.isByHeadset ? .commitByHeadset(batch) : .commit(batch))
    }

    /// Everything that is to be written and stands nowhere yet; nil where nothing does.
    func takeBatch(at now: MonotonicTime) -> CommitPipeline.UnderWay? {
        sayAssembled(at: now)
        var batch = WriteBatch(number: commits.number + 1)
        batch.changes = commits.clockOffsets.map(Change.clockOffset)
        commits.clockOffsets.removeAll()
        history.move(into: &batch)
        var settled: [CommitPipeline.Settled] = []
        for acquisition in acquisitions { settled.append((acquisition, acquisition.move(into: &batch))) }
        captures.move(into: &batch)
        measurements.move(into: &batch)
        // Everything that they have to write is in this batch.
        let ended = acquisitions.filter { $0.hasEnded || ($0.isReleased && $0.isStopped) }
        guard !batch.isEmpty else {
            if !commits.keepUntilWritten(ended) { remove(ended) }
            return nil
        }
        commits.number += 1
        return CommitPipeline.UnderWay(
            batch: batch, rowCount: batch.rowCount, began: now, settled: settled, ended: ended,
            saidThrough: sayFound(in: batch, at: now))
    }

    /// Takes what became of a batch.
    func committed(_ number: UInt64, _ result: Result<[RefusedPart], StorageError>, at now: MonotonicTime) {
        guard let done = commits.underWay, done.batch.number == number else { return }
        switch result {
        case .failure(let error): writeFailed(error, done, at: now)
        case .success(let refused): written(done, refused, at: now)
        }
    }

    private func writeFailed(_ error: StorageError, _ done: CommitPipeline.UnderWay, at now: MonotonicTime) {
        if error.isRefusal, !done.isByHeadset, !done.batch.parts.isEmpty {
            commits.underWay?.isByHeadset = true
            return emit(.commitByHeadset(done.batch))
        }
        // What was refused while the end began is tried once more, with what is kept free of the disk.
        if error.disposition == .retry, shutdown.hasBegun, !done.batch.usesReserve { return write(done) }
        note(isUnstored: true)
        let problem = commits.problem
        commits.problem = (error, problem?.since ?? now)
        if case .diskFull(let detail) = error { history.diskIsFull(detail, at: now) }
        context.overflowCause = .storageUnavailable
        guard error.disposition == .retry, !shutdown.hasBegun else {
            // The batch is lost to this process. A headset with a memory was acknowledged nothing, so it still has the samples.
            commits.failure = error
            commits.underWay = nil
            shutdown.isRequested = true
            return
        }
        if problem?.error.cause != error.cause {
            emit(.report(.writeFailed(error, bufferedRows: bufferedRows)))
        }
        timers[.retry] = now + limits.retryInterval
    }

    private func written(_ done: CommitPipeline.UnderWay, _ refused: [RefusedPart], at now: MonotonicTime) {
        note(isUnstored: false)
        commits.underWay = nil
        commits.unflushed.removeAll()
        for (acquisition, committed) in done.settled {
            if let refusal = refused.first(where: { $0.part.recording == acquisition.recording }) {
                acquisition.refuse(refusal.error, at: now)
                commits.leaveOut(refusal.part, of: acquisition)
                if acquisition.isReleased { release(acquisition) }
            } else {
                commits.unflushed.append((acquisition, committed))
            }
        }
        sayCommitted(done, refused, at: now)
        remove(done.ended.filter { $0.hasEnded || $0.isReleased })
        settle(at: now)
        emit(
            .report(.committed(number: done.batch.number, rows: done.rowCount, duration: now - done.began)))
        if let problem = commits.problem {
            commits.problem = nil
            history.diskHasRoom(at: now)
            context.overflowCause = .queueOverflow
            emit(.report(.writeRecovered(after: now - problem.since, rows: done.rowCount)))
        }
        commits.isFlushOwed = true
        flush(at: now)
    }

    /// Has what is committed survive a power cut, where that is due.
    private func flush(at now: MonotonicTime) {
        // A commit that is meant for the flush may be done a moment before it is due.
        guard commits.isFlushOwed, commits.flushing == nil, now + commitInterval / 20 >= commits.flushDue else { return }
        commits.isFlushOwed = false
        commits.flushDue = now + limits.flushInterval
        commits.flushing = commits.unflushed
        commits.unflushed.removeAll()
        emit(.flush(rewriting: commits.flushProblem != nil))
    }

    /// Headsets may forget what survives a power cut. A disk that cannot flush costs nothing yet: they keep what is not
    /// acknowledged, and when the next commit is due it is tried again.
    func flushed(_ result: Result<Void, StorageError>, at now: MonotonicTime) {
        let flushed = commits.flushing ?? []
        commits.flushing = nil
        let problem = commits.flushProblem
        if case .failure(let error) = result {
            commits.flushProblem = (error, problem?.since ?? now)
            commits.flushDue = now
            commits.isFlushOwed = true
            if commits.unflushed.isEmpty { commits.unflushed = flushed }
            if problem?.error.cause != error.cause { emit(.report(.flushFailed(error))) }
            return
        }
        if let problem {
            commits.flushProblem = nil
            emit(.report(.flushRecovered(after: now - problem.since)))
        }
        for (acquisition, committed) in flushed where acquisitions.contains(where: { $0 === acquisition }) {
            acquisition.acknowledge(upTo: committed)
        }
    }

    private func note(isUnstored: Bool) {
        guard commits.isUnstoredNoted != isUnstored else { return }
        commits.isUnstoredNoted = isUnstored
        emit(.noteUnstored(isUnstored))
    }
}
