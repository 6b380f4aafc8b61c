package import Headsets

/// A model as it is simulated: what seeds draw of it, and the varieties that tests go through. Each stands beside its firmware.
package struct SimulatedModel: Sendable {
    /// What the daemon takes it for.
    package let profile: any HeadsetProfile
    /// Makes one as it comes from its maker, by its number from 1.
    let make: @Sendable (_ number: Int) -> HeadsetSpecification
    /// Headsets of the model that differ in what they send; at least one, the usual one first.
    package let varieties: [Variety]
    /// How often it is in a seed.
    package let share: SeedShare
    /// False where it counts so little that a link which begins with a stall as long as a wrap, and loses one, looks like one
    /// that does not.
    package var outlivesStalls = true
    /// True where samples may come before its link is ready.
    package var sendsBeforeItIsReady = false

    /// One of the headsets that a model has.
    package struct Variety: Sendable {
        /// Its name in rehearsals, which no other has.
        package let name: String
        /// True where its streams are not those of the first variety.
        package var hasOtherStreams = false
        /// False where it by design never sends some of its samples.
        package var sendsAllSamples = true
        /// Makes one whose crystal is fast by so many parts per million, where it can be stated.
        package let specification: @Sendable (_ crystalErrorPPM: Double) -> HeadsetSpecification
    }

    /// How often seeds have a model.
    package enum SeedShare: Sendable {
        /// In one seed of so many, drawn by what it is given.
        case own(oneIn: UInt64, @Sendable (inout SeededGenerator) -> HeadsetSpecification)
        /// The same where the model before it in the list was not drawn.
        case otherwise(oneIn: UInt64, @Sendable (inout SeededGenerator) -> HeadsetSpecification)
        /// In every second seed there is one variety of all these models.
        case pooled
        /// In a way of its own.
        case special
    }

    /// Every model that is simulated, in the order in which seeds draw them. A new one is a line here, at the end.
    package static let all: [SimulatedModel] = [
        .buffered, .ganglion, .muse, .thinkGear, .hermes, .mindWave, .tgam, .cyton, .cytonBLE, .explore, .unicorn,
    ]

    /// The error of any crystal, in parts per million: -50 ... 50.
    package static func crystalErrorPPM(_ generator: inout SeededGenerator) -> Double {
        Double(Int64(generator.next() % 101)) - 50
    }
}
