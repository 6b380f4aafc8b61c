import Bluetooth
import Testing

@Suite("ATT error")
struct ATTErrorTests {
    @Test(
        "says the specification's name and its code",
        arguments: [
            (.invalidHandle, "invalid handle (0x01)"), (.insufficientAuthentication, "insufficient authentication (0x05)"),
            (.attributeNotFound, "attribute not found (0x0a)"), (.unlikelyError, "unlikely error (0x0e)"),
            (.insufficientEncryption, "insufficient encryption (0x0f)"), (.databaseOutOfSync, "database out of sync (0x12)"),
            (.valueNotAllowed, "value not allowed (0x13)"), (ATTError(code: 0x80), "application error (0x80)"),
            (ATTError(code: 0x9F), "application error (0x9f)"), (ATTError(code: 0xA0), "reserved ATT error (0xa0)"),
            (ATTError(code: 0x14), "reserved ATT error (0x14)"),
        ] as [(ATTError, String)])
    func text(error: ATTError, text: String) {
        #expect(error.description == text)
    }

    @Test("waits for a person where pairing is wanted, and never crashes")
    func dispositions() {
        #expect(ATTError.insufficientEncryption.disposition == .waitForOperator)
        #expect(ATTError.writeNotPermitted.disposition == .stop)
        #expect(ATTError.insufficientResources.disposition == .retry)
        for code in UInt8.min...UInt8.max { #expect(!ATTError(code: code).description.isEmpty) }
    }
}

@Suite("Central error")
struct CentralErrorTests {
    @Test("of the adapter or of a permission waits for a person; a silent headset falls to the next layer")
    func dispositions() {
        #expect(CentralError.adapterUnavailable(.blocked).disposition == .waitForOperator)
        #expect(CentralError.notPermitted(what: "open the adapter").disposition == .waitForOperator)
        #expect(CentralError.connectionTimedOut.disposition == .nextLayer)
        #expect(CentralError.linkLost.disposition == .retry)
        #expect(CentralError.att(.insufficientAuthentication).disposition == .waitForOperator)
    }

    @Test("says what happened in words")
    func text() {
        #expect(CentralError.att(.invalidHandle).description == "the headset answered with invalid handle (0x01)")
        #expect(CentralError.noSuchCharacteristic(.batteryLevel).description == "the headset has no characteristic 2A19")
    }
}
