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
            """)

    /// How often it looks for what is new.
    private static let interval = Duration.seconds(2)
    /// How long it waits at most before it tries again.
    private static let waitMaximum = Duration.seconds(60)

    @Option(
        help: ArgumentHelp(
            "The centre: postgresql://ROLE@HOST/DATABASE. Without it: $EEGSYNC_CENTRE, or else that of the configuration.",
            valueName: "address"))
    var to: String?

    @Flag(help: "End when everything that is recorded now is there.")
    var once = false

    /// Rows of a stream in a transaction, so that tests interrupt many.
    @Option(help: .hidden)
    var rows: Int = Shipper.rowLimit

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let address = try CentreAddress.stated(to, configured: try configuredAddress())
        let control = try options.openForControl()
        let machine = try Self.machine(control)
        var wait = Self.interval
        while true {
            do {
                let store = try options.openReadOnly()
                let shipper = try Shipper(
                    store: store, control: control, connection: try CentreConnection(address), machine: machine,
                    version: Eegsync.version, rowLimit: max(1, rows))
                for (stream, reason) in shipper.diverged.sorted(by: { $0.key < $1.key }) {
                    Self.say("nothing is sent of the recording of stream \(stream): \(reason)")
                }
                try await ship(shipper, ShipStatusReader(options, store: store)) { wait = Self.interval }
                return
            } catch let error as CentreError where error.maySucceedLater && !once {
                Self.say("\(error). It is tried again in \(wait.components.seconds) s")
                try await Task.sleep(for: wait)
                wait = min(wait * 2, Self.waitMaximum)
            }
        }
    }

    /// Sends until there is an error or, with --once, nothing left.
    private func ship(_ shipper: Shipper, _ status: ShipStatusReader?, succeeded: () -> Void) async throws {
        var facts = ShipFacts()
        var status = status
        while true {
            let round = try shipper.round { HostClock.now }
            if let document = try status?.document(at: HostClock.now), try !shipper.say(document) {
                Self.say("the centre is of an older version, and `eegsync fleet` there says nothing of this machine")
                status = nil
            }
            succeeded()
            facts.rows += round.rows
            facts.transactions += round.transactions
            facts.divergedStreams = shipper.diverged.keys.sorted()
            for (recording, error) in shipper.refused.sorted(by: { $0.key < $1.key })
            where !facts.refusedRecordings.contains(recording.rawValue) {
                Self.say("recording \(recording.rawValue) is not sent: \(error)")
                facts.refusedRecordings.append(recording.rawValue)
            }
            guard round.isComplete else { continue }
            if once {
                try facts.print(asJSON: output.json)
                if !facts.isEverythingSent { throw ExitCode(Failure.Code.dataError.rawValue) }
                return
            }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// The address of the configuration, where that is the one of the database.
    private func configuredAddress() throws -> String? {
        if let to, !to.isEmpty { return nil }
        guard let configuration = try options.configurationIfPresent() else { return nil }
        return configuration.names(try options.databasePath()) ? configuration.ship?.to : nil
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
        FileHandle.standardError.write(Data("eegsync ship: \(sentence.printable)\n".utf8))
    }
}

extension CentreError {
    /// Whether somebody elsewhere may mend it while this process waits: whatever is wrong at the centre. Of a thousand machines
    /// nobody starts each anew because a role was forgotten.
    fileprivate var maySucceedLater: Bool {
        switch self {
        case .unreachable, .lost, .refused, .schema, .incomplete: true
        case .address, .absent, .contradiction: false
        }
    }
}

/// What was sent.
struct ShipFacts: Facts {
    var rows = 0
    var transactions = 0
    /// Streams of which the centre has what cannot have come from this database, by UUID.
    var divergedStreams: [String] = []
    /// Recordings that the centre does not take.
    var refusedRecordings: [Int64] = []

    var isEverythingSent: Bool { divergedStreams.isEmpty && refusedRecordings.isEmpty }

    func lines(style: TerminalStyle) -> [String] {
        guard isEverythingSent else { return ["\(Quantity.count(Int64(rows), "row")) sent; some recordings are not sent."] }
        if rows == 0 { return ["The centre has everything that is recorded."] }
        let (sent, parts) = (Quantity.count(Int64(rows), "row"), Quantity.count(Int64(transactions), "transaction"))
        return ["\(sent) sent, in \(parts); the centre has everything that is recorded."]
    }
}
