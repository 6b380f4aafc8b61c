import Bluetooth
import Storage

/// What a person should decide about the address of a headset that proves nothing about itself.
struct AddressSituation: Hashable, Encodable {
    /// Addresses at which the model was heard in the last two minutes; or the one that was adopted by itself.
    var addresses: [String]
    /// What is the case.
    var sentence: String
    /// What a person can do.
    var remedy: String

    /// Nil where there is nothing to decide.
    init?(_ activity: HeadsetActivity) {
        guard activity.isWanted else { return nil }
        let adopt = "eegsync headsets adopt \(activity.name)"
        if let provisional = activity.address.provisional {
            addresses = ["\(provisional)"]
            let former = activity.address.replaced.map { " instead of \($0)" } ?? ""
            sentence = "is recorded at \(provisional)\(former), provisionally: it was the only one of its model in sight"
            remedy = "confirm it: \(adopt) \(provisional); or say where it is: \(adopt) ADDRESS"
            return
        }
        // What was in sight while it is being recorded is another one.
        guard activity.state != "streaming", !activity.address.candidates.isEmpty else { return nil }
        addresses = activity.address.candidates.map { "\($0.identifier)" }
        let named = activity.address.candidates.map { candidate in
            "\(candidate.identifier)" + (candidate.name.map { " (\($0))" } ?? "")
        }
        sentence =
            named.count == 1
            ? "one of its model is in sight at \(named[0]), and nothing proves that it is this headset"
            : "\(named.count) of its model are in sight, and nothing proves which is this headset: "
                + named.joined(separator: ", ")
        remedy = "say which it is: \(adopt) ADDRESS"
    }
}
