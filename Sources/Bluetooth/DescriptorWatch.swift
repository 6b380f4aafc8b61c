/// Where a central has its file descriptors watched: what becomes readable leads to a call of ``Central/process(at:)``.
public struct DescriptorWatch {
    /// Begins to watch a descriptor.
    public let watch: (Int32) -> Void
    /// Ends it; to be called before the descriptor is closed.
    public let unwatch: (Int32) -> Void

    /// Creates a watch from its two halves.
    public init(watch: @escaping (Int32) -> Void, unwatch: @escaping (Int32) -> Void) {
        self.watch = watch
        self.unwatch = unwatch
    }
}
