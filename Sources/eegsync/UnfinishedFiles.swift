import Dispatch
import Export
import Glibc

/// Removes what a command has half written when a signal ends it.
enum UnfinishedFiles {
    /// SIGINT, SIGTERM, and the end of a terminal or a login, unless whoever started the process wants that ignored (nohup).
    private static var ends: [Int32] {
        var hangup = sigaction()
        sigaction(SIGHUP, nil, &hangup)
        func number(_ handler: (@convention(c) (Int32) -> Void)?) -> Int {
            // A pointer to a C function, or one of two numbers that are none: as wide as an Int, and only compared.
            unsafeBitCast(handler, to: Int.self)
        }
        let isIgnored = number(hangup.__sigaction_handler.sa_handler) == number(SIG_IGN)
        return [SIGINT, SIGTERM] + (isIgnored ? [] : [SIGHUP])
    }

    /// Runs a command that writes files under temporary names. Signals that end it remove those, and then end the process as
    /// they do by themselves.
    static func removedOnSignals<Value>(_ body: () throws -> Value) rethrows -> Value {
        let queue = DispatchQueue(label: "signals of an export")
        let numbers = ends
        let sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable in
                TemporaryNames.removeAll()
                ProgressBar.removeLine()
                signal(number, SIG_DFL)
                // All signals are blocked on the threads of a queue, and who started the process may have blocked them
                // elsewhere.
                var set = sigset_t()
                sigemptyset(&set)
                sigaddset(&set, number)
                pthread_sigmask(SIG_UNBLOCK, &set, nil)
                raise(number)
            }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            // A signal that is at it ends the process: what the removal of its files made fail is no error to report.
            queue.sync {}
            for number in numbers { signal(number, SIG_DFL) }
        }
        return try body()
    }
}
