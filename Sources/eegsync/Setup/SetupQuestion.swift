/// What only a person can answer, or a file of answers.
enum SetupQuestion: Hashable {
    /// None is in range.
    case searchAgain
    /// Which of these are to be set up.
    case choose([SetupCandidate], complaint: String?)
    /// Whether the headsets are to be distinguished by a blink or a tap.
    case identify(count: Int)
    /// What a headset is called. `isRecognised` where it was distinguished by its signal.
    case name(SetupCandidate, isRecognised: Bool, suggestion: String, complaint: String?)
    /// Whether headsets with something wrong are written all the same.
    case acceptSignal([SignalTest])
    /// Whether the configuration that is there is changed so.
    case change(difference: [String])
    /// Whether the service is enabled and started.
    case enable

    /// The line that ends with the cursor, with what an empty answer means.
    var prompt: String {
        switch self {
        case .searchAgain: "Search again? [Y/n] "
        case .choose(let candidates, _):
            candidates.count == 1
                ? "Which one? [1, or a to search again] " : "Which ones? [all, numbers such as 1,2, or a to search again] "
        case .identify: "Find out by blinks or taps which is which? [Y/n] "
        case .name(_, _, let suggestion, _): "Name [\(suggestion)] "
        case .acceptSignal: "Write the configuration all the same? [y, n to end, or t to test again] "
        case .change: "Change the configuration so? [y/N] "
        case .enable: "Enable and start the service now? [y/N] "
        }
    }
}

/// Yes or no, as people write it.
enum YesOrNo {
    /// Nil for what is neither.
    static func meaning(_ text: String, empty: Bool?) -> Bool? {
        switch text.lowercased() {
        case "": empty
        case "y", "yes": true
        case "n", "no": false
        default: nil
        }
    }
}
