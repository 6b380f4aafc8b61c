import ArgumentParser
import BlueZ
import Bluetooth
import Foundation
import Logging
import Storage
import Synchronization

/// `eegsync companion`: a phone beside the machine sees how the recording goes.
struct CompanionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "companion",
        abstract: "Let a phone nearby see over Bluetooth how the recording goes.",
        discussion: """
            Publishes the GATT service eegsync companion through bluetoothd: a sentence, each headset's state and battery, and \
            notifications when they change. Anybody nearby may look. Only phones that a person has paired with `eegsync \
            companion pair` may record, stop and mark.

            `eegsync companion run` is a process of its own (Deploy/eegsync-companion.service): it only reads the database, \
            and may be killed at any time.

            EXAMPLES
              sudo systemctl enable --now eegsync-companion
              sudo eegsync companion pair
            """,
        subcommands: [Run.self, Pair.self, ForgetPhones.self], defaultSubcommand: Run.self)
}

/// Where the service is, and whom it obeys.
struct CompanionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The adapter: hci0, or its address. Without it: the first that is on.", valueName: "adapter"))
    var adapter: String?

    @Option(
        help: ArgumentHelp(
            "The file with the phones that may record, stop and mark. Without it: \(CompanionPhones.defaultPath).",
            valueName: "path"), completion: .file())
    var phones: String?

    var file: CompanionPhones { CompanionPhones(path: phones ?? CompanionPhones.defaultPath) }
}

extension CompanionCommand {
    /// `eegsync companion run`: the process that publishes.
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Publish; a process of its own beside `eegsync run`.",
            discussion: """
                Runs in the foreground and logs to standard error.

                EXAMPLE
                  eegsync companion run --config /etc/eegsync/eegsync.yaml
                """)

        /// How often it is looked how things stand: while a phone is there, and else, for the advertisement.
        private static let interval = Duration.seconds(2)
        private static let idleInterval = Duration.seconds(10)
        /// How often it is looked whether the end is wanted, and whether a command has ended.
        private static let tick = Duration.milliseconds(200)
        /// How long a command may take.
        private static let commandLimit = Duration.seconds(20)

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var companion: CompanionOptions

        /// A command that has ended.
        private struct End: Sendable {
            var order: Companion.Order
            var code: Int32
            var text: String
            /// When it had.
            let time = HostClock.now
        }

        func run() async throws {
            let path = try options.databasePath()
            let log = DaemonLog(level: .info)
            let session = PeripheralSession(adapter: companion.adapter)
            var service = Companion(name: "eegsync \(ProcessInfo.processInfo.hostName)")
            ServiceNotification.ready(status: "publishes the service eegsync companion")
            log.log(.info, "eegsync \(Eegsync.version) shows \(path) to phones")
            try await Interruption.run { interruption in
                await publish(&service, session, path, log, interruption)
            }
            session.peripheral.flush()
        }

        private func publish(
            _ service: inout Companion, _ session: PeripheralSession, _ path: String, _ log: DaemonLog,
            _ interruption: Interruption
        ) async {
            let ends = Ends()
            var nextLook = HostClock.now
            var problem: String?
            // Since when no phone can look, and whether that was said.
            var (since, isSaid) = (nextLook, false)
            while !interruption.isWanted {
                let now = HostClock.now
                if session.peripheral.state == .poweredOn {
                    (since, isSaid) = (now, false)
                } else if !isSaid, now - since >= PeripheralSession.startLimit {
                    isSaid = true
                    let failure = session.failure(
                        adapter: companion.adapter, task: "be seen by phones", consequence: "no phone sees it meanwhile.")
                    log.log(.warning, "\(failure.problem) \(failure.consequence) It is waited for; \(failure.remedy)")
                }
                let known = service.phones
                let wasWatched = service.isWatched
                for event in session.peripheral.process(at: now) {
                    service.take(event, at: now) { companion.file.contains($0) }
                }
                for phone in service.phones where !known.contains(phone) {
                    log.log(.info, "a phone looks", ["phone": "\(phone)"])
                }
                if service.isWatched, !wasWatched { nextLook = now }
                for end in ends.take() {
                    log.log(.notice, "\(end.order.command.words.printable): exit code \(end.code)")
                    service.finish(end.order, code: end.code, text: end.text, at: end.time)
                    nextLook = now
                }
                if let order = service.takeOrder() {
                    log.log(.notice, "a phone asks: \(order.command.words.printable)", ["phone": "\(order.phone)"])
                    Task { ends.add(await Self.carryOut(order, database: path, config: options.config)) }
                }
                if now >= nextLook {
                    nextLook = now + (service.isWatched ? Self.interval : Self.idleInterval)
                    service.update(status(path))
                }
                for request in service.takeRequests() { session.peripheral.request(request) }
                if service.problem != problem {
                    problem = service.problem
                    if let problem { log.log(.warning, "bluetoothd refuses the service, it is tried again: \(problem)") }
                }
                ServiceNotification.watchdog()
                await session.wait(until: now + Self.tick)
            }
        }

        private func status(_ path: String) -> CompanionStatus {
            do {
                let store = try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
                let configuration = (try? options.configurationIfPresent()).flatMap { $0.names(path) ? $0 : nil }
                return CompanionStatus(try StatusFacts(store: store, configuration: configuration, now: HostClock.now))
            } catch {
                return CompanionStatus(problem: Failure(error).problem)
            }
        }

        /// Runs the command as a person would: the control service asks whether this user may.
        private static func carryOut(_ order: Companion.Order, database: String, config: String?) async -> End {
            var arguments = order.arguments
            // Options stand before what ends them.
            let options = ["--database", database] + (config.map { ["--config", $0] } ?? [])
            arguments.insert(contentsOf: options, at: arguments.firstIndex(of: "--") ?? arguments.count)
            let program = ChildProgram(path: "/proc/self/exe", arguments: arguments, limit: commandLimit)
            switch await program.run() {
            case .exited(let code, let output, let errors):
                let text = code == 0 ? output : errors
                return End(order: order, code: code, text: text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "")
            case .killed: return End(order: order, code: Failure.Code.temporary.rawValue, text: "it did not end in time")
            case .notStarted(let reason): return End(order: order, code: Failure.Code.osError.rawValue, text: reason)
            }
        }

        /// What tasks hand to the thread that has the peripheral.
        private final class Ends: Sendable {
            private let ends = Mutex<[End]>([])

            func add(_ end: End) { ends.withLock { $0.append(end) } }

            func take() -> [End] {
                ends.withLock { ends in
                    defer { ends.removeAll() }
                    return ends
                }
            }
        }
    }

    /// `eegsync companion pair`: opens the pairing for two minutes.
    struct Pair: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "For two minutes, let a phone pair that may record, stop and mark.",
            discussion: """
                Connect the phone anew: a link does not know that a passkey can be shown now. It asks to pair as soon as it \
                sends a command; what it then wants to know is shown here. Ctrl-C ends it, and so does the end of the \
                terminal.

                A phone that is paired with this machine already pairs no more: remove it here (`bluetoothctl remove \
                ADDRESS`), and have the phone forget this machine.

                EXAMPLE
                  sudo eegsync companion pair
                """)

        /// How long it is open.
        private static let limit = Duration.seconds(120)
        private static let tick = Duration.milliseconds(100)

        @OptionGroup var companion: CompanionOptions

        func run() async throws {
            // Where nobody reads any more, as when a connection by SSH is lost, the pairing is closed all the same.
            signal(SIGPIPE, SIG_IGN)
            let session = PeripheralSession(adapter: companion.adapter)
            guard let paired = try await pair(session) else { throw Self.nobodyPaired }
            print("\(paired) may record, stop and mark now. Take it back: eegsync companion forget-phones")
        }

        /// The phone that has paired; nil for none. However it ends, the pairing is closed.
        private func pair(_ session: PeripheralSession) async throws -> PeripheralIdentifier? {
            defer {
                session.peripheral.request(.closePairing)
                session.peripheral.flush()
            }
            return try await Interruption.run(alsoByHangup: true) { interruption in
                try await open(session, interruption)
            }
        }

        static var nobodyPaired: Failure {
            Failure(
                problem: "no phone has paired within \(Quantity.duration(limit)).",
                consequence: "nobody new may record, stop and mark.",
                remedy: "while this runs, connect the phone anew, send a command from it, and enter there what is shown. A "
                    + "phone that is paired already (bluetoothctl devices Paired) pairs no more: bluetoothctl remove ADDRESS "
                    + "on this machine, and have the phone forget this machine.", code: .temporary)
        }

        private func open(_ session: PeripheralSession, _ interruption: Interruption) async throws -> PeripheralIdentifier? {
            let start = HostClock.now
            var isOpen = false
            session.peripheral.request(.openPairing)
            while !interruption.isWanted, HostClock.now - start < Self.limit {
                let now = HostClock.now
                for event in session.peripheral.process(at: now) {
                    switch event {
                    case .didDisplayPasskey(let passkey, let phone):
                        let digits = String(passkey)
                        let text = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
                        print("\(phone) wants to pair. Enter there: \(text)")
                        fflush(nil)
                    case .didPair(let phone):
                        try companion.file.add(phone)
                        return phone
                    default: break
                    }
                }
                if !isOpen, session.peripheral.state == .poweredOn {
                    isOpen = true
                    print("Open for \(Quantity.duration(Self.limit)): connect the phone anew, and send a command from it.")
                    fflush(nil)
                } else if !isOpen, now - start >= PeripheralSession.startLimit {
                    throw session.failure(
                        adapter: companion.adapter, task: "be paired with", consequence: "no phone can pair.")
                }
                await session.wait(until: now + Self.tick)
            }
            return nil
        }
    }

    /// `eegsync companion forget-phones`: nobody may command any more.
    struct ForgetPhones: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget-phones",
            abstract: "Let no phone record, stop and mark any more.",
            discussion: """
                bluetoothd keeps their keys, by which they may look; `bluetoothctl remove ADDRESS` removes them, too.

                EXAMPLE
                  sudo eegsync companion forget-phones
                """)

        @OptionGroup var companion: CompanionOptions

        func run() throws {
            let count = companion.file.all.count
            try companion.file.removeAll()
            print("\(Quantity.count(Int64(count), "phone")) may only look now.")
        }
    }
}
