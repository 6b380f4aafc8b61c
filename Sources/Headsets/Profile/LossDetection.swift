/// What can show that samples of a stream are missing while its link is up. The raw values are those of the database.
package enum LossDetection: String, Codable, Hashable, Sendable, CaseIterable {
    /// The headset's counter: each missing sample is counted. A loss of whole wraps of a small counter is found by the clock.
    case counter
    /// Marks that the headset makes each so many samples: losses are counted to a block, and lie within a period of the marks
    /// of where they are entered.
    case mark
    /// The clock: packets that all come later than the rate allows, for 0.7 s and 16 packets at least, came behind a loss. A
    /// loss that is smaller than what the clock is uncertain by is reported once more are lost.
    case clock
    /// Nothing: there are neither counter nor marks, and the rate is not known to 60 ppm, or the packets hold only some of the
    /// channels. The loss is not noticed.
    case nothing
}
