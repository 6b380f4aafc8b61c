/// Where a central has its file descriptors watched: what becomes readable leads to a call of ``Central/process(at:)``.
package struct DescriptorWatch {
    /// Begins to watch a descriptor.
    package let watch: (Int32) -> Void
    /// Ends it; to be called before the descriptor is closed.
    package let unwatch: (Int32) -> Void

    /// Creates a watch from its two halves.
    package init(watch: @escaping (Int32) -> Void, unwatch: @escaping (Int32) -> Void) {
        self.watch = watch
        self.unwatch = unwatch
    }
}
