import ArgumentParser
import Centre
import Foundation
import Storage

/// `eegsync ship`: sends what is recorded to a centre.
struct ShipCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ship",
        abstract: "Send what is recorded to a centre, a PostgreSQL database, as long as it runs.",
        discussion: """
            The newest minute goes first, then what waits, the oldest first. It may be ended at any time, by kill -9, too: \
            nothing is there twice, and nothing is left out. The daemon waits for nothing of it, and records whether or not it \
            runs. What the centre holds is noted as confirmed, so that `eegsync prune` with require_confirmed may let it go.

            A server over a network must prove who it is (sslmode=verify-full). Passwords stand in ~/.pgpass. \
            eegsync-ship.service runs it with the address under 'ship:' in the configuration. Whatever is wrong at the centre, \
            it tries again; what is wrong on this machine ends it.

            EXAMPLES
              eegsync ship --to postgresql://pi-07@study.example.org/study
              eegsync ship --once
              eegsync ship --max-rate 50k --hours 22:00-06:00
            """)

    /// How often it looks for what is new.
    private static let interval = Duration.seconds(2)
    /// How long it waits at most before it tries again.
    private static let waitMaximum = Duration.seconds(60)
    /// How often it says how the machine is while samples wait for their hours.
    private static let quietInterval = Duration.seconds(60)

    @Option(
        help: ArgumentHelp(
            "The centre: postgresql://ROLE@HOST/DATABASE. Without it: $EEGSYNC_CENTRE, or else that of the configuration.",
            valueName: "address"))
    var to: String?

    @Flag(help: "End when everything that is recorded now is there.")
    var once = false

    @Option(
        help: ArgumentHelp(
            "The most bytes a second, such as 50k or 2M. Without it: as the configuration says, else as fast as the "
                + "line is.", valueName: "rate"))
    var maxRate: ByteRate?

    @Option(
        help: ArgumentHelp(
            "When samples may be sent, in local time, such as 22:00-06:00. Without it: as the configuration says, else always. "
                + "With --once, what the configuration says of hours does not count.", valueName: "from-to"))
    var hours: ShippingHours?

    @Flag(
        help: ArgumentHelp(
            "Have samples at the centre within seconds: the daemon commits each second as long as they are sent, which writes "
                + "more to the card. Without it: as the configuration says."))
    var live = false

    /// Rows of a stream in a transaction, so that tests interrupt many.
    @Option(help: .hidden)
    var rows: Int = Shipper.rowLimit

    /// What the server may take for a statement, so that tests wait for less.
    @Option(help: .hidden)
    var statementSeconds: Int32 = Shipper.statementSeconds

    /// After what silence the server gives a transaction up, so that tests wait for less.
    @Option(help: .hidden)
    var idleSeconds: Int32 = Shipper.idleSeconds

    /// After how many rounds recordings that have ended are looked at again, so that tests wait for less.
    @Option(help: .hidden)
    var endedRounds: Int = Shipper.endedInterval

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let configured = try configuredShip()
        let address = try CentreAddress.stated(to, configured: configured?.to)
        let rate = (maxRate ?? configured?.maxRate).map { SendingRate(bytesPerSecond: $0.bytesPerSecond) }
        let isLive = !once && (live || configured?.isLive ?? false)
        let hours = hours ?? (once ? nil : configured?.hours)
        // The service may be faster than the daemon that makes the configured database.
        let control = try options.openForControl(creates: !options.statesDatabase())
        let machine = try Self.machine(control)
        var wait = Self.interval
        while true {
            do {
                let store = try options.openReadOnly()
                let connection = try CentreConnection(address)
                if let rate { Self.limit(connection, to: rate) }
                let shipper = try Shipper(
                    store: store, control: control, connection: connection, machine: machine, version: Eegsync.version,
                    now: HostClock.now, rowLimit: min(max(1, rows), rate.map(Self.rowLimit) ?? .max),
                    statementSeconds: min(max(1, statementSeconds), Shipper.statementSeconds),
                    idleSeconds: min(max(1, idleSeconds), Shipper.idleSeconds),
                    endedInterval: min(max(1, endedRounds), Shipper.endedInterval))
                try await ship(shipper, ShipStatusReader(options, store: store), hours, following: isLive ? store.path : nil) {
                    wait = Self.interval
                }
                return
            } catch let error as CentreError where error.maySucceedLater && !once {
                try await Self.wait(after: "\(error)", &wait)
            } catch StorageError.corrupt(_, let detail) where !once {
                // The unit does not start what ends so again, and what is sound is to arrive once somebody has mended the rest.
                try await Self.wait(after: "the database is damaged: \(detail)", &wait)
            }
        }
    }

    private static func wait(after problem: String, _ wait: inout Duration) async throws {
        say("\(problem). It is tried again in \(wait.components.seconds) s")
        try await Task.sleep(for: wait)
        wait = min(wait * 2, waitMaximum)
    }

    /// Sends until there is an error or, with --once, nothing left.
    ///
    /// - Parameter followed: the database whose daemon is to commit each second meanwhile; nil for none.
    private func ship(
        _ shipper: Shipper, _ status: ShipStatusReader?, _ hours: ShippingHours?, following followed: String?,
        succeeded: () -> Void
    ) async throws {
        var facts = ShipFacts()
        var follower: Follower?
        var status = status
        var isWaiting = false
        while true {
            let mayShip = hours?.contains(Date()) ?? true
            if let hours, mayShip == isWaiting {
                isWaiting = !mayShip
                Self.say(isWaiting ? "samples wait: they are sent \(hours.text)" : "samples are sent again")
            }
            follower = mayShip ? followed.flatMap { follower ?? Follower(database: $0) } : nil
            Self.sayDiverged(shipper, &facts)
            let round: Shipper.Round
            do {
                round = mayShip ? try shipper.round { HostClock.now } : Shipper.Round()
            } catch let error as CentreError where error.isQuota {
                // How the machine is has room, and is what somebody looks at then.
                _ = try Self.speak(&status, through: shipper)
                throw error
            }
            facts.rows += round.rows
            facts.transactions += round.transactions
            Self.sayDiverged(shipper, &facts)
            for (recording, reason) in shipper.refused.sorted(by: { $0.key < $1.key })
            where !facts.refusedRecordings.contains(recording.rawValue) {
                Self.say("recording \(recording.rawValue) is not sent: \(reason)")
                facts.refusedRecordings.append(recording.rawValue)
            }
            if let problem = try Self.speak(&status, through: shipper) {
                Self.say("\(problem), and `eegsync fleet` there says nothing of this machine")
                status = nil
            }
            succeeded()
            guard round.isComplete else { continue }
            guard mayShip else {
                try await Task.sleep(for: Self.quietInterval)
                continue
            }
            if once {
                try facts.print(asJSON: output.json)
                if !facts.isEverythingSent { throw ExitCode(Failure.Code.dataError.rawValue) }
                return
            }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Says of which streams nothing is sent, of each once.
    private static func sayDiverged(_ shipper: Shipper, _ facts: inout ShipFacts) {
        for (stream, reason) in shipper.diverged.sorted(by: { $0.key < $1.key })
        where !facts.divergedStreams.contains(stream) {
            say("nothing is sent of the recording of stream \(stream): \(reason)")
            facts.divergedStreams.append(stream)
        }
    }

    /// Says how the machine is, now and then. Returns why that is no more to be tried on this connection; nil for nothing.
    private static func speak(_ status: inout ShipStatusReader?, through shipper: Shipper) throws -> String? {
        do {
            guard let document = try status?.document(at: HostClock.now) else { return nil }
            return try shipper.say(document) ? nil : "the centre is of an older version"
        } catch StorageError.corrupt {
            return "the database is damaged where it says how the machine is"
        }
    }

    /// What the configuration says, where that is the one of the database, and no other centre is stated.
    private func configuredShip() throws -> Configuration.Ship? {
        if let to, !to.isEmpty { return nil }
        guard let configuration = try options.configurationIfPresent() else { return nil }
        return configuration.names(try options.databasePath()) ? configuration.ship : nil
    }

    /// Keeps what is copied to a rate.
    private static func limit(_ connection: CentreConnection, to rate: SendingRate) {
        var rate = rate
        connection.pacing = (
            rate.pieceSize, { bytes in rate.pause(after: bytes, at: HostClock.now) },
            { pause in
                if pause > .zero { Thread.sleep(forTimeInterval: pause / .seconds(1)) }
            }
        )
    }

    /// Rows of a stream in a transaction that takes some 20 seconds at a rate: a server waits for ever for nobody.
    private static func rowLimit(_ rate: SendingRate) -> Int {
        let (seconds, bytesPerRow) = (20, 72)
        return max(64, Int(rate.bytesPerSecond) * seconds / bytesPerRow)
    }

    /// The machine's UUID.
    private static func machine(_ control: ControlStore) throws -> String {
        if try control.machines().isEmpty, let identity = MachineIdentity.current() {
            try control.note(identity, at: HostClock.now)
        }
        if let situation = try MachineSituation(control) {
            throw Failure(
                problem: situation.sentence + ".", consequence: "nothing is sent.", remedy: situation.remedy + ".",
                code: .configuration)
        }
        guard let machine = try control.machines().last else {
            throw Failure(
                problem: "this machine says nothing that distinguishes it: no serial number of the board, no /etc/machine-id.",
                consequence: "nothing is sent.", remedy: "make one: systemd-machine-id-setup.", code: .configuration)
        }
        return machine.uuid
    }

    private static func say(_ sentence: String) {
        StandardError.write("eegsync ship: \(sentence.printable)\n")
    }
}

extension ByteRate: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

extension ShippingHours: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

extension CentreError {
    /// Whether somebody elsewhere may mend it while this process waits: whatever is wrong at the centre. Of a thousand machines
    /// nobody starts each anew because a role was forgotten.
    fileprivate var maySucceedLater: Bool {
        switch self {
        case .unreachable, .lost, .refused, .schema, .incomplete: true
        case .noLibrary, .address, .absent, .contradiction: false
        }
    }
}

/// What was sent.
struct ShipFacts: Facts {
    var rows = 0
    var transactions = 0
    /// Streams of which the centre has what cannot have come from this database, by UUID.
    var divergedStreams: [String] = []
    /// Recordings that the centre does not take, or that cannot be read.
    var refusedRecordings: [Int64] = []

    var isEverythingSent: Bool { divergedStreams.isEmpty && refusedRecordings.isEmpty }

    func lines(style: TerminalStyle) -> [String] {
        guard isEverythingSent else { return ["\(Quantity.count(Int64(rows), "row")) sent; some recordings are not sent."] }
        if rows == 0 { return ["The centre has everything that is recorded."] }
        let (sent, parts) = (Quantity.count(Int64(rows), "row"), Quantity.count(Int64(transactions), "transaction"))
        return ["\(sent) sent, in \(parts); the centre has everything that is recorded."]
    }
}
