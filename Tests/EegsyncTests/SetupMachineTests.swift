import Bluetooth
import Testing

@testable import eegsync

/// Setting up without a terminal and without a radio.
@Suite struct SetupMachineTests {
    private static func candidate(_ address: UInt64, model: String = "muse", knownAs: String? = nil) -> SetupCandidate {
        SetupCandidate(
            identifier: PeripheralIdentifier(address: address, type: .public), model: model, modelName: "M", knownAs: knownAs)
    }

    private static func test(_ name: String, measured: Double? = 250, serial: String? = nil) -> SignalTest {
        SignalTest(
            name: name, address: "", serialNumber: serial, seconds: 10,
            streams: [
                .init(name: "eeg", samplingFrequency: 250, measuredFrequency: measured, samples: 2500, missing: 0)
            ], channels: [])
    }

    private let one = [candidate(1)]
    private let two = [candidate(1), candidate(2)]

    @Test func aHeadsetThatIsOffKeepsItsName() throws {
        var machine = SetupMachine(configured: [
            .init(name: "muse-1", model: "muse", identifiers: [two[1].identifier]),
            .init(name: "muse-3", model: "muse"), .init(name: "left", model: "ganglion"),
            .init(name: "muse-2", model: "muse", serialNumber: "SIM-0001"),
        ])
        _ = try machine.handle(.found(one))
        #expect(
            try machine.handle(.answered(""))
                == .ask(.name(one[0], isRecognised: false, suggestion: "muse-3", complaint: nil)))
        // What is known is said, and no more.
        for (name, words) in [("muse-1", "is bound to \(two[1].identifier)"), ("left", "is of the model ganglion")] {
            guard case .ask(.name(_, _, "muse-3", let complaint?)) = try machine.handle(.answered(name)) else {
                return #expect(Bool(false), "\(name) is taken away from another headset")
            }
            #expect(complaint.contains(words), "\(complaint)")
        }
        // One that the configuration has without a binding may be any of its model.
        #expect(try machine.handle(.answered("muse-3")) == .test([NamedHeadset(name: "muse-3", candidate: one[0])]))
    }

    /// Which one it is, its serial number says, and nobody knows that before there was a link.
    @Test func aHeadsetGetsItsOwnNameAgain() throws {
        func tested(_ serial: String?, measured: Double? = 250) throws -> (machine: SetupMachine, action: SetupMachine.Action) {
            var machine = SetupMachine(configured: [.init(name: "left", model: "muse", serialNumber: "S1")])
            _ = try machine.handle(.found(one))
            _ = try machine.handle(.answered(""))
            let test = SetupMachine.Action.test([NamedHeadset(name: "left", candidate: one[0])])
            #expect(try machine.handle(.answered("left")) == test)
            let action = try machine.handle(.tested([Self.test("left", measured: measured, serial: serial)]))
            return (machine, action)
        }
        #expect(try tested("S1").action == .compare([NamedHeadset(name: "left", candidate: one[0], serialNumber: "S1")]))
        for (serial, words) in [("S2", "and this one says S2"), (nil, "and this one has said none")] as [(String?, String)] {
            let result = try tested(serial)
            var machine = result.machine
            guard case .ask(.name(_, _, "muse-1", let complaint?)) = result.action else {
                return #expect(Bool(false), "\(result.action)")
            }
            #expect(complaint.contains("'left' has the serial number S1") && complaint.contains(words), "\(complaint)")
            let named = NamedHeadset(name: "right", candidate: one[0], serialNumber: serial)
            #expect(try machine.handle(.answered("right")) == .test([named]))
            #expect(try machine.handle(.tested([Self.test("right", serial: serial)])) == .compare([named]))
        }
        // Also where a person accepts what is wrong with the signal.
        var (machine, action) = try tested("S2", measured: 125)
        #expect(action == .ask(.acceptSignal([Self.test("left", measured: 125, serial: "S2")])))
        action = try machine.handle(.answered("y"))
        guard case .ask(.name(_, _, _, complaint: .some)) = action else { return #expect(Bool(false), "\(action)") }
    }

    @Test func oneHeadsetNeedsAName() throws {
        var machine = SetupMachine()
        #expect(machine.first == .search)
        #expect(try machine.handle(.found(one)) == .ask(.choose(one, complaint: nil)))
        #expect(
            try machine.handle(.answered(""))
                == .ask(.name(one[0], isRecognised: false, suggestion: "muse-1", complaint: nil)))
        let named = NamedHeadset(name: "left", candidate: one[0])
        #expect(try machine.handle(.answered("left")) == .test([named]))
        let bound = NamedHeadset(name: "left", candidate: one[0], serialNumber: "S1")
        #expect(try machine.handle(.tested([Self.test("left", serial: "S1")])) == .compare([bound]))
        #expect(try machine.handle(.compared(["+ a"])) == .ask(.change(difference: ["+ a"])))
        #expect(try machine.handle(.answered("perhaps")) == .ask(.change(difference: ["+ a"])))
        #expect(try machine.handle(.answered("y")) == .write([bound]))
        #expect(try machine.handle(.written) == .ask(.enable))
        #expect(try machine.handle(.answered("y")) == .enable)
        #expect(try machine.handle(.enabled) == .end(.done([bound], isChanged: true, isEnabled: true)))
    }

    /// What is there is neither changed nor started by an empty answer.
    @Test func nothingIsWrittenWithoutAYes() throws {
        for answer in ["", "n", "no"] {
            var machine = try tested()
            #expect(try machine.handle(.answered(answer)) == .end(.abandoned))
            #expect(throws: SetupMachine.UnexpectedEvent.self) { try machine.handle(.written) }
        }
        var machine = try tested()
        _ = try machine.handle(.answered("yes"))
        _ = try machine.handle(.written)
        guard case .end(.done(_, isChanged: true, isEnabled: false)) = try machine.handle(.answered("")) else {
            Issue.record("the service was enabled unasked")
            return
        }
    }

    private func tested() throws -> SetupMachine {
        var machine = SetupMachine()
        for event in [SetupMachine.Event.found(one), .answered("1"), .answered("left"), .tested([Self.test("left")])] {
            _ = try machine.handle(event)
        }
        #expect(try machine.handle(.compared(["- a"])) == .ask(.change(difference: ["- a"])))
        return machine
    }

    @Test func anEqualConfigurationIsNotWritten() throws {
        var machine = SetupMachine()
        for event in [SetupMachine.Event.found(one), .answered("1"), .answered("left"), .tested([Self.test("left")])] {
            _ = try machine.handle(event)
        }
        #expect(try machine.handle(.compared([])) == .ask(.enable))
    }

    @Test func twoOfOneModelAreDistinguishedByMovements() throws {
        var machine = SetupMachine()
        _ = try machine.handle(.found(two))
        #expect(try machine.handle(.answered("all")) == .ask(.identify(count: 2)))
        #expect(try machine.handle(.answered("")) == .watch([0, 1], of: two))
        #expect(
            try machine.handle(.moved(1))
                == .ask(.name(two[1], isRecognised: true, suggestion: "muse-1", complaint: nil)))
        // The last one is known without a movement.
        #expect(
            try machine.handle(.answered("right"))
                == .ask(.name(two[0], isRecognised: true, suggestion: "muse-1", complaint: nil)))
        guard case .ask(.name(_, _, _, complaint: .some)) = try machine.handle(.answered("right")) else {
            Issue.record("a name was taken twice")
            return
        }
        #expect(
            try machine.handle(.answered("left"))
                == .test([NamedHeadset(name: "left", candidate: two[0]), NamedHeadset(name: "right", candidate: two[1])]))
    }

    @Test func whereNoneMovesTheyAreNamedInTheirOrder() throws {
        var machine = SetupMachine()
        _ = try machine.handle(.found(two))
        _ = try machine.handle(.answered("1, 2"))
        _ = try machine.handle(.answered("y"))
        #expect(
            try machine.handle(.unmoved)
                == .ask(.name(two[0], isRecognised: false, suggestion: "muse-1", complaint: nil)))
    }

    @Test func twoModelsNeedNoMovement() throws {
        var machine = SetupMachine()
        let mixed = [Self.candidate(1, knownAs: "night"), Self.candidate(2, model: "cyton")]
        _ = try machine.handle(.found(mixed))
        #expect(
            try machine.handle(.answered(""))
                == .ask(.name(mixed[0], isRecognised: false, suggestion: "night", complaint: nil)))
    }

    @Test func aBadSignalIsForAPersonToAccept() throws {
        var machine = SetupMachine()
        for event in [SetupMachine.Event.found(one), .answered(""), .answered("left")] { _ = try machine.handle(event) }
        let bad = [Self.test("left", measured: 125)]
        #expect(try machine.handle(.tested(bad)) == .ask(.acceptSignal(bad)))
        #expect(try machine.handle(.answered("")) == .ask(.acceptSignal(bad)))
        #expect(try machine.handle(.answered("t")) == .test([NamedHeadset(name: "left", candidate: one[0])]))
        _ = try machine.handle(.tested(bad))
        #expect(try machine.handle(.answered("n")) == .end(.abandoned))
    }

    @Test func anEventThatDoesNotFitChangesNothing() throws {
        var machine = SetupMachine()
        for event in [SetupMachine.Event.answered("1"), .moved(0), .written, .tested([])] {
            #expect(throws: SetupMachine.UnexpectedEvent(event: event)) { try machine.handle(event) }
        }
        #expect(try machine.handle(.found([])) == .ask(.searchAgain))
        #expect(try machine.handle(.answered("y")) == .search)
    }

    @Test(
        arguments: [
            ("", [0, 1, 2]), ("all", [0, 1, 2]), ("2", [1]), ("3,1", [2, 0]), ("1 1", [0]), ("0", nil), ("4", nil), ("x", nil),
            (",", nil),
        ] as [(String, [Int]?)])
    func choicesAreNumbers(text: String, indices: [Int]?) {
        #expect(SetupMachine.selection(text, count: 3) == indices)
    }
}
