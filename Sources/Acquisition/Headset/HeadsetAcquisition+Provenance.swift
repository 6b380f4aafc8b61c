import Bluetooth
import Headsets
import Storage

/// What a link was made with, and what the headset said on it.
extension HeadsetAcquisition {
    /// What the headset is, as far as its link has shown.
    private var facts: LinkFacts {
        var facts = context.hostFacts
        facts.model = profile.model
        facts.modelNumber = session.information.modelNumber
        facts.firmwareRevision = session.information.firmwareRevision
        facts.hardwareRevision = session.information.hardwareRevision
        facts.softwareRevision = session.information.softwareRevision
        facts.preset = chosen.preset
        facts.settings = chosen.settings
        facts.montage = chosen.montage
        facts.reference = chosen.reference
        facts.ground = chosen.ground
        return facts
    }

    /// Records the link as it is known now, if something of it is worth a row.
    func recordLink(ended: MonotonicTime? = nil) {
        guard let began = session.began else { return }
        let link = LinkRecord(headset: headset, recording: recording, began: began, ended: ended, facts: facts)
        guard link != session.recorded else { return }
        session.recorded = link
        records.append(.link(link))
    }

    /// The link has ended: what was counted since is written.
    func endLinkRecord(at now: MonotonicTime) {
        recordMessages(at: now)
        if session.recorded != nil, session.recorded?.ended == nil { recordLink(ended: now) }
        timers[.messages] = nil
        for (stream, samples, firstN) in recorded.takeContradictions() {
            annotate(
                "\(samples) samples of \(stream) came once more with other values: numbers near n \(firstN) are in doubt",
                source: "eegsync", at: now)
            context.emit(.report(.contradicted(headset: name, stream: stream, samples: samples, firstN: firstN)))
        }
    }

    // MARK: The headset's words

    /// The headset has said what it is.
    func take(_ information: DeviceInformation, at now: MonotonicTime) {
        let before = session.information
        session.information.modelNumber = information.modelNumber ?? before.modelNumber
        session.information.firmwareRevision = information.firmwareRevision ?? before.firmwareRevision
        session.information.hardwareRevision = information.hardwareRevision ?? before.hardwareRevision
        session.information.softwareRevision = information.softwareRevision ?? before.softwareRevision
        if session.streaming != nil { recordLink() }
        guard let revision = session.information.revision, revision != session.announcedRevision else { return }
        session.announcedRevision = revision
        defer { knownRevision = revision }
        guard let knownRevision, knownRevision != revision else { return }
        annotate("Firmware changed from \(knownRevision) to \(revision)", source: "eegsync", at: now)
        context.emit(.report(.firmwareChanged(headset: name, from: knownRevision, to: revision)))
    }

    /// Asks the headset what it is, once its samples flow: nothing waits for the answers.
    func askInformation(on identifier: PeripheralIdentifier) {
        guard !profile.usesSerialPort else { return }
        if session.profile.isAskedWhileStreaming { sendInBackground(.queryVersion) }
        for characteristic in DeviceInformation.characteristics where session.mayHave(characteristic) {
            context.request(.readValue(of: characteristic, on: identifier, attempt: backgroundAttempt))
        }
    }

    /// The headset said something for people.
    func note(_ text: String, at now: MonotonicTime) {
        session.messages.note(.message, text, at: now)
        messagesChanged(at: now)
    }

    /// The headset refused a command.
    func noteRefusal(of command: UInt8, code: UInt8, at now: MonotonicTime) {
        session.messages.note(.refused, "command 0x\(Self.hex(command)), code 0x\(Self.hex(code))", at: now)
        messagesChanged(at: now)
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    /// The headset, or somebody else, sent what nothing can be made of.
    func noteUndecodable(_ byteCount: Int, of notification: [UInt8], at now: MonotonicTime) {
        session.messages.noteUndecodable(byteCount, of: notification, at: now)
        messagesChanged(at: now)
    }

    /// What is new is written with the next batch; what was said before is counted, and the count written now and then.
    private func messagesChanged(at now: MonotonicTime) {
        guard session.messages.hasNew else {
            if timers[.messages] == nil { timers[.messages] = now + context.limits.messageInterval }
            return
        }
        recordMessages(at: now)
    }

    /// Hands over what was said and is not written yet.
    func recordMessages(at now: MonotonicTime) {
        timers[.messages] = nil
        guard let began = session.began, session.messages.hasUnwritten else { return }
        recordLink()
        for message in session.messages.take(of: headset, linkBegan: began) { records.append(.headsetMessage(message)) }
    }
}

extension DeviceInformation {
    /// By which one firmware is distinguished from another.
    fileprivate var revision: String? { firmwareRevision ?? softwareRevision }
}
