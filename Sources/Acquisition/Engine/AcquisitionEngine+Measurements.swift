import Bluetooth
import Storage

/// Measurements of impedances as the operator wishes them.
extension AcquisitionEngine {
    /// Makes the measurements follow the operator's wishes.
    func follow(_ requests: [ImpedanceRequest], at now: MonotonicTime) {
        measurements = requests
        for acquisition in acquisitions {
            let wanted = requests.filter { $0.isWanted && $0.headset == acquisition.headset }
            acquisition.measureImpedance(until: wanted.map(\.end).max(), at: now)
        }
        completeMeasurements(at: now)
    }

    /// Finds the measurements that are over, once their headset has the command that ends them.
    func completeMeasurements(at now: MonotonicTime) {
        measurements.removeAll { request in
            guard !request.isWanted || request.end <= now else { return false }
            let isUnderWay = acquisitions.contains { $0.headset == request.headset && $0.isMeasuringImpedance }
            if !isUnderWay { completedMeasurements.append(request.id) }
            return !isUnderWay
        }
    }
}
