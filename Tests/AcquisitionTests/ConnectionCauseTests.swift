import Acquisition
import Bluetooth
import Testing

/// What a connection waits for is stored as a name and what it leaves open, and is the same when it is read.
struct ConnectionCauseTests {
    @Test(
        "Every error is stored so that it can be told again",
        arguments: [
            CentralError.connectionTimedOut, .connectionFailed(reason: "page timeout"), .notConnected, .linkLost,
            .peripheralDisconnected, .disconnectedByOperator, .peripheralBlocked, .adapterUnavailable(.blocked),
            .unknownPeripheral,
            .channelBusy, .notificationsAcquired, .heldByBluetoothd, .pairingRefused, .repairingForbidden, .inProgress,
            .noSuchCharacteristic(.serviceChanged), .att(.insufficientEncryption), .notPermitted(what: "open the adapter"),
        ])
    func errors(error: CentralError) {
        let cause = ConnectionCause.error(error)
        #expect(ConnectionCause(phase: .waitingForOperator, code: cause.code, parameter: cause.parameter) == cause)
        #expect(cause.code.allSatisfy { $0.isLetter }, "a name")
    }

    @Test(
        "Every reason of a quarantine, too",
        arguments: [
            QuarantineReason.description(fault: "no channel"), .storedDescription(fault: "no channel"),
            .tooManyStreams(limit: 128),
            .changesTooOften, .refusedByDatabase(reason: "CHECK constraint failed: n"),
            .otherSerialNumber(stored: "SIM-1"),
        ])
    func reasons(reason: QuarantineReason) {
        let cause = ConnectionCause.quarantine(reason)
        #expect(ConnectionCause(phase: .quarantined, code: cause.code, parameter: cause.parameter) == cause)
    }

    @Test("Every state of an adapter, too; nothing else is believed", arguments: AdapterState.allCases)
    func adapters(state: AdapterState) {
        #expect(ConnectionCause(phase: .waitingForAdapter, code: state.rawValue, parameter: nil) == .adapter(state))
        #expect(ConnectionCause(phase: .waitingForOperator, code: state.rawValue, parameter: nil) == nil)
        #expect(ConnectionCause(phase: .waitingForAdapter, code: "the adapter is off", parameter: nil) == nil)
        #expect(ConnectionCause(phase: .streaming, code: state.rawValue, parameter: nil) == nil)
    }
}
