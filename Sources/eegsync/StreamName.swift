/// The name of a stream in a recording: the headset's, and behind it, where the headset has changed what it sends, the number
/// of the first stream of the change, as in `eeg_7`.
struct StreamName {
    /// As the headset calls it.
    let base: Substring
    /// 0 for what the headset sent first.
    private let change: Int

    init(_ name: String) {
        if let end = name.lastIndex(of: "_"), end > name.startIndex, let number = Int(name[name.index(after: end)...]) {
            (base, change) = (name[..<end], number)
        } else {
            (base, change) = (name[...], 0)
        }
    }

    /// True where the samples of an earlier stream go on in this one.
    func continues(_ earlier: String) -> Bool {
        let earlier = StreamName(earlier)
        return base == earlier.base && change > earlier.change
    }
}
