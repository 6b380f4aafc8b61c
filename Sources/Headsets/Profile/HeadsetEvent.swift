/// Something that a person or the headset marks: a trigger, a button, a blink; with what the headset says of when.
package struct HeadsetEvent: Hashable, Sendable {
    /// The sample that the headset says it of.
    package struct Sample: Hashable, Sendable {
        /// The stream's index in the headset's list of streams.
        package var stream: Int
        /// The headset's counter of the sample, or of the packet that begins with it; that may come later. Nil: the latest
        /// sample of the stream, in the order of the bytes.
        package var counter: UInt32?

        /// Creates a position.
        package init(stream: Int, counter: UInt32? = nil) {
            self.stream = stream
            self.counter = counter
        }
    }

    /// What happened, for people.
    package var description: String
    /// Nil where only the arrival shows when it was.
    package var sample: Sample?
    /// The headset's own clock then, in its own ticks; nil where it was not sent.
    package var deviceTicks: UInt64?
    /// The number of what happened, as sent; nil where there is none.
    package var code: Int64?

    /// Creates an event.
    package init(_ description: String, of sample: Sample? = nil, deviceTicks: UInt64? = nil, code: Int64? = nil) {
        self.description = description
        self.sample = sample
        self.deviceTicks = deviceTicks
        self.code = code
    }
}
