import Bluetooth
import Foundation
import GRDB
import Headsets

/// What the signals looked like.
extension BatchInsertion {
    /// A result that is there already, from a batch that was given up and taken again, stays.
    func insert(_ check: SignalCheckRecord) throws {
        try execute(
            """
            INSERT OR IGNORE INTO signal_check (stream_id, channel, first_n, last_n, condition, sample_count, railed_fraction,
                peak_to_peak, line_50_hz, line_60_hz) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                check.stream.rawValue, check.channel, check.firstN, check.lastN, check.condition.rawValue, check.sampleCount,
                check.railedFraction, check.peakToPeak, check.line50Hz, check.line60Hz,
            ])
    }
}

/// The parts of a batch that tell about connections and clocks.
extension BatchInsertion {
    /// How many identifiers of a headset are kept: enough for several machines and firmwares, bounded for a headset whose
    /// address rotates every 15 minutes for weeks.
    static let identifiersKept = 16

    func insert(_ report: StatusReportRecord) throws {
        let status = report.status
        let buffered = status?.buffered.map { #"{"stream":\#($0.stream),"oldest":\#($0.oldest),"end":\#($0.end)}"# }
        try execute(
            """
            INSERT INTO status_report (headset_id, host_boot_id, boottime_ns, condition, boot_identifier, battery_percent,
                device_ticks, tick_frequency, buffered, outcome, raw) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                report.headset.rawValue, hostBoot, report.at.nanoseconds, status?.condition.rawValue,
                status?.bootIdentifier.map { Int64($0) }, status?.batteryPercent,
                status?.deviceTicks.map(Int64.init(clamping:)), status?.tickFrequency,
                buffered.map { "[\($0.joined(separator: ","))]" }, report.outcome,
                status.flatMap { $0.raw.isEmpty ? nil : Data($0.raw) },
            ])
    }

    func insert(_ attempt: ConnectionAttemptRecord) throws {
        try execute(
            """
            INSERT INTO connection_attempt (headset_id, layer, address, address_type, host_boot_id, began_boottime_ns,
                ended_boottime_ns, outcome, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                attempt.headset.rawValue, attempt.layer, attempt.identifier?.addressDescription,
                attempt.identifier?.addressType.rawValue, hostBoot, attempt.began.nanoseconds, attempt.ended.nanoseconds,
                attempt.outcome, attempt.detail,
            ])
    }

    func insert(_ event: ConnectionEventRecord) throws {
        try execute(
            "INSERT INTO connection_event (headset_id, host_boot_id, boottime_ns, state, detail) VALUES (?, ?, ?, ?, ?)",
            [event.headset.rawValue, hostBoot, event.at.nanoseconds, event.state, event.detail])
    }

    func insert(_ use: IdentifierUse) throws {
        let address = use.identifier.addressDescription
        let type = use.identifier.addressType.rawValue
        let word = use.succeeded ? "success" : "failure"
        try execute(
            """
            INSERT INTO headset_identifier (headset_id, address, address_type, \(word)_count, last_\(word)_host_boot_id,
                last_\(word)_boottime_ns) VALUES (?, ?, ?, 1, ?, ?)
            ON CONFLICT (headset_id, address, address_type) DO UPDATE SET \(word)_count = \(word)_count + 1,
                last_\(word)_host_boot_id = excluded.last_\(word)_host_boot_id,
                last_\(word)_boottime_ns = excluded.last_\(word)_boottime_ns
            """,
            [use.headset.rawValue, address, type, hostBoot, use.at.nanoseconds])
        guard use.succeeded else { return }
        // Proven to be this headset now, so it finds no other one any more: two headsets are never swapped.
        try execute(
            "DELETE FROM headset_identifier WHERE address = ? AND address_type = ? AND headset_id <> ?",
            [address, type, use.headset.rawValue])
        try execute(
            """
            DELETE FROM headset_identifier WHERE headset_id = ?1 AND (address, address_type) IN (
                SELECT address, address_type FROM headset_identifier WHERE headset_id = ?1
                ORDER BY last_success_host_boot_id DESC, last_success_boottime_ns DESC, address, address_type
                LIMIT -1 OFFSET \(Self.identifiersKept))
            """, [use.headset.rawValue])
    }

    func insert(_ observation: ClockObservationRecord) throws {
        try execute(
            """
            INSERT INTO clock_observation (headset_id, boot_identifier, device_ticks, tick_frequency, host_boot_id, boottime_ns)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                observation.headset.rawValue, observation.bootIdentifier.map { Int64($0) },
                Int64(clamping: observation.deviceTicks), observation.tickFrequency, hostBoot, observation.at.nanoseconds,
            ])
    }

    func insert(_ offset: ClockOffsetRecord) throws {
        try execute(
            """
            INSERT INTO clock_offset (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised) VALUES (?, ?, ?, ?, ?)
            """,
            [hostBoot, offset.at.nanoseconds, offset.offsetNanoseconds, offset.stepNanoseconds, offset.isSynchronised])
    }

    func insert(_ state: PreservedStateRecord) throws {
        try execute(
            """
            INSERT INTO preserved_state (headset_id, json, host_boot_id, boottime_ns) VALUES (?, ?, ?, ?)
            ON CONFLICT (headset_id) DO UPDATE SET json = excluded.json, host_boot_id = excluded.host_boot_id,
                boottime_ns = excluded.boottime_ns
            """,
            [state.headset.rawValue, state.json, hostBoot, state.at.nanoseconds])
    }
}
