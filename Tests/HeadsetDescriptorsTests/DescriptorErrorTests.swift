import HeadsetDescriptors
import Headsets
import ShippedHeadsets
import Simulation
import Testing
import YAMLReading

@Suite("Errors of a descriptor")
struct DescriptorErrorTests {
    /// The complaints about a text, each in one line; empty where there is none.
    private static func complaints(_ text: String, taken: [String] = []) -> [String] {
        do throws(YAMLDocumentError) {
            _ = try DescriptorReader.read(text, takenModels: taken)
            return []
        } catch {
            return error.description.split(separator: "\n").map(String.init)
        }
    }

    @Test("are none where everything is right")
    func right() {
        #expect(Self.complaints(smallDescriptor()) == [])
    }

    @Test("name line, column and key, and what was meant by a misspelt word")
    func misspelt() {
        let text = smallDescriptor(stream: "sampling_frequenzy_hertz: 200")
        #expect(
            Self.complaints(text).first
                == "line 12, column 5: streams[0].sampling_frequenzy_hertz: unknown key; "
                + "did you mean 'sampling_frequency_hertz'?"
        )
        #expect(
            Self.complaints(smallDescriptor(source: "rolle: data"))
                == ["line 15, column 5: sources[0].rolle: unknown key; did you mean 'role'?"])
        #expect(
            Self.complaints(smallDescriptor(samples: "{stream: egg, at: 1, type: i16le, instants: 2}")).contains {
                $0.hasSuffix("'egg' is none of the streams; did you mean 'eeg'?")
            })
    }

    @Test("name a key that was left without its value", arguments: ["", " ~", " null"])
    func withoutValue(nothing: String) {
        #expect(
            Self.complaints(smallDescriptor().split(separator: "0.5").joined(separator: nothing)) == [
                "line 8, column 5: streams[0]: 'scale' is missing; physical value = scale × raw + offset, in 'unit'"
            ])
        let open = smallDescriptor().split(separator: "0.5").joined(separator: "!fill-in \"How much?\"")
        #expect(Self.complaints(open).count == 1 && Self.complaints(open).first?.contains("How much?") == true)
    }

    @Test("come all at once, in the order of the text")
    func several() {
        let text = smallDescriptor(
            stream: "unit: [a]", source: "role: dada", packet: "counter: {at: zero, type: u16}",
            samples: "{stream: eeg, at: 1, type: i24, instants: 0}", more: "colour: red")
        let complaints = Self.complaints(text)
        #expect(
            complaints == [
                "line 12, column 11: streams[0].unit: a list is not a text; a unit in BIDS's words, such as uV",
                "line 15, column 11: sources[0].role: 'dada' is not one of the words; did you mean 'data'?",
                "line 18, column 23: sources[0].packets[0].counter.at: 'zero' is not a whole number; "
                    + "allowed is a whole number, -4096 ... 4095",
                "line 18, column 35: sources[0].packets[0].counter.type: 'u16' lacks its byte order; "
                    + "write 'u16be' (big-endian) or 'u16le' (little-endian)",
                "line 19, column 45: sources[0].packets[0].samples.type: 'i24' lacks its byte order; "
                    + "write 'i24be' (big-endian) or 'i24le' (little-endian)",
                "line 19, column 60: sources[0].packets[0].samples.instants: 0 is out of range; "
                    + "allowed is a whole number, 1 ... 4096",
                "line 20, column 1: colour: unknown key; allowed are descriptor, model, name, about, recognise, gatt, epoch, "
                    + "memory, timing, streams, sources and commands",
            ], "\(complaints.joined(separator: "\n"))")
    }

    @Test(
        "are found by reasoning about the whole",
        arguments: [
            (smallDescriptor(packet: "length: 8\n        counter: {at: 0, type: u8}"), "reach to byte 9, and the packet has 8"),
            (smallDescriptor(packet: "length: 9\n        counter: {at: 9, type: u8}"), "needs 10 bytes, and the packet has 9"),
            (smallDescriptor(stream: ""), "it must be said what the counter counts"),
            (
                smallDescriptor(stream: "counter: {modulus: 100, samples_per_count: 2}", packet: "length: 9"),
                "the packet has none"
            ),
            (
                smallDescriptor(samples: "{stream: eeg, at: 1, type: i16le, instants: 2, channels: [A]}"),
                "no packet has samples of the channel 'B'"
            ),
            (smallDescriptor(samples: "{stream: eeg, at: 1, type: f32le, instants: 2}"), "'quantum' is missing"),
            (
                smallDescriptor(samples: "{stream: eeg, at: 1, type: u32le, instants: 2}"),
                "does not fit into the database's integers"
            ),
            (smallDescriptor(source: "framing: {kind: stream, length: 9}"), "nothing shows where a frame begins"),
            (smallDescriptor(source: "framing: {kind: stream, sync: A0}"), "'length' is missing"),
            (smallDescriptor(source: "framing: {kind: stream, sync: A0, length: by_packet}"), "'when' is missing"),
            (smallDescriptor(source: "role: read"), "no source has the role 'data'"),
            (smallDescriptor(more: "commands: {start: [{write: 1, to: command}]}"), "'1' is no byte"),
            (smallDescriptor(more: "commands: {start: [{write: 01, to: commando}]}"), "did you mean 'command'?"),
            (smallDescriptor(more: "commands: {start: [{write: 01, text: b, to: command}]}"), "several things"),
            (smallDescriptor(more: "commands: {start: [{wait_milliseconds: 5, to: command}]}"), "only a write has 'to'"),
            (smallDescriptor(channels: "[A, A]"), "the channel 'A' is named twice"),
            (
                smallDescriptor(packet: "counter: {at: 0, type: u8}\n        annotation: {text: \"x {y}\"}"),
                "'{y}' is none of the 'values'"
            ),
            (
                smallDescriptor(
                    source:
                        "framing: {kind: notification, checksum: {kind: crc16-modbus, at: -2, type: u8}}"),
                "the check has 16 bits, and the field 8"
            ),
        ])
    func semantic(text: String, part: String) {
        let complaints = Self.complaints(text)
        #expect(complaints.contains { $0.contains(part) }, "\(complaints.joined(separator: "\n"))")
        #expect(complaints.allSatisfy { $0.hasPrefix("line ") })
    }

    /// A second kind of packet for ``smallDescriptor``.
    private static func second(_ keys: String...) -> String {
        "      - name: second" + keys.map { "\n        \($0)" }.joined()
    }

    /// A first kind of packet that is no second.
    private static let first = "length: 9\n        counter: {at: 0, type: u8}"

    @Test(
        "are found where samples would be numbered wrongly, and lost",
        arguments: [
            (
                smallDescriptor(
                    samples: "[{stream: eeg, at: 1, type: i16le}, {stream: eeg, at: 9, type: i16le}]"),
                "line 19", "packets[0].samples[1]: the channel 'A' of 'eeg' is in earlier 'samples' of the packet"
            ),
            (
                smallDescriptor(
                    samples: "[{stream: eeg, at: 1, type: i16le, channels: [B, ~]}, {stream: eeg, at: 5, type: i16le}]"),
                "line 19", "packets[0].samples[1]: the channel 'B' of 'eeg' is in earlier 'samples' of the packet"
            ),
            (
                smallDescriptor(packet: first, more: second("samples: {stream: eeg, at: 0, type: i16le, instants: 2}")),
                "line 22", "packets[1].samples: the packet has no counter, and an earlier packet of the stream has one"
            ),
            (
                smallDescriptor(
                    packet: "length: 9",
                    more: second("counter: {at: 0, type: u8}", "samples: {stream: eeg, at: 1, type: i16le, instants: 2}")),
                "line 22", "packets[1].samples: the packet has a counter, and an earlier packet of the stream has none"
            ),
            (
                smallDescriptor(
                    packet: first,
                    more: second("counter: {at: 0, type: u16le}", "samples: {stream: eeg, at: 2, type: i16le, instants: 2}")),
                "line 23", "packets[1].samples: the counter has 16 bits, and that of an earlier packet of the stream 8"
            ),
            (
                smallDescriptor(stream: "counter: {modulus: 65536, samples_per_count: 2}"), "line 19",
                "packets[0].samples: the counter has 8 bits, and the stream's modulus is 65536"
            ),
            (
                smallDescriptor(source: "framing: {kind: notification, checksum: {kind: sum, at: 0, type: u8}}"), "line 15",
                "framing.checksum: nothing stands before a checksum at byte 0, and 'to' is missing"
            ),
            (
                smallDescriptor(source: "framing: {kind: notification, checksum: {kind: sum, at: 1, type: u8, from: 2}}"),
                "line 15", "framing.checksum: the checksum is of no byte: it ends before byte 1, and begins at byte 2"
            ),
        ])
    func misnumbered(text: String, line: String, part: String) {
        let complaints = Self.complaints(text)
        #expect(complaints.count == 1 && complaints[0].hasPrefix(line + ", column "), "\(complaints)")
        #expect(complaints.first?.contains("sources[0].\(part)") == true, "\(complaints)")
    }

    @Test("are not channels side by side, runs without counter, counters up to a written modulus, nor a checksum with its end")
    func rightlyNumbered() {
        let sideBySide =
            "[{stream: eeg, at: 1, type: i16le, instants: 2, channels: [A]}, "
            + "{stream: eeg, at: 5, type: i16le, instants: 2, channels: [B]}]"
        #expect(Self.complaints(smallDescriptor(samples: sideBySide)) == [])
        // Samples without counter follow each other.
        let runs = "[{stream: eeg, at: 0, type: i16le, instants: 2}, {stream: eeg, at: 9, type: i16le, instants: 2}]"
        #expect(Self.complaints(smallDescriptor(stream: "", packet: "", samples: runs)) == [])
        let two = Self.second("counter: {at: 0, type: u16le}", "samples: {stream: eeg, at: 2, type: i16le, instants: 2}")
        let modulus = "counter: {modulus: 256, samples_per_count: 2}"
        #expect(Self.complaints(smallDescriptor(stream: modulus, packet: Self.first, more: two)) == [])
        for end in ["from: 1, to: 0", "from: 1, to: 5", "from: -3, to: -1", "from: -3, to: 0"] {
            let checksum = "framing: {kind: notification, checksum: {kind: sum, at: 0, type: u8, \(end)}}"
            #expect(Self.complaints(smallDescriptor(source: checksum)) == [])
        }
    }

    @Test("are not said of a counter that is still to be filled in")
    func openCounter() {
        let counted = Self.second("counter: {at: 0, type: u8}", "samples: {stream: eeg, at: 1, type: i16le, instants: 2}")
        let text = smallDescriptor(packet: "length: 9\n        counter: !fill-in \"Which?\"", more: counted)
        let complaints = Self.complaints(text)
        #expect(complaints.count == 1 && complaints.first?.contains("Which?") == true, "\(complaints)")
    }

    @Test("say where the text is no YAML, a key stands twice, or the model is built in")
    func malformed() {
        #expect(Self.complaints("a: [1, 2").first?.contains("this is not YAML") == true)
        #expect(Self.complaints("").first?.contains("the text is empty") == true)
        #expect(Self.complaints("model: a\nmodel: b").first?.contains("the key 'model' is written twice") == true)
        #expect(
            Self.complaints("[1]").first == "line 1, column 1: a list is not a mapping; allowed are the keys descriptor, "
                + "model, name, about, recognise, gatt, epoch, memory, timing, streams, sources and commands")
        #expect(Self.complaints(smallDescriptor(), taken: ["small"]).first?.contains("'small' is a built-in model") == true)
        #expect(Self.complaints(smallDescriptor().replacing("descriptor: 1", with: "descriptor: 2")).count == 1)
    }

    @Test("end a text that refers to itself more often than memory lasts, or is too large")
    func bounded() {
        let bomb = (0..<60).map { "a\($0): &a\($0) [*a\(max(0, $0 - 1)), *a\(max(0, $0 - 1))]" }.joined(separator: "\n")
        #expect(Self.complaints(bomb).first?.contains("anchors and aliases") == true)
        let small = "a0: &a0 [1]\n" + (1..<13).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }.joined(separator: "\n")
        #expect(!Self.complaints(small).isEmpty)
        #expect(Self.complaints(String(repeating: "#", count: 200_000)).first?.contains("larger than") == true)
        #expect(!Self.complaints(String(repeating: "[", count: 100_000)).isEmpty)
        #expect(!Self.complaints(String(repeating: "- ", count: 50_000)).isEmpty)
        let list = "streams: [" + String(repeating: "1,", count: 30_000) + "1]"
        #expect(Self.complaints(list).first?.contains("more than") == true)
    }

    @Test("are all that 1,500 changed descriptors lead to, and what is accepted takes any bytes")
    func mutated() {
        var generator = SeededGenerator(seed: 11)
        let words = [
            "-1", "4096", "rest", "{}", "[]", "~", "0", "9e99", "u64le", "i2", "f64be", "stream", "by_packet", "&a", "*a", ":",
        ]
        var accepted = 0
        for round in 0..<1500 {
            var lines = ShippedDescriptor.all[round % 5].text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(
                String.init)
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                let index = Int.random(in: 0..<lines.count, using: &generator)
                var parts = lines[index].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
                let part = Int.random(in: 0..<parts.count, using: &generator)
                switch generator.next() % 4 {
                case 0: parts[part] = words[Int(generator.next() % UInt64(words.count))]
                case 1: parts.remove(at: part)
                case 2: parts[part] = String(parts[part].dropFirst())
                default: parts[part] += String(generator.next() % 300)
                }
                lines[index] = parts.joined(separator: " ")
            }
            guard let descriptor = try? DescriptorReader.read(lines.joined(separator: "\n")) else { continue }
            accepted += 1
            let profile = DescribedProfile(descriptor)
            for source in descriptor.sources {
                var decoder = profile.makeDecoder()
                var decoded = Decoded()
                for length in [0, 1, 20, 33, 241, 504] {
                    decoder.decode(generator.bytes(count: length), from: source.characteristic, into: &decoded)
                }
                #expect(blocks(decoded).allSatisfy { $0.values.count == $0.channelCount * $0.instantCount })
            }
        }
        #expect(accepted > 40)
    }
}
