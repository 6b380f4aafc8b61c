import Bluetooth
import Storage

/// The measurements of impedances that are wanted or being ended, and which have ended.
struct ImpedanceMeasurements {
    private var requests: [ImpedanceRequest] = []
    private var completed: [ImpedanceMeasurementID] = []

    /// Makes the measurements follow the operator's wishes.
    mutating func follow(_ requests: [ImpedanceRequest], of acquisitions: [HeadsetAcquisition], at now: MonotonicTime) {
        self.requests = requests
        follow(with: acquisitions, at: now)
    }

    /// Makes headsets that have begun since follow them, too.
    mutating func follow(with acquisitions: [HeadsetAcquisition], at now: MonotonicTime) {
        for acquisition in acquisitions {
            let wanted = requests.filter { $0.isWanted && $0.headset == acquisition.headset }
            acquisition.measureImpedance(until: wanted.map(\.end).max(), at: now)
        }
        complete(acquisitions, at: now)
    }

    /// Finds the measurements that are over, once their headset has the command that ends them.
    mutating func complete(_ acquisitions: [HeadsetAcquisition], at now: MonotonicTime) {
        // Looked at in every iteration, and nearly always there is none.
        guard !requests.isEmpty else { return }
        let over = requests.filter { request in
            (!request.isWanted || request.end <= now)
                && !acquisitions.contains { $0.headset == request.headset && $0.isMeasuringImpedance }
        }
        requests.removeAll { request in over.contains { $0.id == request.id } }
        completed += over.map(\.id)
    }

    /// Moves what has ended into a batch.
    mutating func move(into batch: inout WriteBatch) {
        batch.changes += completed.map { .completed(.measurement($0)) }
        completed.removeAll()
    }
}
