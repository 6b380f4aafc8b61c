import Bluetooth
import Glibc
import Testing

@testable import BluetoothManagement

/// A supervision whose other end is the test instead of the kernel.
@Suite struct LinkSupervisionTests {
    /// What the kernel would be.
    private final class Kernel {
        let ours: Int32
        let theirs: Int32
        var watched: [Int32] = []
        var opened = 0

        init() {
            var pair: [Int32] = [-1, -1]
            let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            socketpair(AF_UNIX, type, 0, &pair)
            ours = pair[0]
            theirs = pair[1]
        }

        deinit { close(ours) }

        func deliver(_ packet: [UInt8]) { send(ours, packet, packet.count, 0) }

        /// The next command; nil where none was sent.
        func hear() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 70_000)
            let count = recv(ours, &buffer, buffer.count, 0)
            return count > 0 ? Array(buffer[..<count]) : nil
        }

        func makeSupervision() -> LinkSupervision {
            LinkSupervision(
                watch: DescriptorWatch(
                    watch: { self.watched.append($0) }, unwatch: { gone in self.watched.removeAll { $0 == gone } }),
                open: { () throws(ManagementError) in
                    self.opened += 1
                    return ManagementSocket(adopting: dup(self.theirs))
                })
        }
    }

    private let hci0 = ControllerIndex(rawValue: 0)
    private let headset = PeripheralIdentifier(address: 0xF0F1_F2F3_F4F5, type: .random)
    private let parameters = ConnectionParameters(packetPeriod: .milliseconds(40), silenceLimit: .seconds(2))

    @Test func parametersAreSentBeforeEachConnectionAndTheAnswerIsTheCondition() {
        let kernel = Kernel()
        let supervision = kernel.makeSupervision()
        #expect(kernel.watched.count == 1)
        supervision.willConnect(on: hci0)
        #expect(kernel.hear() == nil)
        supervision.setParameters(parameters, for: headset)
        let expected = ManagementCommand.loadConnectionParameters(
            [DeviceConnectionParameters(identifier: headset, parameters: parameters)], hci0)
        for _ in 0..<2 {
            supervision.willConnect(on: hci0)
            #expect(kernel.hear() == expected.encoded)
        }
        #expect(supervision.condition(on: hci0) == .unknown)
        kernel.deliver(PacketBytes.complete(opcode: 0x0035))
        supervision.process()
        #expect(supervision.condition(on: hci0) == .inForce)
    }

    @Test func aRefusalIsSaidPlainlyAndNotRepeated() {
        let kernel = Kernel()
        let supervision = kernel.makeSupervision()
        supervision.setParameters(parameters, for: headset)
        supervision.willConnect(on: hci0)
        #expect(kernel.hear() != nil)
        kernel.deliver(PacketBytes.event(0x0002, [0x35, 0x00, 0x14]))
        supervision.process()
        #expect(supervision.condition(on: hci0) == .impossible(reason: "this process lacks CAP_NET_ADMIN"))
        supervision.willConnect(on: hci0)
        #expect(kernel.hear() == nil)
    }

    @Test func aReasonIsTakenOnceAndDoesNotOutliveTheNextLink() {
        let kernel = Kernel()
        let supervision = kernel.makeSupervision()
        kernel.deliver(PacketBytes.event(0x000C, PacketBytes.headset + [0x01]))
        supervision.process()
        #expect(supervision.takeReason(of: headset) == .connectionTimeout)
        #expect(supervision.takeReason(of: headset) == nil)
        kernel.deliver(PacketBytes.event(0x000C, PacketBytes.headset + [0x03]))
        kernel.deliver(PacketBytes.event(0x000B, PacketBytes.headset + [0, 0, 0, 0, 0, 0]))
        supervision.process()
        #expect(supervision.takeReason(of: headset) == nil)
    }

    @Test func otherProgramsDevicesDoNotFillTheMemory() {
        let kernel = Kernel()
        let supervision = kernel.makeSupervision()
        for number in 0..<200 {
            kernel.deliver(PacketBytes.event(0x000C, [UInt8(number), 0, 0, 0, 0, 0, 1, 1]))
            supervision.process()
        }
        #expect(supervision.takeReason(of: PeripheralIdentifier(address: 0, type: .public)) == nil)
        #expect(supervision.takeReason(of: PeripheralIdentifier(address: 199, type: .public)) == .connectionTimeout)
    }

    @Test func theStrengthOfALinkIsAskedForAndTaken() {
        let kernel = Kernel()
        let supervision = kernel.makeSupervision()
        supervision.readQuality(of: headset, on: hci0)
        #expect(kernel.hear() == ManagementCommand.getConnectionInformation(headset, hci0).encoded)
        // -62 dBm and 8 dBm; then what the controller does not know, a refusal, and no link.
        kernel.deliver(PacketBytes.complete(opcode: 0x0031, PacketBytes.headset + [0xC2, 8, 127]))
        kernel.deliver(PacketBytes.complete(opcode: 0x0031, PacketBytes.headset + [0xC3, 127, 127]))
        kernel.deliver(PacketBytes.complete(opcode: 0x0031, PacketBytes.headset + [127, 127, 127]))
        kernel.deliver(PacketBytes.event(0x0002, [0x31, 0, 0x14]))
        kernel.deliver(PacketBytes.complete(opcode: 0x0031, status: 0x02, PacketBytes.headset + [127, 127, 127]))
        supervision.process()
        let taken = supervision.takeQualities()
        #expect(taken.map(\.quality) == [LinkQuality(rssi: -62, transmitPower: 8), LinkQuality(rssi: -61)])
        #expect(taken.allSatisfy { $0.identifier == headset })
        #expect(supervision.takeQualities().isEmpty && supervision.error == nil)
    }

    @Test func aPacketThatCannotBeReadIsSkipped() {
        let kernel = Kernel()
        let supervision = kernel.makeSupervision()
        kernel.deliver([1, 2, 3])
        kernel.deliver(PacketBytes.event(0x000C, PacketBytes.headset + [0x01]))
        supervision.process()
        #expect(supervision.error == .malformed(.truncated))
        #expect(supervision.takeReason(of: headset) == .connectionTimeout)
        #expect(kernel.watched.count == 1)
    }

    @Test func aChannelThatBreaksIsOpenedAgainForTheNextConnection() {
        let kernel = Kernel()
        let supervision = kernel.makeSupervision()
        supervision.setParameters(parameters, for: headset)
        close(kernel.theirs)
        shutdown(kernel.ours, Int32(SHUT_RDWR))
        supervision.process()
        #expect(supervision.error == .cannotReceive(code: ECONNRESET))
        #expect(kernel.watched.isEmpty)
        supervision.willConnect(on: hci0)
        #expect(kernel.opened == 2)
    }

    @Test func aChannelThatCannotBeOpenedStopsNothing() {
        var tries = 0
        let supervision = LinkSupervision(
            watch: DescriptorWatch(watch: { _ in }, unwatch: { _ in }),
            open: { () throws(ManagementError) in
                tries += 1
                throw ManagementError.cannotOpen(code: EAFNOSUPPORT)
            })
        supervision.setParameters(parameters, for: headset)
        supervision.willConnect(on: hci0)
        supervision.process()
        // Only a person changes that.
        #expect(tries == 1)
        guard case .impossible(let reason) = supervision.condition(on: hci0) else {
            Issue.record("a condition without a channel")
            return
        }
        #expect(reason.contains("RestrictAddressFamilies"))
    }
}
