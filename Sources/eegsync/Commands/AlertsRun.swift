import Alerts
import ArgumentParser
import Bluetooth
import CLinux
import Foundation
import Glibc
import Logging
import Storage

extension AlertsCommand {
    /// `eegsync alerts run`: the process that watches.
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Watch, and notify people; a process of its own beside `eegsync run`.",
            discussion: """
                Runs in the foreground and logs to standard error. It opens the database read-only, has no Bluetooth, and may \
                be killed at any time: what was noticed and not delivered is kept, and delivered by the next one. A changed \
                configuration is read within some seconds.

                EXAMPLE
                  eegsync alerts run --config /etc/eegsync/eegsync.yaml
                """)

        /// How often it looks; samples are committed once a second.
        private static let interval = Duration.seconds(5)

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var memory: AlertMemoryOptions

        func run() async throws {
            signal(SIGPIPE, SIG_IGN)
            let configuration = try options.configuration()
            if let error = configuration.alertsError { throw error }
            guard let alerts = configuration.alerts, !alerts.ways.isEmpty else { throw Self.nobody(options.configurationPath) }
            let lock = try memory.file.lock()
            defer { try? lock.close() }
            let log = DaemonLog(level: configuration.logLevel)
            let boot = try HostBoot.current()
            var service = service(alerts, Self.memory(in: memory.file, boot: boot, log: log), boot: boot)
            let words = { (alerts: Configuration.Alerts) in
                "\(alerts.rules.count) rules, ways: \(alerts.ways.map(\.name).joined(separator: ", "))"
            }
            log.log(.info, "eegsync \(Eegsync.version) watches: \(words(alerts))")
            ServiceNotification.ready(status: words(alerts))
            var file = FileVersion(path: options.configurationPath)
            var reader = try options.alertFactsReader()
            while true {
                let facts = reader.facts(at: .now)
                for line in await service.step(facts, now: { .now }) {
                    log.log(line.isProblem ? .warning : .notice, "\(line.text)")
                }
                ServiceNotification.watchdog()
                let version = FileVersion(path: options.configurationPath)
                if version != file {
                    file = version
                    if let new = reread(log) {
                        service = self.service(new, service.memory, boot: boot)
                        reader = try options.alertFactsReader()
                        log.log(.notice, "the configuration was read again: \(words(new))")
                        ServiceNotification.status(words(new))
                    }
                }
                // What waits is sent at once, with a look and a sign of life between two messages of a way.
                if !service.isDue(at: .now) { try await Task.sleep(for: Self.interval) }
            }
        }

        /// The changed configuration; nil where it is wrong, so that the old one stays.
        private func reread(_ log: DaemonLog) -> Configuration.Alerts? {
            do {
                let alerts = try options.alerts()
                if !alerts.ways.isEmpty { return alerts }
                log.log(.warning, "the configuration has no ways to notify anybody any more; the old ones stay")
            } catch {
                log.log(.error, "the configuration is not used, the old one stays: \(Failure(error).problem)")
            }
            return nil
        }

        private func service(_ alerts: Configuration.Alerts, _ known: AlertMemory, boot: HostBoot) -> AlertService {
            let performer = AlertPerformer()
            let file = memory.file
            return AlertService(
                alerts: alerts, machine: Configuration.Alerts.machine, memory: known, boot: boot.uuid, at: .now,
                keep: { memory throws(FileReason) in try file.keep(memory) },
                deliver: { notice, way, undelivered in
                    await performer.deliver(notice, by: way.kind, undelivered: undelivered)
                }, light: { lamp, isLit in StatusLED(lamp: lamp).set(isLit: isLit) })
        }

        private static func memory(in file: AlertMemoryFile, boot: HostBoot, log: DaemonLog) -> AlertMemory {
            do throws(FileReason) {
                if let known = try file.load() { return known }
            } catch {
                log.log(.warning, "what was noticed before is not known: \(error.words)")
            }
            return AlertMemory(origin: String(UInt64.random(in: .min ... .max), radix: 36), boot: boot.uuid, at: .now)
        }

        private static func nobody(_ file: String) -> Failure {
            Failure(
                problem: "the configuration \(file) names no way to notify anybody.",
                consequence: "nothing is watched; recordings are not touched.",
                remedy: "name one under 'alerts:' ('ways:'); Deploy/eegsync.yaml has examples.", code: .configuration)
        }
    }
}

/// What changes when somebody writes a file anew.
private struct FileVersion: Hashable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    init(path: String) {
        var status = stat()
        _ = stat(path, &status)
        (inode, size) = (UInt64(status.st_ino), Int64(status.st_size))
        (seconds, nanoseconds) = (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec))
    }
}
