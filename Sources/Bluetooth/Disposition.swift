/// What an error asks the program to do next. Machines switch on this, never on the text of a message.
public enum Disposition: String, Hashable, Sendable, CaseIterable {
    /// The same thing may succeed when it is tried again after a pause.
    case retry
    /// This way to the headset is closed; the next layer of the pipeline may find another.
    case nextLayer
    /// Only a person can remove the cause; wait for that and say so.
    case waitForOperator
    /// Trying again can never succeed; give up and say why.
    case stop
}
