/// The delay that the time of a sample contains: from when the electrodes had the voltage to the earliest moment at which the
/// sample can arrive.
///
/// A time map learns the earliest arrivals. What never varies stays in them, and no arrival shows how much it is: the group
/// delay of filters and converters, the way through a serial port inside the headset, the radio. That a packet is sent only
/// once its last sample was taken is no part of it: a time is that of the packet's last sample.
package struct ConstantDelay: Hashable, Sendable {
    /// One part of the delay.
    package struct Part: Hashable, Sendable {
        package var duration: Duration
        /// What delays, and why by so much.
        package var meaning: String
        /// Who says it.
        package var source: String

        /// Creates a part.
        package init(_ duration: Duration, meaning: String, source: String) {
            self.duration = duration
            self.meaning = meaning
            self.source = source
        }
    }

    /// What is known; at least one part. The rest of the delay is unknown: the true delay is longer.
    package var parts: [Part]

    /// Creates a delay.
    package init(parts: [Part]) {
        self.parts = parts
    }

    /// The sum of the parts.
    package var known: Duration { parts.reduce(.zero) { $0 + $1.duration } }
}

extension ConstantDelay.Part {
    /// The digital filter of an ADS1299: a sinc of third order, whose group delay is 3/2 of a conversion.
    ///
    /// - Parameter frequency: conversions a second.
    static func ads1299Filter(frequency: Double) -> Self {
        Self(
            .nanoseconds(Int64((1.5e9 / frequency).rounded())),
            meaning: "the converter's filter, a sinc of third order: 1.5 conversions",
            source: "ADS1299: Texas Instruments, SBAS499")
    }

    /// Bytes on a serial port inside the headset: ten bits each.
    ///
    /// - Parameters:
    ///   - count: of the frame that holds a sample.
    ///   - baud: bits a second.
    static func serialPort(bytes count: Int, baud: Int, source: String) -> Self {
        Self(
            .nanoseconds(Int64(count) * 10_000_000_000 / Int64(baud)),
            meaning: "a frame of \(count) bytes at \(baud) baud", source: source)
    }
}
