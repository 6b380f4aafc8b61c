package import Bluetooth
import Foundation
import GRDB
package import Headsets

/// A headset's answer to a status query, and what was concluded from it.
package struct StatusReportRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var at: MonotonicTime
    /// The answer; nil where there was none in time.
    package var status: HeadsetStatus?
    /// What was concluded, such as `drain`, `headsetRestarted`, `noAnswer`.
    package var outcome: String

    package init(headset: HeadsetID, at: MonotonicTime, status: HeadsetStatus?, outcome: String) {
        self.headset = headset
        self.at = at
        self.status = status
        self.outcome = outcome
    }
}

extension StatusReportRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        let buffered = status?.buffered.map { #"{"stream":\#($0.stream),"oldest":\#($0.oldest),"end":\#($0.end)}"# }
        try transaction.execute(
            """
            INSERT INTO status_report (headset_id, host_boot_id, boottime_ns, condition, boot_identifier, battery_percent,
                device_ticks, tick_frequency, buffered, outcome, raw) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                headset.rawValue, transaction.hostBoot, at.nanoseconds, status?.condition.rawValue,
                status?.bootIdentifier.map { Int64($0) }, status?.batteryPercent,
                status?.deviceTicks.map(Int64.init(clamping:)), status?.tickFrequency,
                buffered.map { "[\($0.joined(separator: ","))]" }, outcome,
                status.flatMap { $0.raw.isEmpty ? nil : Data($0.raw) },
            ])
    }
}
