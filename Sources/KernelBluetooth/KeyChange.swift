/// What becomes of the keys that are kept of a headset.
package enum KeyChange<Key: Hashable & Sendable>: Hashable, Sendable {
    /// A pairing has made some: they are to be kept instead of earlier ones.
    case paired(Key)
    /// The headset has lost its own: those that are kept are to be forgotten.
    case lost
    /// Those of too many others are newer: they are to be forgotten.
    case displaced

    /// What is kept from now on; nil for nothing.
    package var key: Key? {
        if case .paired(let key) = self { return key }
        return nil
    }
}
