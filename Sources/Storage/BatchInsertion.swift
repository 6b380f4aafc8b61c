import Bluetooth
import GRDB
import Headsets

extension Store {
    /// Writes a batch in one transaction: all of it, or on any error nothing.
    ///
    /// - Throws: ``StorageError``; after `retry` errors the same batch may be committed again.
    public func commit(_ batch: WriteBatch) throws(StorageError) {
        let hostBoot = try requireHostBoot()
        try connection.write { db in
            try BatchInsertion(db: db, hostBoot: hostBoot).insert(batch)
        }
    }
}

/// Writes the parts of a batch, in the order that the references between them ask for.
struct BatchInsertion {
    let db: Database
    let hostBoot: Int64

    func insert(_ batch: WriteBatch) throws {
        try insertStreams(batch.newStreams)
        try batch.epochs.forEach(insert)
        let samples = SampleInsertion(db: db)
        try batch.samples.forEach(samples.insert)
        try batch.fills.forEach(samples.fill)
        try batch.ledger.forEach(apply)
        try batch.quarantines.forEach(insert)
        try batch.segments.forEach(insert)
        try batch.arrivals.forEach(insert)
        try batch.lossDetections.forEach(insert)
        try batch.startedRecordings.forEach(markStarted)
        try batch.stoppedRecordings.forEach(markStopped)
        try batch.annotations.forEach(insert)
        try batch.statusReports.forEach(insert)
        try batch.connectionAttempts.forEach(insert)
        try batch.connectionEvents.forEach(insert)
        try batch.identifierUses.forEach(insert)
        try batch.identityProofs.forEach(insert)
        try batch.clockObservations.forEach(insert)
        try batch.clockOffsets.forEach(insert)
        try batch.preservedStates.forEach(insert)
        try batch.signalChecks.forEach(insert)
        try batch.captureChunks.forEach(insert)
        try batch.completedCaptures.forEach(markComplete)
        try batch.impedances.forEach(insert)
        try batch.completedMeasurements.forEach(markComplete)
    }

    /// Executes a statement from the cache.
    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    private func insertStreams(_ streams: [NewStream]) throws {
        for stream in streams {
            let description = stream.description
            let view = try StreamView.name(
                for: description.name, recording: stream.recording, position: stream.position, in: db)
            try execute(
                """
                INSERT INTO stream (id, recording_id, position, name, bank, sampling_frequency, samples_per_count,
                    counter_modulus, channel_count, view_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    stream.id.rawValue, stream.recording.rawValue, stream.position, description.name, description.bank,
                    description.samplingFrequency, description.samplesPerCount, description.counterModulus,
                    description.channels.count, view,
                ])
            for (index, channel) in description.channels.enumerated() {
                try execute(
                    """
                    INSERT INTO channel (stream_id, number, name, type, unit, scale, "offset", raw_minimum, raw_maximum)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        stream.id.rawValue, index + 1, channel.name, channel.type, channel.unit, channel.scale,
                        channel.offset, channel.rawMinimum, channel.rawMaximum,
                    ])
            }
            try StreamView.create(view, recording: stream.recording, in: db)
        }
    }

    private func insert(_ epoch: EpochRecord) throws {
        try execute(
            """
            INSERT INTO epoch (stream_id, number, boot_identifier, first_n, first_index, host_boot_id, boottime_ns)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (stream_id, number) DO UPDATE SET boot_identifier = excluded.boot_identifier,
                first_n = excluded.first_n, first_index = excluded.first_index, host_boot_id = excluded.host_boot_id,
                boottime_ns = excluded.boottime_ns
            """,
            [
                epoch.stream.rawValue, epoch.number, epoch.bootIdentifier.map { Int64($0) }, epoch.firstN, epoch.firstIndex,
                hostBoot, epoch.began.nanoseconds,
            ])
    }

    private func insert(_ segment: SegmentRecord) throws {
        try execute(
            """
            INSERT INTO segment (stream_id, first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns,
                period_ns, residual_ns, observation_count, uncertainty_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (stream_id, first_n) DO UPDATE SET last_n = excluded.last_n, epoch = excluded.epoch,
                host_boot_id = excluded.host_boot_id, reference_n = excluded.reference_n,
                reference_boottime_ns = excluded.reference_boottime_ns, period_ns = excluded.period_ns,
                residual_ns = excluded.residual_ns, observation_count = excluded.observation_count,
                uncertainty_ns = excluded.uncertainty_ns
            """,
            [
                segment.stream.rawValue, segment.firstN, segment.lastN, segment.epoch, hostBoot, segment.referenceN,
                segment.referenceTime.nanoseconds, segment.periodNanoseconds, segment.residualNanoseconds,
                segment.observationCount, segment.uncertaintyNanoseconds,
            ])
    }

    /// Of one sample that came twice, the first arrival stays.
    private func insert(_ arrival: ArrivalRecord) throws {
        try execute(
            "INSERT OR IGNORE INTO arrival (stream_id, n, boottime_ns, device_ticks) VALUES (?, ?, ?, ?)",
            [
                arrival.stream.rawValue, arrival.n, arrival.at.nanoseconds,
                arrival.deviceTicks.map { Int64(truncatingIfNeeded: $0) },
            ])
    }

    /// Changes the gap ledger. A gap that is not there, or is not open where it should be, is an error.
    private func apply(_ entry: LedgerEntry) throws {
        switch entry {
        case .open(let stream, let firstN, let channel, let count, let cause, let noticed, let certainty):
            try execute(
                """
                INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns, certainty, uncertainty)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    stream.rawValue, firstN, channel, count, cause.rawValue, hostBoot, noticed.nanoseconds, certainty.name,
                    certainty.uncertainty,
                ])
        case .close(let stream, let firstN, let channel, let count, let certainty):
            try execute(
                """
                UPDATE gap SET count = ?, certainty = ?, uncertainty = ?
                WHERE stream_id = ? AND channel = ? AND first_n = ? AND (count IS NULL OR count <= ?)
                """,
                [
                    count, certainty.name, certainty.uncertainty, stream.rawValue, channel, firstN, count,
                ])
        case .recover(let stream, let firstN, let channel, let count):
            try execute(
                "UPDATE gap SET recovered = recovered + ? WHERE stream_id = ? AND channel = ? AND first_n = ?",
                [count, stream.rawValue, channel, firstN])
        case .withdraw(let stream, let firstN, let channel):
            try execute(
                "DELETE FROM gap WHERE stream_id = ? AND channel = ? AND first_n = ? AND recovered = 0",
                [stream.rawValue, channel, firstN])
        }
        guard db.changesCount == 1 else {
            throw StorageError.constraint(detail: "the ledger has no gap that \(entry) could change")
        }
    }

    private func markStarted(_ change: RecordingChange) throws {
        try execute(
            """
            UPDATE recording SET started_host_boot_id = ?, started_boottime_ns = ?
            WHERE id = ? AND started_host_boot_id IS NULL
            """,
            [hostBoot, change.at.nanoseconds, change.recording.rawValue])
    }

    private func markStopped(_ change: RecordingChange) throws {
        try execute(
            """
            UPDATE recording SET stopped_host_boot_id = ?, stopped_boottime_ns = ?
            WHERE id = ? AND stopped_host_boot_id IS NULL
            """,
            [hostBoot, change.at.nanoseconds, change.recording.rawValue])
    }

    /// A proof that is there already stays, and one that is another headset's is not taken over.
    private func insert(_ proof: IdentityProofRecord) throws {
        try execute(
            "UPDATE OR IGNORE headset SET serial_number = ? WHERE id = ? AND serial_number IS NULL",
            [proof.proof, proof.headset.rawValue])
    }

    func insert(_ annotation: AnnotationRecord) throws {
        try execute(
            """
            INSERT INTO annotation (recording_id, host_boot_id, boottime_ns, duration_seconds, description, source)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                annotation.recording.rawValue, hostBoot, annotation.onset.nanoseconds, annotation.durationSeconds,
                annotation.description, annotation.source,
            ])
    }
}
