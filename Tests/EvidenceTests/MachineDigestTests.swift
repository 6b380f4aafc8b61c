import Evidence
import Testing

@Suite("Digests of machines")
struct MachineDigestTests {
    @Test("are those of sd_id128_get_machine_app_specific(3)")
    func machineID() {
        // As `systemd-id128 machine-id --app-specific=5c2e0f4b8a614d179b33e27f60c41da8` says on a machine of this machine-id.
        #expect(MachineDigest(machineID: "0f1e2d3c4b5a69788796a5b4c3d2e1f0")?.text == "21312f80ea474351a29f715dcee11979")
    }

    @Test(
        "come of no machine-id and no serial number that is none",
        arguments: ["", "uninitialized", "3d12", "é" + "3d1219c7c4c5404aaa1f6d2a48adfd"])
    func none(text: String) {
        #expect(MachineDigest(machineID: text) == nil)
    }

    @Test("of boards differ, and boards without a number have none")
    func board() {
        let one = MachineDigest(boardSerialNumber: "10000000d0a1b2c3")
        #expect(one?.text.utf8.count == 32)
        #expect(one != MachineDigest(boardSerialNumber: "10000000d0a1b2c4"))
        #expect(MachineDigest(boardSerialNumber: "0000000000000000") == nil)
        #expect(MachineDigest(boardSerialNumber: "") == nil)
    }
}
