import ArgumentParser
import Centre

/// `eegsync centre`: the database of a study, in PostgreSQL.
struct CentreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "centre",
        abstract: "Make the database of a study in PostgreSQL; say who sends to it, and who reads it.",
        subcommands: [Initialise.self, Enrol.self, Admit.self, Erase.self])

    /// `eegsync centre init`.
    struct Initialise: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Make the tables, views and roles, or bring them up to date.",
            discussion: """
                The role needs the right to create roles (CREATEROLE, or a superuser) for the three groups eegsync_ship, \
                eegsync_read and eegsync_admin. PostgreSQL 15 or later. What is there stays.

                EXAMPLE
                  sudo -u postgres createdb study
                  sudo -u postgres eegsync centre init --database postgresql:///study
                """)

        @OptionGroup var options: CentreOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try options.connect()
            let steps = try CentreSchema(connection).bringUpToDate()
            try CentreFacts(
                centre: connection.destination, applied: steps,
                sentence: steps.isEmpty ? "is up to date already." : "is a centre now: \(steps.joined(separator: ", "))."
            ).print(asJSON: output.json)
        }
    }

    /// `eegsync centre enrol`.
    struct Enrol: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let the role of a machine send to a study, which is made where it is new.",
            discussion: """
                Each machine has a role of its own that may log in. It adds samples, changes none, and reads none.

                EXAMPLE
                  createuser pi-07
                  eegsync centre enrol pi-07 --study sleep --database postgresql:///study
                """)

        @Argument(help: "The role with which the machine logs in.")
        var role: String

        @Option(help: "The study.")
        var study: String

        @OptionGroup var options: CentreOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try options.connect()
            try connection.execute("SELECT enrol($1, $2)", [role, study])
            try CentreFacts(centre: connection.destination, sentence: "takes what \(role) sends into the study \(study).")
                .print(asJSON: output.json)
        }
    }

    /// `eegsync centre admit`.
    struct Admit: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let a role read a study, and no other.")

        @Argument(help: "The role with which a person logs in.")
        var role: String

        @Option(help: "The study.")
        var study: String

        @OptionGroup var options: CentreOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try options.connect()
            try connection.execute("SELECT admit($1, $2)", [role, study])
            try CentreFacts(centre: connection.destination, sentence: "lets \(role) read the study \(study).")
                .print(asJSON: output.json)
        }
    }

    /// `eegsync centre erase`.
    struct Erase: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erase a participant from the centre: all recordings of the subject.",
            discussion: """
                Backups of the server, its log of transactions and the machines' own databases are beyond it (`eegsync forget` \
                there, and first: a machine that still has the recordings sends them again).
                """)

        @Argument(help: "The subject, as recordings name it.")
        var subject: String

        @OptionGroup var options: CentreOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try options.connect()
            let count = try connection.execute("SELECT erase($1)", [subject]).first?.first.flatMap { $0 } ?? "0"
            try CentreFacts(centre: connection.destination, sentence: "has erased \(count) recordings of \(subject).")
                .print(asJSON: output.json)
        }
    }
}

/// Which centre a command works on.
struct CentreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The centre: postgresql://ROLE@HOST/DATABASE. Without it: $EEGSYNC_CENTRE.", valueName: "address"))
    var database: String?

    func connect() throws -> CentreConnection { try CentreConnection(CentreAddress.stated(database)) }
}

/// What a command did at a centre.
struct CentreFacts: Facts {
    var centre: String
    /// Steps of the schema.
    var applied: [String] = []
    var sentence: String

    func lines(style: TerminalStyle) -> [String] { ["\(centre.printable) \(sentence.printable)"] }
}
