import Bluetooth
import Headsets
import Simulation
import Testing

/// A simulated headset that a real central would reach, driven by hand.
struct ImitatedHeadsetTests {
    private static let start = MonotonicTime(nanoseconds: 5_000_000_000)

    private static func muse() throws -> ImitatedHeadset {
        ImitatedHeadset(.muse(), streams: MuseProfile().streams, seed: 7, start: start)
    }

    /// Connects, listens to everything, and starts the samples.
    private static func stream(_ headset: ImitatedHeadset) throws {
        try #require(headset.connect())
        for characteristic in headset.database.characteristics where characteristic.properties.contains(.notify) {
            headset.setNotifyValue(true, for: characteristic.uuid)
        }
        for command in ["p50", "d"] {
            let answer = try #require(headset.write(MuseCommand.bytes(command), to: MuseService.control))
            #expect(throws: Never.self) { try answer.get() }
        }
    }

    /// Lets time pass in steps of 5 ms, and keeps what is sent.
    private static func run(_ headset: ImitatedHeadset, from: inout MonotonicTime, seconds: Int) -> [ImitatedHeadset.Output] {
        var outputs: [ImitatedHeadset.Output] = []
        for _ in 0..<(seconds * 200) {
            from = from + .milliseconds(5)
            outputs += headset.advance(to: from)
        }
        return outputs
    }

    @Test("sends nothing before it is connected and asked, and then what it has measured, which is handed out once")
    func playsWhatItMeasures() throws {
        let headset = try Self.muse()
        var now = Self.start
        #expect(headset.isAdvertising && headset.advertisement.localName == "Muse-1301")
        #expect(Self.run(headset, from: &now, seconds: 2).isEmpty && headset.takePlayed().isEmpty)
        try Self.stream(headset)
        #expect(!headset.isAdvertising && !headset.connect())
        let outputs = Self.run(headset, from: &now, seconds: 4)
        let packets = outputs.compactMap { output -> [UInt8]? in
            guard case .notification(let value, MuseService.eeg[0]) = output else { return nil }
            return value
        }
        // 256 samples a second, 12 in a packet.
        #expect((83...86).contains(packets.count))
        let eeg = headset.takePlayed().filter { $0.stream == MuseProfile.eeg }
        #expect(eeg.count > packets.count * 12 - 1 && headset.takePlayed().isEmpty)
        for packet in packets {
            let counter = Int64(packet[0]) << 8 | Int64(packet[1])
            let first = try #require(eeg.firstIndex { $0.index / 12 & 0xFFFF == counter })
            for pair in 0..<6 {
                let bits = (0..<3).map { Int32(packet[2 + pair * 3 + $0]) }
                #expect(eeg[first + pair * 2].values[0] == bits[0] << 4 | bits[1] >> 4)
                #expect(eeg[first + pair * 2 + 1].values[0] == (bits[1] & 0x0F) << 8 | bits[2])
            }
        }
        let times = zip(eeg, eeg.dropFirst()).map { $1.time - $0.time }
        #expect(times.allSatisfy { abs($0.inSeconds - 1 / 256) < 1e-6 })
    }

    @Test("out of range it sends nothing, its link ends after the supervision timeout, and it advertises when it is back")
    func away() throws {
        let headset = try Self.muse()
        var now = Self.start
        try Self.stream(headset)
        _ = Self.run(headset, from: &now, seconds: 1)
        headset.strike(.outOfRange, for: .seconds(5))
        let away = Self.run(headset, from: &now, seconds: 4)
        #expect(away == [.linkEnded] && !headset.isAdvertising && !headset.connect())
        _ = Self.run(headset, from: &now, seconds: 2)
        #expect(headset.isAdvertising && headset.faults[.outOfRange] == 1)
        // What it measured until its link ended is one run, and the next start another.
        let first = headset.takePlayed()
        try Self.stream(headset)
        _ = Self.run(headset, from: &now, seconds: 1)
        #expect(Set(first.map(\.run)) == [0] && Set(headset.takePlayed().map(\.run)) == [1])
    }

    @Test(
        "a headset that drops its link advertises at once; one that restarts, when it has booted",
        arguments: [(Fault.headsetDisconnect, true), (Fault.reboot, false)])
    func ends(fault: Fault, isThere: Bool) throws {
        let headset = try Self.muse()
        var now = Self.start
        try Self.stream(headset)
        headset.strike(fault, for: .zero)
        now = now + .milliseconds(1)
        let ended = headset.advance(to: now).contains(.linkEnded)
        #expect(ended == isThere && headset.isAdvertising == isThere)
        _ = Self.run(headset, from: &now, seconds: 3)
        #expect(headset.isAdvertising && headset.connect())
    }

    @Test("a central that leaves ends the samples, and is not answered any more")
    func leaves() throws {
        let headset = try Self.muse()
        var now = Self.start
        try Self.stream(headset)
        #expect(!Self.run(headset, from: &now, seconds: 1).isEmpty)
        headset.disconnect()
        #expect(headset.isAdvertising && headset.write(MuseCommand.bytes("d"), to: MuseService.control) == nil)
        #expect(Self.run(headset, from: &now, seconds: 1).isEmpty)
    }

    @Test("a headset with memory goes on measuring while nobody is connected, and answers reads")
    func memory() throws {
        let headset = ImitatedHeadset(.buffered(), streams: [], seed: 3, start: Self.start)
        var now = Self.start
        #expect(headset.streams.map(\.name) == ["eeg"])
        try #require(headset.connect())
        #expect(try headset.read(.serialNumberString)?.get() == Array("BE-2026-10001".utf8))
        #expect(headset.read(BufferedEEGService.data) == .failure(.readNotPermitted))
        headset.setNotifyValue(true, for: BufferedEEGService.control)
        #expect(headset.write(BufferedEEGCommand.configure.encoded(), to: BufferedEEGService.control) != nil)
        headset.disconnect()
        _ = Self.run(headset, from: &now, seconds: 2)
        let measured = headset.takePlayed()
        #expect((499...502).contains(measured.count))
        #expect(zip(measured, measured.dropFirst()).allSatisfy { $1.index == $0.index + 1 })
    }
}
