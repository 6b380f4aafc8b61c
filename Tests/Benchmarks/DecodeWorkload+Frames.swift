import Bluetooth
import Headsets

/// Headsets that send frames of everything measured at one instant.
extension DecodeWorkload {
    /// A Cyton at a serial port and one with a radio of its own, an Explore, a Unicorn.
    static var frames: [DecodeWorkload] {
        [
            DecodeWorkload(name: "Cyton", decoder: CytonDecoder(), notifications: cyton),
            DecodeWorkload(name: "Cyton BLE", decoder: CytonBLEDecoder(), notifications: cytonBLE),
            DecodeWorkload(name: "Explore", decoder: exploreDecoder, notifications: explore),
            DecodeWorkload(name: "Unicorn", decoder: UnicornDecoder(), notifications: unicorn),
        ]
    }

    private static func samples(_ number: Int) -> [Int32] {
        (0..<8).map { Int32(truncatingIfNeeded: (number &* 8 &+ $0) &* 654_321) >> 8 }
    }

    /// A byte stream in pieces of so many bytes: it is cut anywhere.
    private static func pieces(_ stream: [UInt8], _ length: Int) -> [Notification] {
        stride(from: 0, to: stream.count, by: length).map {
            (.serialPort, Array(stream[$0..<min(stream.count, $0 + length)]))
        }
    }

    /// A turn of the counter.
    private static var cyton: [Notification] {
        pieces(
            (0..<256).flatMap { number in
                let acceleration: [Int16] = number % 10 == 7 ? [1, 2, 8000] : []
                return CytonFrame(
                    number: UInt8(number), eeg: samples(number), auxiliary: CytonFrame.bytes(of: acceleration)
                ).encoded()
            }, 67)
    }

    /// Three turns of the counter.
    private static var cytonBLE: [Notification] {
        (0..<256).map { number in
            let bytes = (0..<18).map { UInt8(truncatingIfNeeded: (number &* 18 &+ $0) &* 167 >> 3) }
            return (RFduinoService.data, [0xC0, UInt8(truncatingIfNeeded: number * 3)] + bytes)
        }
    }

    /// A second of 8 channels with motion, in notifications of six packets.
    private static var explore: [Notification] {
        (0..<42).map { number in
            var bytes: [UInt8] = []
            for index in number * 6..<number * 6 + 6 {
                let content = ExplorePacket.content(ofInstant: samples(index))
                bytes += ExplorePacket(kind: .eeg8BLE, ticks: UInt64(index * 400), content: content).encoded()
            }
            if number.isMultiple(of: 2) {
                let content = (0..<18).map { UInt8(number + $0) }
                bytes += ExplorePacket(kind: .orientation, ticks: UInt64(number * 2500), content: content).encoded()
            }
            return (ExploreService.explorePro.data, bytes)
        }
    }

    /// One that has learned what the headset is like.
    private static var exploreDecoder: ExploreDecoder {
        var decoder = ExploreDecoder()
        var decoded = Decoded()
        for (characteristic, bytes) in explore { decoder.decode(bytes, from: characteristic, into: &decoded) }
        return decoder
    }

    /// A second.
    private static var unicorn: [Notification] {
        pieces(
            (0..<250).flatMap { number in
                UnicornFrame(
                    battery: 12, eeg: samples(number), motion: [1, -2, 4096, 300, -300, 5], counter: UInt32(number)
                ).encoded()
            }, 101)
    }
}
