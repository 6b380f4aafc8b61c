import Dispatch
import GRDB

extension Configuration {
    /// A configuration whose threads have the processor as any other of the process.
    ///
    /// GRDB's own asks libdispatch for `userInitiated`, which is nice -4 where the process may: an export by root would go
    /// before what records. Where it may not, libdispatch says so in a line of the journal for each thread.
    static var ofOrdinaryPriority: Configuration {
        var configuration = Configuration()
        configuration.qos = .default
        return configuration
    }
}
