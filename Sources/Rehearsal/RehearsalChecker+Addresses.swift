import Bluetooth
import Headsets
import Reconnection
import Simulation
import Storage

/// Addresses of headsets that prove nothing about themselves.
extension RehearsalChecker {
    /// An address is adopted by itself where the configuration allows it, once the known one has been silent for the set time.
    mutating func check(
        _ adoption: AdoptionRecord, _ boot: MonotonicTime, at now: MonotonicTime, _ report: inout RehearsalReport
    ) {
        guard adoption.decision == .automatic, let recording = adoption.recording, let index = headsetOfRecording[recording]
        else { return }
        let allowed = plan.headsets[index].adoption
        if allowed.policy != .automatic {
            add(.address, "\(plan.headsets[index].name) adopted \(adoption.identifier) unasked", at: now, &report)
        }
        adoptions.append((recording, adoption.at + (boot - .boot)))
    }

    /// When the link before ended is known once the next one has begun.
    private mutating func checkSilence(_ report: inout RehearsalReport, at now: MonotonicTime) {
        for (recording, adopted) in adoptions {
            guard let index = headsetOfRecording[recording],
                let last = links[recording]?.last(where: { $0.lowerBound < adopted })?.upperBound, last < adopted
            else { continue }
            let headset = plan.headsets[index]
            if adopted - last < headset.adoption.delay {
                add(.address, "\(headset.name) adopted an address \(adopted - last) after its last sample", at: now, &report)
            }
        }
    }

    /// Every address of a headset that proves nothing, but for the first, was adopted, and its recordings say so.
    mutating func checkAddresses(
        _ store: AcquisitionStore, _ report: inout RehearsalReport, at now: MonotonicTime
    ) throws(StorageError) {
        checkSilence(&report, at: now)
        for headset in plan.headsets where !headset.profile.provesIdentity {
            guard let id = try store.headset(named: headset.name) else { continue }
            let adoptions = try store.adoptionHistory(of: id)
            let reached = try store.identifiers(of: id)
            let unexplained = reached.filter { address in !adoptions.contains { $0.identifier == address } }
            if unexplained.count > 1 {
                add(
                    .address, "\(headset.name) was reached at \(unexplained.map(\.description)), and nothing says why", at: now,
                    &report)
            }
            for adoption in adoptions where adoption.decision == .automatic {
                guard let recording = adoption.recording else { continue }
                let annotations = try store.reader(of: recording).contents.annotations
                let isAnnotated = annotations.contains { $0.description.contains("at \(adoption.identifier)") }
                if !isAnnotated {
                    add(
                        .address, "recording \(recording.rawValue) does not name \(adoption.identifier)", at: now, &report)
                }
            }
        }
    }

    /// A headset that was never reached is not bound while another of its model is in sight, which stays there.
    mutating func checkBinding(
        _ recording: RecordingID, neighbours: ArraySlice<SimulatedHeadset>, at now: MonotonicTime,
        _ report: inout RehearsalReport
    ) {
        guard let index = headsetOfRecording[recording], links[recording] == nil else { return }
        let headset = plan.headsets[index]
        guard !headset.isNamedByAddress, headset.adoption.policy != .ask, !headset.profile.provesIdentity else { return }
        let filter = headset.profile.recognition.scanFilter
        let isAmbiguous = neighbours.contains { neighbour -> Bool in
            let shown = neighbour.specification
            // The same name in Bluetooth Classic is another model.
            guard (neighbour.identifier.addressType == .classic) == headset.profile.usesSerialPort else { return false }
            return filter.matches(Advertisement(localName: shown.localName, serviceUUIDs: shown.serviceUUIDs))
        }
        if isAmbiguous { add(.address, "\(headset.name) was bound with several of its model in sight", at: now, &report) }
    }
}
