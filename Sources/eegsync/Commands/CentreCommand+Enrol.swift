import ArgumentParser
import Centre

extension CentreCommand {
    /// `eegsync centre enrol`.
    struct Enrol: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let the role of a machine send to a study, which is made where it is new.",
            discussion: """
                Each machine has a role of its own that may log in. It adds samples, changes none, and reads none.

                A machine that is in another study goes on to this one, with the recordings of which nothing has arrived yet. \
                Those that have begun to arrive go on where they are, for the readers of that study; stop one to have the \
                next one here. Who reads this study sees the names of all headsets of the machine, those of the study \
                before, too. With --instead-of it gets a new role, and who reads this study sees none of these: what was \
                sent stays in its study, and goes on there. Install the new role's password or certificate on the machine.

                A role may fill the centre up to its quota, of 250 GB where none was stated: a year of eight channels at 256 \
                Hz. Samples count four bytes for each value, before they are compressed. What is beyond waits on the machine, \
                and `eegsync fleet` says so from four fifths on.

                EXAMPLES
                  createuser pi-07
                  eegsync centre enrol pi-07 --study sleep --database postgresql:///study
                  eegsync centre enrol pi-07 --study sleep --quota 1T --database postgresql:///study
                  eegsync centre enrol pi-07b --study other --instead-of pi-07 --database postgresql:///study
                """)

        @Argument(help: "The role with which the machine logs in.")
        var role: String

        @Option(help: "The study.")
        var study: String

        @Option(help: ArgumentHelp("A role that the machine had, which sends no more.", valueName: "role"))
        var insteadOf: String?

        @Option(help: ArgumentHelp("How much the role may have at the centre, such as 500G or 1T.", valueName: "size"))
        var quota: ByteSize?

        @OptionGroup var options: CentreOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try options.connect()
            let sentence = try enrol(connection)
            let account = try account(connection)
            try CentreFacts(
                centre: connection.destination, quotaBytes: account?.quota, usedBytes: account?.used,
                sentence: sentence + (account.map { Self.sentence(role, quota: $0.quota, used: $0.used) } ?? "")
            ).print(asJSON: output.json)
        }

        private func enrol(_ connection: CentreConnection) throws -> String {
            guard let insteadOf else {
                // NULL where it was in no study.
                let before = try connection.execute("SELECT enrol($1, $2)", [role, study]).first?.first.flatMap { $0 } ?? ""
                return Self.sentence(role, study, before: before)
            }
            let answer = try connection.execute("SELECT enrol_instead($1, $2, $3)", [role, study, insteadOf])
            let before = answer.first?.first.flatMap { $0 } ?? ""
            return "takes the recordings that \(role) begins to send into the study \(study); those that \(insteadOf) has "
                + "begun to send stay in the study \(before), and \(role) goes on with them. \(insteadOf) sends no more."
        }

        /// Of a centre that knows quotas.
        private func account(_ connection: CentreConnection) throws -> (quota: Int64, used: Int64)? {
            let isKnown = try connection.execute("SELECT to_regproc('set_quota') IS NOT NULL").first?.first == "t"
            guard isKnown || quota != nil else { return nil }
            let kib = quota.map { "\($0.bytes / 1024)" }
            let numbers = try connection.execute("SELECT quota_kib, used_kib FROM set_quota($1, $2)", [role, kib]).first ?? []
            let kibs = numbers.compactMap { $0.flatMap { Int64($0) } }.map { min($0, 1 << 50) }
            return kibs.count == 2 ? (kibs[0] * 1024, kibs[1] * 1024) : nil
        }

        static func sentence(_ role: String, quota: Int64, used: Int64) -> String {
            let has = used > 1 << 20 ? " and has \(Quantity.bytes(used))" : ""
            return " \(role) may have \(Quantity.bytes(quota)) there\(has)."
        }

        /// - Parameter before: the study that the role was in; empty for none.
        static func sentence(_ role: String, _ study: String, before: String) -> String {
            switch before {
            case "": "takes what \(role) sends into the study \(study)."
            case study: "takes what \(role) sends into the study \(study) already."
            default:
                "takes the recordings that \(role) begins to send into the study \(study) from now on; it was in the study "
                    + "\(before), where those that have begun to arrive stay and go on."
            }
        }
    }
}
