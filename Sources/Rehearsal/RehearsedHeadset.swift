package import Headsets
package import Reconnection
package import Simulation

/// One headset of a rehearsal: what it is, and what the daemon knows about it.
package struct RehearsedHeadset: Sendable {
    /// Its name in the configuration.
    package var name: String
    /// What the radio has.
    package var specification: HeadsetSpecification
    /// What the daemon believes it to be.
    package var profile: any HeadsetProfile
    /// What the configuration says of addresses that nothing proves to be its own. Where a person is asked, the operator knows
    /// the headset's address and adopts it.
    package var adoption = Adoption(.automatic, after: .seconds(5))
    /// True where the configuration names the address that it has at the beginning.
    package var isNamedByAddress = false

    /// Creates a rehearsed headset.
    package init(name: String, specification: HeadsetSpecification, profile: any HeadsetProfile) {
        self.name = name
        self.specification = specification
        self.profile = profile
    }

    /// A headset with the Buffered EEG service.
    ///
    /// - Parameter number: from 1; distinguishes headsets of the model.
    package static func buffered(
        number: Int = 1, _ specification: BufferedHeadsetSpecification = BufferedHeadsetSpecification()
    ) -> RehearsedHeadset {
        RehearsedHeadset(
            name: "headset\(number)", specification: .buffered(number: number, specification), profile: BufferedEEGProfile())
    }
}

/// Headsets of all models that are simulated.
extension RehearsedHeadset {
    /// A variety of a model, with a crystal that is right.
    package init(_ variety: SimulatedModel.Variety, of model: SimulatedModel, crystalErrorPPM: Double = 0) {
        self.init(name: variety.name, specification: variety.specification(crystalErrorPPM), profile: model.profile)
    }

    /// One of each model: its first variety.
    package static var ofEachModel: [RehearsedHeadset] {
        SimulatedModel.all.compactMap { model in model.varieties.first.map { RehearsedHeadset($0, of: model) } }
    }

    /// Of each model one for every set of streams that it may have.
    package static var ofEachShape: [RehearsedHeadset] {
        SimulatedModel.all.flatMap { model in
            model.varieties.enumerated().filter { $0 == 0 || $1.hasOtherStreams }.map { RehearsedHeadset($1, of: model) }
        }
    }

    /// Those that a seed has besides the ones with memory.
    static func drawn(_ generator: inout SeededGenerator) -> [RehearsedHeadset] {
        var headsets: [RehearsedHeadset] = []
        var isDrawn = false
        for model in SimulatedModel.all {
            let draw: @Sendable (inout SeededGenerator) -> HeadsetSpecification
            switch model.share {
            case .own(let count, let drawing): (isDrawn, draw) = (generator.next() % count == 0, drawing)
            case .otherwise(let count, let drawing): (isDrawn, draw) = (!isDrawn && generator.next() % count == 0, drawing)
            case .pooled, .special: continue
            }
            guard isDrawn else { continue }
            headsets.append(
                RehearsedHeadset(name: model.profile.model, specification: draw(&generator), profile: model.profile))
        }
        guard generator.next() % 2 == 0 else { return headsets }
        let crystal = SimulatedModel.crystalErrorPPM(&generator)
        let pool = SimulatedModel.all.flatMap { model -> [RehearsedHeadset] in
            guard case .pooled = model.share else { return [] }
            return model.varieties.map { RehearsedHeadset($0, of: model, crystalErrorPPM: crystal) }
        }
        return headsets + [pool[Int(generator.below(UInt64(pool.count)))]]
    }
}
