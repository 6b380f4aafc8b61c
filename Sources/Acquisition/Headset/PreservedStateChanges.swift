import Bluetooth
import Reconnection

/// Which changes of the preserved state are worth a row.
struct PreservedStateChanges {
    private var latest: PreservedState?
    /// The phase in which it was recorded.
    private var phase: ConnectionPhase?

    /// Takes the state as it is now.
    ///
    /// - Parameter known: the addresses at which the headset was reached, or that a person has named.
    /// - Returns: whether it is to be recorded.
    mutating func take(_ state: PreservedState, in phase: ConnectionPhase, known: [PeripheralIdentifier]) -> Bool {
        guard state != latest, !isFurtherSearch(state, in: phase, known) else { return false }
        (latest, self.phase) = (state, phase)
        return true
    }

    /// True where a search goes on at addresses that are known to be the headset's: the next process learns nothing from which
    /// of them was tried last, and a headset that is away would cost a thousand commits an hour.
    private func isFurtherSearch(
        _ state: PreservedState, in phase: ConnectionPhase, _ known: [PeripheralIdentifier]
    ) -> Bool {
        let tried = [state.peripheral, latest?.peripheral].compactMap(\.self)
        return phase == .searching && self.phase == .searching && state.unproven == latest?.unproven
            && tried.allSatisfy(known.contains)
    }
}
