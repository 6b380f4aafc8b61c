import Bluetooth
import BluetoothManagement
import Glibc
import Testing

@testable import KernelBluetooth

/// What the management channel says of the adapter where it says nothing.
@Suite struct AdapterStateTests {
    @Test(
        arguments: [
            (EAFNOSUPPORT, .unreachable), (EPERM, .unauthorized), (EMFILE, .absent),
        ] as [(Int32, AdapterState)])
    func aManagementChannelThatCannotBeOpenedSaysWhy(code: Int32, state: AdapterState) {
        let room = LowEnergyRoom()
        room.managementError = .cannotOpen(code: code)
        #expect(room.turn() == [.didUpdateState(state)])
        room.managementError = nil
        #expect(room.turn(after: .seconds(2)).last == .didUpdateState(.poweredOn))
    }

    @Test func whileTheManagementChannelIsBrokenTheStateIsUnknown() {
        let room = LowEnergyRoom()
        room.turn()
        room.breakChannel { #expect(room.emitted.last == .didUpdateState(.unknown), "resetting is bluetoothd") }
        #expect(room.central.state == .poweredOn)
    }

    @Test func whatTheKernelDidNotSayOfAdaptersIsAskedForOnceAMinute() {
        let room = LowEnergyRoom()
        room.turn()
        let attempt = room.connect()
        let off = CentralError.adapterUnavailable(.poweredOff)
        room.isPowered = false
        room.turn(after: .seconds(59))
        #expect(room.central.state == .poweredOn)
        room.turn(after: .seconds(1))
        #expect(room.emitted.last == .didFailToConnect(LowEnergyRoom.headset, error: off, attempt: attempt))
        #expect(room.central.deadline == room.now + .seconds(60), "nobody else wakes it")
        room.isPowered = true
        room.turn(after: .seconds(60))
        #expect(room.emitted.last == .didUpdateState(.poweredOn))
        #expect(room.commands.filter { $0 == .getConnections }.count == 1, "it is the same adapter")
        room.adapters = []
        room.turn(after: .seconds(60))
        #expect(room.emitted.last == .didUpdateState(.absent))
        room.adapters = [0]
        room.turn(after: .seconds(60))
        #expect(room.emitted.last == .didUpdateState(.poweredOn))
        #expect(room.commands.filter { $0 == .getConnections }.count == 2, "it is another one")
    }

    @Test func aRadioThatWasBlockedForAMomentIsSwitchedOnAgainAndNobodyHasSwitchedItOff() {
        var kept = 0
        let room = LowEnergyRoom(powersOn: true, power: AdapterPowerStore(switchedOff: []) { _, _ in kept += 1 })
        room.turn()
        room.blockForAMoment()
        #expect(room.central.state == .poweredOn && room.commands.last == .setPowered)
        room.turn(after: .seconds(10))
        #expect(kept == 0)
        // What a person does after that counts.
        room.setPowered(false)
        room.turn(after: .seconds(3))
        #expect(room.central.state == .poweredOff && kept == 1)
    }

    @Test func anAdapterThatAnotherProcessHasIsLeftAlone() {
        let prefix = "org.eegsync.test/\(getpid())-\(UInt64.random(in: .min ... .max))/"
        let other = AdapterLock(respect: .everybody, prefix: prefix)
        #expect(other.take("hci0"))
        let room = LowEnergyRoom(
            powersOn: true, bonds: BondStore(load: { [] }, save: { _, _ in }),
            lock: AdapterLock(respect: .everybody, prefix: prefix))
        #expect(room.turn().last == .didUpdateState(.inUse))
        room.turn(after: .seconds(5))
        // Its keys are the other one's, and so is whether it is on.
        #expect(!room.commands.contains { [.setPowered, .loadLinkKeys, .loadLongTermKeys, .removeDevice].contains($0) })
        other.release()
        #expect(room.turn(after: .seconds(1)).last == .didUpdateState(.poweredOn))
        #expect(room.central.state == .poweredOn)
    }

    @Test func theAdapterInUseStaysWhileItIsOnAndIsLeftInOrder() {
        let room = LowEnergyRoom()
        room.turn()
        room.plugAnother()
        room.setPowered(false)
        room.setOtherPowered(true)
        #expect(room.central.state == .poweredOn && room.indexes[.removeDevice] == 0, "the former one connects to nobody")
        let attempt = room.connect()
        #expect(room.indexes[.addDevice] == 1)
        room.sendConnected(index: 1)
        #expect(room.emitted.last == .didConnect(LowEnergyRoom.headset, attempt: attempt))
        let count = room.emitted.count
        room.setPowered(true)
        #expect(room.emitted.count == count, "the first one is on again, which ends nothing: \(room.emitted.suffix(2))")
    }

    @Test func aPersonsSwitchingOffOutlivesTheProcess() {
        var kept: [UInt64] = []
        func room() -> LowEnergyRoom {
            LowEnergyRoom(
                powered: kept.isEmpty, powersOn: true,
                power: AdapterPowerStore(switchedOff: kept) { address, isOff in
                    kept.removeAll { $0 == address }
                    if isOff { kept.append(address) }
                })
        }
        let first = room()
        first.turn()
        first.setPowered(false)
        first.turn(after: .seconds(3))
        #expect(kept == [7])
        let second = room()
        second.turn(after: .seconds(60))
        #expect(second.central.state == .poweredOff && !second.commands.contains(.setPowered))
        second.setPowered(true)
        #expect(second.central.state == .poweredOn && kept.isEmpty)
    }
}

extension LowEnergyRoom {
    /// A person blocks the radio, and unblocks it before anybody looks.
    fileprivate func blockForAMoment() {
        isPowered = false
        management.send(0x0006, ManagementEnd.bytes(of: settings))
        for soft in [1, 0] as [UInt8] {
            // Number 0, type Bluetooth (2), RFKILL_OP_CHANGE (2), soft, hard, the reasons of the latter.
            let event: [UInt8] = [0, 0, 0, 0, 2, 2, soft, 0, 0]
            if let switches { _ = send(switches.far, event, event.count, Int32(MSG_NOSIGNAL)) }
        }
        turn()
    }
}
