import ArgumentParser
import Centre

/// `eegsync centre`: the database of a study, in PostgreSQL.
struct CentreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "centre",
        abstract: "Make the database of a study in PostgreSQL; say who sends to it, and who reads it.",
        subcommands: [Initialise.self, Enrol.self, Admit.self, Dismiss.self, Erase.self])

    /// `eegsync centre init`.
    struct Initialise: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Make the tables, views and roles, or bring them up to date.",
            discussion: """
                The role needs the right to create roles (CREATEROLE, or a superuser) for the three groups eegsync_ship, \
                eegsync_read and eegsync_admin. PostgreSQL 15 or later, and a database with the encoding UTF8 that is for \
                nothing else. What a centre has stays.

                With --citus, blocks of samples are spread over the workers of a cluster of Citus, by stream, and those that \
                are there go along. The database has the extension citus then, and the role is a superuser.

                EXAMPLES
                  sudo -u postgres createdb study
                  sudo -u postgres eegsync centre init --database postgresql:///study
                  sudo -u postgres eegsync centre init --citus --database postgresql:///study
                """)

        @Flag(help: "Spread blocks of samples over the workers of a cluster of Citus.")
        var citus = false

        @OptionGroup var options: CentreOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try options.connect()
            let schema = CentreSchema(connection)
            let steps = try schema.bringUpToDate()
            var sentence = steps.isEmpty ? "is up to date already." : "is a centre now: \(steps.joined(separator: ", "))."
            if citus {
                let when = try schema.spreadBlocks() ? "now" : "already"
                sentence += " Blocks of samples are spread over the workers of its cluster \(when)."
            }
            try CentreFacts(centre: connection.destination, applied: steps, sentence: sentence).print(asJSON: output.json)
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

        /// Whoever had a role's name before was perhaps admitted to others.
        private static let othersQuery = """
            SELECT t.name FROM study_reader AS s JOIN study AS t ON t.id = s.study_id
            WHERE s.role = $1 AND t.name <> $2 ORDER BY t.name
            """

        func run() throws {
            let connection = try options.connect()
            let isNew = try connection.execute("SELECT admit($1, $2)", [role, study]).first?.first != "f"
            let others = try connection.execute(Self.othersQuery, [role, study]).compactMap { $0.first ?? nil }
            var sentence = "lets \(role) read the study \(study)\(isNew ? "." : " already.")"
            if !others.isEmpty {
                sentence += " \(role) reads \(others.joined(separator: ", ")), too: eegsync centre dismiss takes that back."
            }
            try CentreFacts(centre: connection.destination, sentence: sentence).print(asJSON: output.json)
        }
    }

    /// `eegsync centre dismiss`.
    struct Dismiss: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a role read a study no more, or none.",
            discussion: """
                What `admit` gave is taken back: of the study, or of all where none is named. The role itself stays, and may \
                be one that was dropped. A person who reads as the member of a role that is admitted goes on: take the \
                person out of that role (REVOKE).

                Exit code 66 where the role reads no such study.

                EXAMPLES
                  eegsync centre dismiss ada --database postgresql:///study
                  eegsync centre dismiss ada --study sleep --database postgresql:///study
                """)

        @Argument(help: "The role with which a person logs in.")
        var role: String

        @Option(help: "The study; without it, all of them.")
        var study: String?

        @OptionGroup var options: CentreOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try options.connect()
            let studies = try connection.execute("SELECT dismiss($1, $2)", [role, study]).compactMap { $0.first ?? nil }
            guard !studies.isEmpty else {
                throw Failure(
                    problem: "\(role) is admitted to no study\(study.map { " \($0)" } ?? "") of \(connection.destination).",
                    consequence: "nothing was changed.",
                    remedy: "ask who reads what: SELECT name, role FROM study_reader JOIN study ON id = study_id.",
                    code: .noInput)
            }
            let names = studies.sorted().joined(separator: ", ")
            try CentreFacts(
                centre: connection.destination,
                sentence: "lets \(role) read the \(studies.count == 1 ? "study" : "studies") \(names) no more."
            ).print(asJSON: output.json)
        }
    }

    /// `eegsync centre erase`.
    struct Erase: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erase a participant from the centre: all recordings of the subject.",
            discussion: """
                All recordings whose subject (or subject_name) is SUBJECT go, with everything that belongs to them. Recordings \
                that were called so by mistake forget it: their history says that something was corrected, and not what. \
                Headsets without recordings go, and what machines said last with the name in it. Where the name still stands, \
                such as in an annotation or the name of a headset, the columns are listed: correct them on the machines. \
                Recordings of other machines that have samples of the same headset at the same time are listed, too: they may \
                be the participant's.

                Backups of the server, its log of transactions and the machines' own databases are beyond it (`eegsync forget` \
                there, and first: a machine that still has the recordings sends them again). PostgreSQL keeps deleted rows in \
                its files until VACUUM; VACUUM FULL writes the tables anew, so that no byte of them is left there.

                Exit code 66 where nothing is called so.
                """)

        @Argument(help: "The subject, as recordings name it.")
        var subject: String

        @OptionGroup var options: CentreOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try options.connect()
            let row = try connection.execute(Self.query, [subject]).first ?? []
            func number(_ index: Int) -> Int64 { row.count > index ? row[index].flatMap { Int64($0) } ?? 0 : 0 }
            func list(_ index: Int) -> [String] {
                row.count > index ? (row[index] ?? "").split(separator: "\n").map(String.init) : []
            }
            let (recordings, edits, remnants) = (number(0), number(1), number(2))
            let (mentions, beside) = (list(3), list(4))
            guard recordings > 0 || edits > 0 || remnants > 0 else {
                let others = mentions.isEmpty ? "" : "; the name stands in \(mentions.joined(separator: ", "))"
                throw Failure(
                    problem: "no recording of \(connection.destination) is of a subject \(subject)\(others).",
                    consequence: "nothing was erased.",
                    remedy: "ask what subjects there are: SELECT DISTINCT subject FROM recording_overview.", code: .noInput)
            }
            let history = edits == 0 ? "" : ", and the name from \(Quantity.count(edits, "correction")) of others"
            try CentreFacts(
                centre: connection.destination, recordings: recordings, corrections: edits, remnants: remnants,
                mentions: mentions, beside: beside,
                sentence: "has erased \(Quantity.count(recordings, "recording")) of \(subject)\(history). Deleted rows stay in "
                    + "the server's files until VACUUM FULL."
            ).print(asJSON: output.json)
        }

        /// Mentions are names of columns and numbers: no one has a line feed.
        /// A centre of before the step `p0017_guarded` has neither the third nor the fifth.
        private static let query = """
            SELECT recording_count, edit_count, to_jsonb(e) ->> 'remnant_count', array_to_string(mentions, E'\\n'),
                array_to_string(ARRAY(SELECT jsonb_array_elements_text(to_jsonb(e) -> 'beside')), E'\\n')
            FROM erase_subject($1) AS e
            """
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
    /// How much a role may have at the centre, and how much it has.
    var quotaBytes: Int64?
    var usedBytes: Int64?
    /// How many were erased, and in how many corrections of other recordings a name was.
    var recordings: Int64?
    var corrections: Int64?
    /// How many headsets without recordings, and words of machines with the name, were removed.
    var remnants: Int64?
    /// Columns in which a name that was erased still stands.
    var mentions: [String]?
    /// Recordings of other machines that have samples of the same headset at the same time.
    var beside: [String]?
    var sentence: String

    func lines(style: TerminalStyle) -> [String] {
        var lines = ["\(centre.printable) \(sentence.printable)"]
        if let mentions, !mentions.isEmpty {
            lines.append(style.apply(.caution, to: "The name still stands elsewhere; correct it on the machines:"))
            lines += mentions.map { "  \($0.printable)" }
        }
        if let beside, !beside.isEmpty {
            lines.append(style.apply(.caution, to: "Other machines have samples of the same headset at the same time:"))
            lines += beside.map { "  \($0.printable)" }
        }
        return lines
    }
}
