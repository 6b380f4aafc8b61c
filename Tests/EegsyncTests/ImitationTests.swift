import Bluetooth
import Foundation
import Headsets
import Simulation
import Testing

@testable import eegsync

/// What `eegsync imitate` makes of what a central does, and of what the headset does.
struct ImitationTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private static let central = PeripheralIdentifier(address: 0x02AA_0100_0042, type: .public)
    private static let other = PeripheralIdentifier(address: 0x02AA_0100_0043, type: .public)

    private static func muse(_ faults: [String] = []) -> Imitation {
        let headset = ImitatedHeadset(.muse(), streams: MuseProfile().streams, seed: 1, start: start)
        let schedule = FaultSchedule(
            faults.compactMap { ImitatedFault($0) }, every: .seconds(5), for: .seconds(3), start: start)
        return Imitation(headset, schedule: schedule, start: start)
    }

    /// Connected, with all notifications on, and streaming.
    private static func streaming(_ imitation: inout Imitation, maximumLength: Int? = 244) {
        imitation.take(.didPublish(error: nil), at: start)
        imitation.take(.didConnect(central), at: start)
        for uuid in [MuseService.control] + MuseService.eeg {
            imitation.take(.didSubscribe(uuid, maximumLength: maximumLength), at: start)
        }
        imitation.take(
            .didReceiveWrite(RequestNumber(rawValue: 1), MuseCommand.start, to: MuseService.control, from: central), at: start)
        _ = imitation.takeRequests()
    }

    private static func run(_ imitation: inout Imitation, from: Int, seconds: Int) -> [PeripheralRequest] {
        var requests: [PeripheralRequest] = []
        for step in 1...(seconds * 100) {
            imitation.advance(to: start + .seconds(from) + .milliseconds(step * 10))
            requests += imitation.takeRequests()
        }
        return requests
    }

    private static func isNotification(_ request: PeripheralRequest) -> Bool {
        if case .updateValue = request { true } else { false }
    }

    @Test("publishes the headset's services first, and advertises when they are there, and only while nobody is connected")
    func advertises() {
        var imitation = Self.muse()
        imitation.advance(to: Self.start)
        guard case .publish(let published) = imitation.takeRequests().first else {
            Issue.record("nothing is published")
            return
        }
        #expect(published.map(\.characteristic.uuid).contains(MuseService.control))
        #expect(published.allSatisfy { $0.keepsOrder }, "muselsl takes the packet of AF7 for the last one of an instant")
        imitation.take(.didPublish(error: nil), at: Self.start)
        #expect(imitation.takeRequests() == [.startAdvertising(imitation.headset.advertisement)])
        imitation.take(.didConnect(Self.central), at: Self.start)
        #expect(imitation.takeRequests() == [.stopAdvertising])
        // A headset has one link.
        imitation.take(.didConnect(Self.other), at: Self.start)
        #expect(imitation.takeRequests() == [.disconnect(Self.other)])
        imitation.take(.didDisconnect(Self.other), at: Self.start)
        imitation.take(.didDisconnect(Self.central), at: Self.start)
        #expect(imitation.takeRequests() == [.startAdvertising(imitation.headset.advertisement)])
        let lines = imitation.takeLines().map { String($0.split(separator: ": ")[1]) }
        #expect(lines == ["connected by 02:AA:01:00:00:42", "disconnected"])
    }

    @Test("answers writes, and sends what is subscribed as far as it fits")
    func notifies() {
        var imitation = Self.muse()
        Self.streaming(&imitation)
        let sent = Self.run(&imitation, from: 0, seconds: 2)
        #expect((200...230).contains(sent.filter(Self.isNotification).count) && imitation.tooLongCount == 0)
        var small = Self.muse()
        Self.streaming(&small, maximumLength: 19)
        #expect(Self.run(&small, from: 0, seconds: 2).filter(Self.isNotification).isEmpty)
        #expect(small.tooLongCount > 200 && small.takeLines().last?.contains("19 bytes at most") == true)
    }

    @Test("a headset that is away falls silent, disconnects, does not advertise, and is there again")
    func away() {
        var imitation = Self.muse(["away"])
        Self.streaming(&imitation)
        let sent = Self.run(&imitation, from: 0, seconds: 7)
        #expect(sent.last == .disconnect(Self.central))
        imitation.take(.didDisconnect(Self.central), at: Self.start + .seconds(7))
        #expect(imitation.takeRequests().isEmpty)
        let back = Self.run(&imitation, from: 7, seconds: 2)
        #expect(back.contains(.startAdvertising(imitation.headset.advertisement)))
        #expect(imitation.takeLines().contains { $0.hasSuffix("away for \(Quantity.duration(.seconds(3)))") })
    }

    @Test("faults take turns, and none is caught up with")
    func schedule() {
        let faults = ["drop", "reboot"].compactMap { ImitatedFault($0) }
        var schedule = FaultSchedule(faults, every: .seconds(10), for: .seconds(1), start: Self.start)
        #expect(schedule.take(at: Self.start + .seconds(9)) == nil)
        #expect(schedule.take(at: Self.start + .seconds(35))?.name == "drop")
        #expect(schedule.take(at: Self.start + .seconds(39)) == nil)
        #expect(schedule.take(at: Self.start + .seconds(40))?.name == "reboot")
        #expect(schedule.take(at: Self.start + .seconds(50))?.name == "drop")
    }

    @Test("switched off, it lets go whoever is connected")
    func ends() {
        var imitation = Self.muse()
        Self.streaming(&imitation)
        imitation.end()
        #expect(imitation.takeRequests() == [.stopAdvertising, .disconnect(Self.central)])
    }

    @Test("every model with a radio of Low Energy can be imitated, with characteristics that differ")
    func models() {
        #expect(["muse", "ganglion", "buffered-eeg", "hermes", "athena"].allSatisfy(ImitatedModel.all.map(\.name).contains))
        for model in ImitatedModel.all {
            let characteristics = model.make(1).database.characteristics
            let uuids = Set(characteristics.map(\.uuid))
            #expect(!uuids.isEmpty && uuids.count == characteristics.count, "\(model.name)")
        }
        #expect(Set(ImitatedModel.all.map(\.name)).count == ImitatedModel.all.count)
    }

    @Test("a wrong command line exits with 64, and a machine without bluetoothd with 69", .timeLimit(.minutes(1)))
    func command() throws {
        for arguments in [["unicorn"], ["muse", "--fault", "fire"], ["muse", "--for", "0"], ["muse", "--number", "0"]] {
            #expect(try ProgramRun(["imitate"] + arguments).exitCode == 64, "\(arguments)")
        }
        let folder = try TestDirectory()
        let file = folder.path("played.csv")
        let run = try ProgramRun(
            ["imitate", "muse", "--played", file], environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/absent"])
        #expect(run.exitCode == 69 && run.errors.contains("bluetoothd does not run"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: file))
    }
}
