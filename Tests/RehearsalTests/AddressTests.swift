import Acquisition
import Bluetooth
import Headsets
import Reconnection
import Simulation
import Storage
import Testing

@testable import Rehearsal

/// Which address a headset that proves nothing about itself is reached at: the whole pipeline in a simulated world.
struct AddressTests {
    private static func random(_ address: UInt64) -> PeripheralIdentifier {
        PeripheralIdentifier(address: address, type: .random)
    }

    @Test("An address without a type is reached at whichever of the two the headset has, and the other is forgotten")
    func eitherType() throws {
        for isRandom in [true, false] {
            var headset = HeadsetSpecification.ganglion()
            headset.identifier = PeripheralIdentifier(address: 0xC0_EE_60_00_02_01, type: isRandom ? .random : .public)
            let room = try Room([headset], known: PeripheralIdentifier.ofEitherType("C0:EE:60:00:02:01"))
            try room.run(.seconds(12))
            #expect(room.phase == .streaming)
            #expect(try room.reached() == [headset.identifier])
        }
    }

    @Test("An address that a person names anew takes effect with the reload, one that was taken out does not any more")
    func reload() throws {
        let headset = HeadsetSpecification.ganglion()
        let room = try Room([headset], known: [Self.random(0xC0_00_00_00_00_01)])
        try room.run(.seconds(20))
        #expect(room.phase == .searching)
        room.reload([headset.identifier])
        try room.run(.seconds(10))
        #expect(room.phase == .streaming)
        #expect(try room.reached() == [headset.identifier])
    }

    // MARK: Rehearsals

    static let defects: [PlantedDefect] = [.adoptAtOnce, .adoptUnasked, .forgetAdoptions, .bindByChance]

    /// A headset that proves nothing gets another address; or a neighbour is in sight from the beginning.
    static func plan(
        _ defect: PlantedDefect? = nil,
        _ headset: RehearsedHeadset = RehearsedHeadset(
            name: "ganglion", specification: .ganglion(), profile: GanglionProfile())
    ) -> RehearsalPlan {
        var plan = RehearsalPlan(seed: 3, headsets: [headset])
        (plan.faultyPeriod, plan.calmPeriod) = (.seconds(30), .seconds(30))
        plan.headsets[0].adoption.delay = .seconds(20)
        if defect == .bindByChance {
            plan.neighbours = [.ganglion(number: 40)]
        } else {
            // The world begins at 60 s.
            plan.script = [ScriptedFault(at: MonotonicTime(nanoseconds: 80_000_000_000), .staleAddress, for: .zero)]
        }
        if defect == .adoptUnasked { plan.headsets[0].adoption.policy = .never }
        return plan
    }

    @Test("A planted defect is noticed", arguments: defects)
    func plantedDefect(_ defect: PlantedDefect) throws {
        var plan = Self.plan(defect)
        plan.defect = defect
        #expect(try Rehearsal(plan).run().violations.contains { $0.rule == .address })
    }

    @Test("Every model is found again at another address, and its recording tells of it")
    func everyModel() throws {
        for policy in [Adoption.Policy.automatic, .ask] {
            for var headset in RehearsedHeadset.ofEachModel {
                headset.adoption.policy = policy
                let rehearsal = try Rehearsal(Self.plan(nil, headset))
                let report = try rehearsal.run()
                // What times are worth is another test's matter.
                #expect(report.violations.filter { $0.rule != .time } == [], "\(headset.name), \(policy)")
                #expect(report.injected[.staleAddress] == 1)
                let id = try #require(try rehearsal.store.headset(named: headset.name))
                #expect(try rehearsal.store.identifiers(of: id).count == 2, "\(headset.name), \(policy)")
            }
        }
    }

    @Test("Nobody is adopted where nobody may be: what breaks is the promise to come back")
    func never() throws {
        var plan = Self.plan()
        plan.headsets[0].adoption.policy = .never
        #expect(Set(try Rehearsal(plan).run().violations.map(\.rule)) == [.backInTime])
    }

    @Test("Of several in sight none is bound, and the database names them; the one that a person adopts is")
    func ambiguous() throws {
        let ours = HeadsetSpecification.ganglion()
        let room = try Room([ours, .ganglion(number: 2)])
        try room.run(.seconds(40))
        #expect(room.phase == .searching)
        let seen = try room.store.headsets(at: room.world.now).first?.address.candidates.map(\.identifier)
        #expect(seen == [ours.identifier, HeadsetSpecification.ganglion(number: 2).identifier].sorted())
        try room.store.control.adopt(ours.identifier, headset: Room.name, at: room.world.now)
        try room.run(.seconds(15))
        #expect(room.phase == .streaming)
        #expect(try room.reached() == [ours.identifier])
    }

    @Test("Each of a classroom of headsets that prove nothing is reported once", arguments: [10, 20, 40])
    func classroom(count: Int) throws {
        let room = try Room((1...count).map { .ganglion(number: $0) })
        var reported: [PeripheralIdentifier] = []
        room.driver.reported = { report, _ in
            if case .unrecognisedCandidate(_, let identifier) = report { reported.append(identifier) }
        }
        try room.run(.seconds(120))
        #expect(room.phase == .searching)
        #expect(Set(reported).count == count && reported.count == count, "\(reported.count)")
    }

    @Test("An address is taken in the running recording; it outlives the process that took it, and a new name")
    func renamedAndRestarted() throws {
        let ours = HeadsetSpecification.ganglion()
        let room = try Room([ours], known: [Self.random(0xC0_00_00_00_00_01)])
        room.reload(adoption: Adoption(.ask))
        try room.run(.seconds(1))
        try room.store.control.adopt(ours.identifier, headset: Room.name, at: room.world.now)
        try room.restart()
        try room.run(.seconds(20))
        #expect(room.phase == .streaming)
        try room.store.control.renameHeadset(Room.name, to: "right")
        try room.run(.seconds(5))
        #expect(room.driver.engine.headsets.map(\.name) == ["right"])
        #expect(try room.store.recordings().map(\.headset) == ["right"])
        let annotations = try room.store.reader(of: room.recording).contents.annotations
        #expect(annotations.contains { $0.description.contains("a person said so") })
    }

    @Test("A headset that advertises a service of its own in pairing mode is found by it")
    func pairingServices() throws {
        let service = BluetoothUUID(UInt16(0xFD00))
        var ours = HeadsetSpecification.ganglion()
        ours.localName = "unnamed"
        ours.serviceUUIDs = [service]
        for isNamed in [false, true] {
            let room = try Room([ours])
            if isNamed { room.reload(pairingServices: [service]) }
            try room.run(.seconds(30))
            #expect(room.phase == (isNamed ? .streaming : .searching))
        }
    }
}
