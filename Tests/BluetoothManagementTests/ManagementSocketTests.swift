import Bluetooth
import BluetoothManagement
import Testing

/// The channel itself is proven where there is a kernel with Bluetooth; here only that its absence is said plainly.
@Suite struct ManagementSocketTests {
    @Test func aKernelWithoutBluetoothIsAnErrorWithWords() throws {
        do {
            let socket = try ManagementSocket()
            try socket.send(.readVersion)
            #expect(socket.descriptor >= 0)
        } catch {
            #expect(error.disposition == .waitForOperator || error.disposition == .retry)
            #expect("\(error)".contains("Bluetooth"))
        }
    }
}
