import Bluetooth
import Headsets
import Storage

/// Between two transactions, what is to be written is kept where it outlives the process: transactions can be rare, which
/// spares a card, and the death of the process costs what was not kept yet.
extension AcquisitionEngine {
    /// Time between two commits as things stand: each time the spool would be filled, where it takes nothing or somebody reads
    /// along.
    var commitInterval: Duration {
        guard let spoolInterval = limits.spoolInterval else { return limits.commitInterval }
        return commits.spoolProblem != nil || wishes.isFollowed ? spoolInterval : limits.commitInterval
    }

    /// When the next commit is due after one. With a spool it goes with the flush, so that a power cut costs no more than the
    /// flush's interval.
    func nextCommit(after now: MonotonicTime) -> MonotonicTime {
        let next = now + commitInterval
        guard limits.spoolInterval != nil, commits.flushDue > now else { return next }
        return min(next, commits.flushDue)
    }

    /// A headset's connection has another phase: where transactions are rare, one is made soon.
    func commitEarly(at now: MonotonicTime) {
        guard limits.spoolInterval != nil else { return }
        let next = commits.next ?? nextCommit(after: now)
        commits.next = commits.early.take(at: now, before: next, interval: limits.commitInterval) ?? next
    }

    /// Puts what is to be written into the spool, where that is due: also while the database refuses a batch, as long as the
    /// spool takes what comes meanwhile. Beyond, until the database takes batches again, the headsets keep their records, which
    /// they bound.
    func spool(at now: MonotonicTime) {
        guard let interval = limits.spoolInterval, timers.take(.spool, at: now) else { return }
        timers[.spool] = now + interval
        let isTaken = commits.problem == nil || commits.spoolProblem == nil
        guard isTaken, commits.failure == nil, let latest = takeBatch(at: now) else { return }
        emit(.spool(latest.batch))
        commits.gather(latest)
        // Others wait for what has ended.
        if !latest.ended.isEmpty { commitSoon(at: now) }
    }

    /// Takes what became of a batch that was put into the spool.
    func spooled(_ result: Result<Void, StorageError>, at now: MonotonicTime) {
        switch result {
        case .success: commits.spoolProblem = nil
        case .failure(let error):
            if commits.spoolProblem == nil { emit(.report(.spoolFailed(error))) }
            commits.spoolProblem = error
            commitSoon(at: now)
        }
    }

    /// Everything that is to be written; nil where nothing is.
    ///
    /// What is new of it goes into the spool, too: the transaction may be refused for long, and what comes after it stands in
    /// the spool by then. A process that died there would leave a hole that nothing knows of.
    func takeGathered(at now: MonotonicTime) -> CommitPipeline.UnderWay? {
        if let latest = takeBatch(at: now) {
            if limits.spoolInterval != nil { emit(.spool(latest.batch)) }
            commits.gather(latest)
        }
        defer { commits.gathered = nil }
        commits.gathered?.began = now
        return commits.gathered
    }
}

extension CommitPipeline {
    /// Leaves out of what is gathered what concerns a headset whose part before it was refused: rows behind a hole that is in
    /// no ledger. In the spool it stands still; there the open gap keeps it out.
    mutating func leaveOut(_ part: HeadsetPart, of acquisition: HeadsetAcquisition) {
        guard var rest = gathered else { return }
        rest.batch.remove(part)
        rest.rowCount = rest.batch.rowCount
        rest.settled.removeAll { $0.acquisition === acquisition }
        gathered = rest
    }

    /// Adds what was taken after what is gathered already.
    mutating func gather(_ latest: UnderWay) {
        guard var all = gathered else { return gathered = latest }
        all.batch.append(latest.batch)
        all.rowCount += latest.rowCount
        all.saidThrough = latest.saidThrough
        for (acquisition, committed) in latest.settled {
            if let index = all.settled.firstIndex(where: { $0.acquisition === acquisition }) {
                let isNewer = { (stream: StreamID) in committed.contains { $0.stream == stream } }
                all.settled[index].committed = all.settled[index].committed.filter { !isNewer($0.stream) } + committed
            } else {
                all.settled.append((acquisition, committed))
            }
        }
        all.add(latest.ended)
        gathered = all
    }

    /// Keeps headsets that have ended and write nothing more until the latest transaction is done: what they had to write may
    /// be in it, and who would remove them before would end their recordings a second time. False where none is to come.
    mutating func keepUntilWritten(_ ended: [HeadsetAcquisition]) -> Bool {
        if gathered != nil { gathered?.add(ended) } else { underWay?.add(ended) }
        return gathered != nil || underWay != nil
    }
}

extension CommitPipeline.UnderWay {
    fileprivate mutating func add(_ more: [HeadsetAcquisition]) {
        ended += more.filter { one in !ended.contains { $0 === one } }
    }
}
