import Headsets
import Reconnection
package import Simulation

/// What is rehearsed. The same plan gives the same run.
package struct RehearsalPlan: Sendable {
    /// Decides everything random.
    package var seed: UInt64
    /// The headsets; the first recording of each is wanted from the beginning.
    package var headsets: [RehearsedHeadset]
    /// Headsets that nobody records, beside them.
    package var neighbours: [HeadsetSpecification] = []
    /// How long faults happen.
    package var faultyPeriod: Duration
    /// How long the run goes on after all faults have ended; the last part leaves time to drain.
    package var calmPeriod: Duration
    /// How likely each fault is.
    package var faults: FaultProbabilities
    /// Faults at chosen instants.
    package var script: [ScriptedFault]
    /// When the operator stops a recording, and after how long a new one of the same headset is wanted.
    package var operatorStops: [OperatorStop]
    /// When the operator pauses all recordings; ascending, each after the one before has ended.
    package var operatorPauses: [OperatorPause]
    /// What begins and ends by itself; nil for nothing.
    package var timedRecording: TimedRecording?
    /// When the operator measures impedances.
    package var impedanceMeasurements: [OperatorMeasurement]
    /// How late notifications arrive, also after all faults have ended.
    package var lateness: LatenessModel
    /// The host's wall clock until its first reboot.
    package var clock: HostClock
    /// When the host loses its power; ascending, each after the one before has booted.
    package var hostReboots: [HostReboot]
    /// How long a commit takes where nothing is wrong.
    package var commitDuration: Duration
    /// True where transactions are rare, and what waits for one stands in a spool.
    package var usesSpool = false
    /// A defect that is planted, to see that the checkers bite.
    package var defect: PlantedDefect?
    /// UTC at boottime 0, in nanoseconds since 1970.
    package var unixNanosecondsAtBoot: Int64

    /// The operator stops a recording and starts another.
    package struct OperatorStop: Hashable, Sendable {
        /// The headset's index in ``RehearsalPlan/headsets``.
        package var headset: Int
        /// When the recording is stopped.
        package var at: Duration
        /// How long nothing is wanted.
        package var pause: Duration

        /// Creates an operator's stop.
        package init(headset: Int, at: Duration, pause: Duration) {
            self.headset = headset
            self.at = at
            self.pause = pause
        }
    }

    /// The operator wants nothing recorded for a while, of no headset.
    package struct OperatorPause: Hashable, Sendable {
        /// When it begins.
        package var at: Duration
        /// How long it lasts.
        package var duration: Duration

        /// Creates a pause.
        package init(at: Duration, duration: Duration) {
            self.at = at
            self.duration = duration
        }
    }

    /// The operator measures the impedances of a headset's electrodes.
    package struct OperatorMeasurement: Hashable, Sendable {
        /// The headset's index in ``RehearsalPlan/headsets``.
        package var headset: Int
        /// When the measurement is asked for.
        package var at: Duration
        /// For how long it is wanted; it ends by itself, as one whose command was killed.
        package var duration: Duration

        /// Creates a measurement.
        package init(headset: Int, at: Duration, duration: Duration) {
            self.headset = headset
            self.at = at
            self.duration = duration
        }
    }

    /// Creates a plan: one buffered headset, nothing goes wrong.
    package init(seed: UInt64, headsets: [RehearsedHeadset] = [.buffered()]) {
        self.seed = seed
        self.headsets = headsets
        faultyPeriod = .seconds(120)
        calmPeriod = .seconds(60)
        faults = .none
        script = []
        operatorStops = []
        operatorPauses = []
        impedanceMeasurements = []
        lateness = LatenessModel()
        clock = HostClock()
        hostReboots = []
        commitDuration = .milliseconds(5)
        unixNanosecondsAtBoot = 1_790_000_000 * 1_000_000_000
    }

    /// The plan of a seed for `eegsync simulate`: one or two headsets of varied kinds, every fault of the storm, and in some
    /// seeds an operator who stops and starts again, who measures impedances where a headset can, or who says when a recording
    /// is to end and the next one to begin.
    package static func seeded(_ seed: UInt64, faults: FaultProbabilities = .storm) -> RehearsalPlan {
        var generator = SeededGenerator(seed: seed, purpose: 100)
        var headsets: [RehearsedHeadset] = []
        for number in 1...(generator.next() % 3 == 0 ? 2 : 1) {
            var memory = BufferedHeadsetSpecification(
                streams: generator.next() % 3 == 0
                    ? [BufferedHeadsetSpecification.eeg(), BufferedHeadsetSpecification.accelerometer]
                    : [BufferedHeadsetSpecification.eeg(channelCount: 2 + Int(generator.next() % 7))])
            memory.firstIndex = generator.next() % 2 == 0 ? 0 : UInt32.max - UInt32(generator.next() % 30_000)
            memory.capacity = generator.next() % 4 == 0 ? 5_000 : 60_000
            memory.crystalErrorPPM = Double(Int64(generator.next() % 101)) - 50
            memory.splitsChannels = generator.next() % 3 == 0
            var headset = RehearsedHeadset.buffered(number: number, memory)
            headset.specification.usesPrivateAddress = generator.next() % 2 == 0
            headsets.append(headset)
        }
        var plan = RehearsalPlan(seed: seed, headsets: headsets)
        plan.faults = faults
        if generator.next() % 4 == 0 {
            let pause = Duration.milliseconds(Int64(generator.next() % 15_000))
            plan.operatorStops = [OperatorStop(headset: 0, at: .seconds(20 + Int64(generator.next() % 80)), pause: pause)]
        }
        plan.headsets += RehearsedHeadset.drawn(&generator)
        plan.drawMeasurements()
        plan.drawAddresses()
        plan.drawPause()
        plan.drawWorld()
        plan.drawTimes()
        plan.drawQueues()
        var spooling = SeededGenerator(seed: seed, purpose: 106)
        plan.usesSpool = spooling.next() % 2 == 0
        return plan
    }

    /// Every headset of Low Energy may hide behind private addresses. In some seeds a person is asked who is at a new one; then
    /// another of the model may be in sight.
    private mutating func drawAddresses() {
        var generator = SeededGenerator(seed: seed, purpose: 103)
        for index in headsets.indices where !headsets[index].profile.provesIdentity {
            headsets[index].specification.usesPrivateAddress = generator.next() % 2 == 0
            guard generator.next() % 3 == 0 else { continue }
            headsets[index].adoption.policy = .ask
            headsets[index].isNamedByAddress = true
            let model = headsets[index].profile.model
            if generator.next() % 2 == 0, let other = HeadsetSpecification.headset(ofModel: model, number: 40 + index) {
                neighbours.append(other)
            }
        }
    }

    /// Crystals, radios and clocks as bad as they are in the field, in half of the seeds; the others show what faults alone do.
    private mutating func drawWorld() {
        var generator = SeededGenerator(seed: seed, purpose: 102)
        guard generator.next() % 2 == 0 else { return }
        for index in headsets.indices { headsets[index].specification.crystal = .random(&generator) }
        switch generator.below(3) {
        case 0: lateness = .busy
        case 1: lateness = .batches
        default: break
        }
        let drawn = headsets.map(\.profile.model)
        if SimulatedModel.all.contains(where: { !$0.outlivesStalls && drawn.contains($0.profile.model) }) {
            lateness.stall = .zero
        }
        clock = .random(&generator)
        guard generator.next() % 4 == 0 else { return }
        hostReboots = [
            HostReboot(
                at: .milliseconds(Int64(20_000 + generator.below(80_000))),
                downFor: .milliseconds(Int64(5_000 + generator.below(60_000))), clock: .random(&generator))
        ]
    }

    /// In one seed of three, headsets whose counters wrap soon refuse packets while their queues are full, and empty those
    /// slowly.
    private mutating func drawQueues() {
        var generator = SeededGenerator(seed: seed, purpose: 108)
        guard generator.below(3) == 0 else { return }
        for index in headsets.indices {
            headsets[index].specification.refusingQueueAhead = 1.2 + Double(generator.below(9)) / 10
        }
    }

    /// Somebody adjusts electrodes, in two seeds of three in which a headset measures. It is over before the faults are.
    private mutating func drawMeasurements() {
        // A generator of its own: what else a seed draws stays what it was.
        var generator = SeededGenerator(seed: seed, purpose: 101)
        for (index, headset) in headsets.enumerated() where headset.profile.impedance != nil && generator.next() % 3 != 0 {
            for _ in 0..<(1 + generator.below(2)) {
                impedanceMeasurements.append(
                    OperatorMeasurement(
                        headset: index, at: .milliseconds(Int64(5_000 + generator.below(80_000))),
                        duration: .milliseconds(Int64(200 + generator.below(20_000)))))
            }
        }
    }

    /// A person wants nothing recorded for a while, in one seed of five.
    private mutating func drawPause() {
        var generator = SeededGenerator(seed: seed, purpose: 104)
        guard generator.below(5) == 0 else { return }
        operatorPauses = [
            OperatorPause(
                at: .milliseconds(Int64(10_000 + generator.below(70_000))),
                duration: .milliseconds(Int64(500 + generator.below(35_000))))
        ]
    }
}
