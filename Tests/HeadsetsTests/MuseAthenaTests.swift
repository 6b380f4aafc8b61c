import Bluetooth
import Headsets
import Testing

/// The multiplexed packets of a Muse S Athena.
@Suite("Muse S Athena")
struct MuseAthenaTests {
    private static func bytes(_ text: String) -> [UInt8] {
        text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }

    private static func decode(_ bytes: [UInt8], preset: MuseAthenaPreset = .p1041) -> Decoded {
        var decoder = MuseAthenaDecoder(preset: preset)
        var decoded = Decoded()
        decoder.decode(bytes, from: MuseService.multiplexed, into: &decoded)
        return decoded
    }

    private static func blocks(_ decoded: Decoded) -> [SampleBlock] {
        decoded.items.compactMap { if case .samples(let block) = $0 { block } else { nil } }
    }

    /// A packet whose header is that of a real one; what the vector does not tell is 0.
    private static func packet(_ head: String, contentLength: Int) -> [UInt8] {
        var packet = bytes(head)
        packet += [UInt8](repeating: 0, count: MuseAthenaPacket.headerLength + 5 + contentLength - packet.count)
        packet[0] = UInt8(packet.count)
        return packet
    }

    @Test("sends motion with the lowest byte first (from a recording of OpenMuse's)")
    func motion() {
        let decoded = Self.decode(
            Self.packet("d7 00 00 0a 35 d1 89 93 01 47 00 e2 01 00 fb c2 53 f8 cc 13 98 00 fa 00 98 00", contentLength: 36))
        let blocks = Self.blocks(decoded)
        #expect(blocks.map(\.stream) == [MuseAthenaProfile.accelerometer, MuseAthenaProfile.gyroscope])
        #expect(blocks.map(\.instantCount) == [3, 3])
        #expect(decoded.values[blocks[0].values].prefix(3) == [-15_621, -1965, 5068])
        #expect(decoded.values[blocks[1].values].prefix(3) == [152, 250, 152])
    }

    @Test("sends 8 channels of 14 bits with the lowest bit first (from a recording of OpenMuse's)")
    func eeg8() {
        let head = "f0 00 00 f3 49 e5 89 93 01 12 00 66 01 00 ff ff ff 0f 00 00 00 28 1d 18 c8 eb"
        let decoded = Self.decode(Self.packet(head, contentLength: 28))
        #expect(Self.blocks(decoded).map(\.channelCount) == [8])
        #expect(Self.blocks(decoded).map(\.instantCount) == [2])
        #expect(decoded.values.prefix(6) == [16_383, 16_383, 0, 0, 7464, 8288])
    }

    @Test("tells its charge in 1/256 % and its clock, not more often than each 10 s")
    func battery() {
        let content = Self.bytes("46 3a 65 00 af 00 d8 07 ff ff bc 00 d6 6a 4a c3 99 ff b1 1d")
        var decoder = MuseAthenaDecoder()
        var decoded = Decoded()
        for seconds in UInt64(0)..<25 {
            let packet = MuseAthenaPacket.encoded(
                index: UInt16(seconds), deviceMilliseconds: 1_733_184_009_482 + seconds * 1000,
                blocks: [(.battery, UInt8(seconds), content)])
            decoder.decode(packet, from: MuseService.multiplexed, into: &decoded)
        }
        let statuses = decoded.items.compactMap { if case .status(let status) = $0 { status } else { nil } }
        #expect(statuses.map(\.deviceTicks) == [1_733_184_009_482, 1_733_184_019_482, 1_733_184_029_482])
        #expect(statuses.first?.batteryPercent == Double(0x3A46) / 256)
        #expect(statuses.first?.tickFrequency == 1000)
    }

    private static func status(charge: String) -> [[UInt8]] {
        let text = Array("{\"sn\":\"6002\",\"ma\":\"00-55-da-b0-13-24\",\"bp\":\(charge)}".utf8)
        return stride(from: 0, to: text.count, by: 19).map { start in
            let part = text[start..<min(text.count, start + 19)]
            return [UInt8(part.count)] + part
        }
    }

    @Test(
        "with new firmware tells its charge in steps that its status proves, and no clock",
        arguments: [("60.2", 15_360, [60.0]), ("30", 15_360, [30.0]), ("90", 15_360, []), (nil, 15_360, [])]
            as [(String?, Int, [Double])])
    func newBattery(sent: String?, raw: Int, expected: [Double]) {
        var decoder = MuseAthenaDecoder()
        var decoded = Decoded()
        for fragment in sent.map({ Self.status(charge: $0) }) ?? [] {
            decoder.decode(fragment, from: MuseService.control, into: &decoded)
        }
        decoded.removeAll()
        let content = [UInt8(raw & 0xFF), UInt8(raw >> 8)] + [UInt8](repeating: 7, count: 186)
        let packet = MuseAthenaPacket.encoded(index: 0, deviceMilliseconds: 99, blocks: [(.newBattery, 0, content)])
        decoder.decode(packet, from: MuseService.multiplexed, into: &decoded)
        let statuses = decoded.items.compactMap { if case .status(let status) = $0 { status } else { nil } }
        #expect(statuses.compactMap(\.batteryPercent) == expected)
        #expect(statuses.allSatisfy { $0.deviceTicks == nil })
    }

    @Test("numbers each kind of block by itself", arguments: MuseAthenaPreset.allCases)
    func presets(_ preset: MuseAthenaPreset) {
        let profile = MuseAthenaProfile(preset: preset)
        let streams = profile.streams
        #expect(Set(streams.map { "\($0.name) \($0.bank)" }).count == streams.count)
        let tags = MuseAthenaPacket.Tag.allCases
        let blocks = tags.map { (tag: $0, number: 7 as UInt8, content: [UInt8](repeating: 0x5A, count: $0.contentLength ?? 0)) }
        var found: [Int: SampleBlock] = [:]
        for block in blocks where block.tag != .newBattery {
            let packet = MuseAthenaPacket.encoded(index: 0, deviceMilliseconds: 0, blocks: [block])
            for block in Self.blocks(Self.decode(packet, preset: preset)) { found[block.stream] = block }
        }
        #expect(found.keys.sorted() == Array(streams.indices))
        for (stream, block) in found {
            #expect(block.counter == 7)
            #expect(block.channelCount == streams[stream].channels.count)
            #expect(block.instantCount == streams[stream].samplesPerCount)
        }
    }

    @Test("bears the clock of a packet's header in each of its blocks; with new firmware, whose header nobody knows, none")
    func clock() {
        var decoder = MuseAthenaDecoder()
        func ticks(_ milliseconds: UInt64, _ tags: [MuseAthenaPacket.Tag]) -> [UInt64?] {
            let blocks = tags.map {
                (tag: $0, number: 7 as UInt8, content: [UInt8](repeating: 1, count: $0.contentLength ?? 9))
            }
            var decoded = Decoded()
            let packet = MuseAthenaPacket.encoded(index: 0, deviceMilliseconds: milliseconds, blocks: blocks)
            decoder.decode(packet, from: MuseService.multiplexed, into: &decoded)
            return Self.blocks(decoded).map(\.deviceTicks)
        }
        #expect(ticks(0x1234_5678_9ABC, [.eeg8, .motion]) == [0x1234_5678_9ABC, 0x1234_5678_9ABC, 0x1234_5678_9ABC])
        #expect(ticks(5, [.optics16, .reference]) == [5, 5, 5])
        #expect(ticks(9, [.newBattery]).isEmpty)
        #expect(ticks(10, [.eeg8]) == [nil])
        #expect(
            MuseAthenaProfile().sampleStamps == SampleStamps(tickFrequency: 1000, modulus: 1 << 48, isExact: false))
        #expect(MuseProfile().sampleStamps == nil)
    }

    @Test("says of a block whether anything can have been lost since the one before it")
    func followsDirectly() {
        var decoder = MuseAthenaDecoder()
        func follows(_ index: UInt16, _ blocks: [(tag: MuseAthenaPacket.Tag, number: UInt8)], junk: Int = 0) -> [Bool] {
            let packet = MuseAthenaPacket.encoded(
                index: index, deviceMilliseconds: 1,
                blocks: blocks.map {
                    (tag: $0.tag, number: $0.number, content: [UInt8](repeating: 1, count: $0.tag.contentLength ?? 9))
                })
            var decoded = Decoded()
            decoder.decode(packet + [UInt8](repeating: 0, count: junk), from: MuseService.multiplexed, into: &decoded)
            return Self.blocks(decoded).map(\.followsDirectly)
        }
        #expect(follows(254, [(.eeg8, 254), (.eeg8, 255), (.motion, 3)]) == [false, true, false, false])
        #expect(follows(255, [(.eeg8, 0), (.optics16, 9)]) == [true, false, false])
        #expect(follows(256, [(.motion, 4)]) == [true, true])
        // Packet 257 was lost: it may have held a block of each kind, or a whole turn of their numbers.
        #expect(follows(258, [(.eeg8, 1), (.optics16, 10)]) == [false, false, false])
        #expect(follows(259, [(.eeg8, 2), (.optics16, 11)]) == [true, true, true])
        // A number that does not go on by one; what nobody can decode behind it; a packet that comes twice.
        #expect(follows(260, [(.eeg8, 4), (.eeg8, 5)], junk: 3) == [false, true])
        #expect(follows(261, [(.eeg8, 6), (.eeg8, 7)]) == [false, true])
        #expect(follows(261, [(.eeg8, 6), (.eeg8, 7)]) == [false, true])
        #expect(decoder.continued() != nil)
    }

    /// Packets of one block each, and what a decoder makes of them.
    private static func decode(
        _ tags: [MuseAthenaPacket.Tag], with decoder: inout MuseAthenaDecoder
    ) -> (channels: [Int], sent: [[StreamDescription]], discarded: Int) {
        var decoded = Decoded()
        for (number, tag) in tags.enumerated() {
            let content = [UInt8](repeating: 0x5A, count: tag.contentLength ?? 0)
            let packet = MuseAthenaPacket.encoded(
                index: 0, deviceMilliseconds: 0, blocks: [(tag, UInt8(truncatingIfNeeded: number), content)])
            decoder.decode(packet, from: MuseService.multiplexed, into: &decoded)
        }
        let sent = decoded.items.compactMap { if case .status(let status) = $0 { status.streams } else { nil } }
        let discarded = decoded.items.filter { if case .discarded = $0 { true } else { false } }
        let blocks = blocks(decoded)
        #expect(blocks.map(\.counter) == blocks.map(\.counter).sorted { ($0 ?? 0) < ($1 ?? 0) })
        return (blocks.map(\.channelCount), sent, discarded.count)
    }

    @Test("is followed where it sends another preset than it was set to, for EEG and for optics")
    func otherPreset() {
        var decoder = MuseAthenaDecoder(preset: .p1041)
        let eeg = Self.decode(Array(repeating: .eeg4, count: 20), with: &decoder)
        #expect(eeg.discarded == 0 && eeg.channels == Array(repeating: 4, count: 20))
        #expect(eeg.sent.map { $0[0].channels.count } == [4])
        let optics = Self.decode(Array(repeating: .optics8, count: 10), with: &decoder)
        #expect(optics.discarded == 0 && optics.channels == Array(repeating: 8, count: 10))
        #expect(optics.sent == [MuseAthenaProfile(preset: .p1034).streams])
        // The stream behind the optics has moved with them.
        #expect(Self.decode([.reference], with: &decoder).channels == [2])
    }

    @Test("is not followed for a few blocks that are left over from the preset before")
    func leftOver() {
        var decoder = MuseAthenaDecoder(preset: .p1041)
        for _ in 0..<5 {
            let mixed = Self.decode(Array(repeating: .eeg4, count: 7) + [.eeg8], with: &decoder)
            #expect(mixed.sent.isEmpty && mixed.channels == [8] && mixed.discarded == 1)
        }
    }

    @Test("is declared with the rates that its clock shows", arguments: MuseAthenaPreset.allCases)
    func rates(_ preset: MuseAthenaPreset) {
        for stream in MuseAthenaProfile(preset: preset).streams {
            let measured = ["eeg": 256, "optics": 64.2, "reference": preset.eegChannelCount == 8 ? 29.7 : 30.8]
            let expected = measured[stream.name] ?? 52
            #expect(abs(stream.samplingFrequency / expected - 1) < 0.005, "\(stream.name)")
        }
    }

    @Test("packs numbers so that they can be unpacked")
    func packing() {
        let values: [Int32] = [1, 0x3FFF, 0, 0x2AAA] + [Int32](repeating: 5, count: 12)
        let content = MuseAthenaPacket.packed(values, width: 14)
        #expect(content.count == 28)
        let packet = MuseAthenaPacket.encoded(index: 0, deviceMilliseconds: 0, blocks: [(.eeg4, 0, content)])
        #expect(Self.decode(packet, preset: .p21).values == values)
    }

    @Test("counts what follows an unknown tag, a wrong length, or a cut packet, and takes what stands before")
    func damaged() {
        let content = [UInt8](repeating: 0, count: 36)
        var packet = MuseAthenaPacket.encoded(
            index: 0, deviceMilliseconds: 0, blocks: [(.motion, 0, content), (.motion, 1, content)])
        packet[9 + 41] = 0x66
        #expect(Self.decode(packet).items.last == .discarded(byteCount: 41))
        #expect(Self.blocks(Self.decode(packet)).count == 2)
        packet[9 + 41] = 0x88
        #expect(Self.blocks(Self.decode(packet)).count == 2)
        #expect(!Self.decode(packet).items.contains { if case .discarded = $0 { true } else { false } })
        #expect(Self.decode(Array(packet.dropLast())).items == [.discarded(byteCount: packet.count - 1)])
        #expect(Self.decode(packet + [3, 1]).items.last == .discarded(byteCount: 2))
    }

    @Test("takes nothing of a notification that only looks like packets, and ends in something else")
    func forged() {
        func packet(_ index: UInt16, at milliseconds: UInt64 = 60_000) -> [UInt8] {
            let content = [UInt8](repeating: 7, count: 28)
            return MuseAthenaPacket.encoded(index: index, deviceMilliseconds: milliseconds, blocks: [(.eeg8, 0, content)])
        }
        func taken(_ notification: [UInt8], after latest: UInt16 = 255) -> Int {
            var (decoder, decoded) = (MuseAthenaDecoder(preset: .p1041), Decoded())
            decoder.decode(packet(latest), from: MuseService.multiplexed, into: &decoded)
            decoder.decode(notification, from: MuseService.multiplexed, into: &decoded)
            return Self.blocks(decoded).count - 1
        }
        // The index goes on over the end of its lowest byte; some may have been lost before.
        #expect(taken(packet(256) + packet(257)) == 2)
        #expect(taken(packet(300)) == 1, "a whole notification is taken, however many were lost before it")
        #expect(taken(packet(258) + [3, 1]) == 1)
        #expect(taken(packet(256) + packet(259)) == 1, "what follows is another packet's beginning by chance")
        #expect(taken(packet(300) + [3, 1]) == 0)
        #expect(taken(packet(255) + [3, 1]) == 0, "it was there before")
        #expect(taken(packet(256, at: 64_000) + [3, 1]) == 1)
        for clock in [0, 54_000, 66_000, 1 << 47] as [UInt64] {
            #expect(taken(packet(256, at: clock) + [3, 1]) == 0, "the headset's clock was not at \(clock)")
            #expect(taken(packet(256, at: clock)) == 1, "a whole notification is taken, whatever its clock says")
        }
        // A headset whose clock is set, or that was away for longer, is believed with the second of such notifications.
        var (decoder, decoded) = (MuseAthenaDecoder(preset: .p1041), Decoded())
        for notification in [packet(255), packet(300, at: 90_000) + [3, 1], packet(301, at: 90_050) + [3, 1]] {
            decoder.decode(notification, from: MuseService.multiplexed, into: &decoded)
        }
        #expect(Self.blocks(decoded).count == 2)
    }

    @Test("is distinguished from the older ones by the characteristic of multiplexed packets, and started twice")
    func profile() {
        let database = GATTDatabase(
            characteristics: [MuseService.control, MuseService.multiplexed].map {
                Characteristic(service: MuseService.service, uuid: $0, properties: [.notify])
            })
        let profile = MuseProfile().adapted(to: database)
        #expect(profile is MuseAthenaProfile)
        #expect(profile.model == "muse")
        let starts = profile.commands(for: .start, status: nil).filter { $0 == MuseCommand.step(MuseCommand.bytes("dc001")) }
        #expect(starts.count == 2)
        #expect(MuseCommand.bytes("dc001") == [0x06, 0x64, 0x63, 0x30, 0x30, 0x31, 0x0A])
        #expect(profile.commands(for: .initialise, status: nil).contains(MuseCommand.step(MuseCommand.preset("1041"))))
        let isTimed = profile.commands(for: .start, status: nil).contains { if case .wait = $0 { true } else { false } }
        #expect(!isTimed, "each command waits for the answer to the one before, not for a time")
    }
}
