import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

/// What simulated headsets send looks like a signal to the signal check, too.
struct SimulatedSignalTests {
    /// All but the Ganglion, which by its design leaves a sample out each second: no window of its signal check is whole.
    private static let headsets = SimulatedModel.all.filter { !($0.profile is GanglionProfile) }.flatMap { model in
        model.varieties.map { ($0.specification(0), model.profile) }
    }

    @Test("No electrode of a simulated headset is flat", arguments: headsets.indices)
    func believable(index: Int) throws {
        let (specification, profile) = Self.headsets[index]
        let room = try Room([specification], model: profile)
        try room.run(.seconds(40))
        let streams = try #require(try room.store.headsets(at: room.world.now).first).streams
        let signals = streams.flatMap(\.signals).filter { $0.unit != "n/a" }
        #expect(!signals.isEmpty, "nothing was checked of \(specification.localName)")
        for signal in signals {
            #expect(signal.check.condition == .good, "\(specification.localName) \(signal.channel)")
        }
    }
}
