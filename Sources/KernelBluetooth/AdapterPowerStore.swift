/// Which adapters a person wants off, from one process to the next.
package struct AdapterPowerStore {
    /// Their addresses, as they were kept when the store was made.
    package let switchedOff: [UInt64]
    /// Keeps whether a person wants the adapter with an address off. Never waits.
    package let save: (_ address: UInt64, _ isSwitchedOff: Bool) -> Void

    /// Creates a store with what was kept earlier.
    package init(switchedOff: [UInt64], save: @escaping (_ address: UInt64, _ isSwitchedOff: Bool) -> Void) {
        self.switchedOff = switchedOff
        self.save = save
    }

    /// A store that lasts as long as the process.
    package static func inMemory() -> AdapterPowerStore { AdapterPowerStore(switchedOff: []) { _, _ in } }
}
