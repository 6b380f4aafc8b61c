import Bluetooth
import Simulation

/// A central whose headsets connect in a simulated world and are then fed from prepared events, so that only the
/// acquisition is measured.
final class FedCentral: Central {
    /// The events of the next instant.
    var fed: [CentralEvent] = []
    /// True once the world stands still.
    var isFed = false
    private let base: SimulatedCentral

    init(_ base: SimulatedCentral) {
        self.base = base
    }

    var state: AdapterState { base.state }
    var deadline: MonotonicTime? { isFed ? nil : base.deadline }

    func process(at now: MonotonicTime) -> [CentralEvent] {
        guard isFed else { return base.process(at: now) }
        defer { fed.removeAll(keepingCapacity: true) }
        return fed
    }

    func request(_ request: CentralRequest) {
        switch request {
        case .setNotifyValue, .readValue, .writeValue: if !isFed { base.request(request) }
        default: base.request(request)
        }
    }
}
