import Centre

extension Failure {
    /// Errors of a centre. What a machine has recorded is safe in its own database, whatever the error.
    init(centre error: CentreError) {
        let consequence =
            "no file was written; what is recorded stays in its machine's database, and eegsync ship sends it when that "
            + "works."
        switch error {
        case .noLibrary:
            self.init(
                problem: "\(error).", consequence: consequence, remedy: "install it: apt install libpq5.", code: .unavailable)
        case .address:
            self.init(
                problem: "\(error).", consequence: "no centre was asked.",
                remedy: "write it as postgresql://ROLE@HOST/DATABASE; see the page on studies.", code: .usage)
        case .unreachable:
            self.init(
                problem: "\(error).", consequence: consequence,
                remedy: "check the network, the role's entry in pg_hba.conf, ~/.pgpass, and the certificate of the server "
                    + "(~/.postgresql/root.crt).", code: .temporary)
        case .refused where error.isQuota:
            self.init(
                problem: "\(error).", consequence: consequence,
                remedy: "ask for more; what is recorded waits here, and nothing of it is removed meanwhile.", code: .temporary)
        case .lost,
            .refused where error.disposition == .retry:
            self.init(
                problem: "\(error).", consequence: consequence, remedy: "look at the server's log; eegsync ship tries again.",
                code: .temporary)
        case .refused:
            self.init(
                problem: "\(error).", consequence: consequence,
                remedy:
                    "an administrator of the centre looks at its roles and studies: eegsync centre enrol, for people admit.",
                code: .noPermission)
        case .schema(_, let remedy):
            self.init(
                problem: "\(error).", consequence: "the database of the server was left untouched.",
                remedy: remedy ?? "bring both to one version: the newest eegsync on both machines, then eegsync centre init.",
                code: .dataError)
        case .absent:
            self.init(
                problem: "\(error).", consequence: "no file was written.",
                remedy: "ask the centre what it has: SELECT recording_id, uuid, headset, start_time FROM recording_overview.",
                code: .noInput)
        case .incomplete:
            self.init(
                problem: "\(error).", consequence: "no file was written; eegsync ship goes on sending.",
                remedy: "try again later; `eegsync status` on the machine says what it does.", code: .temporary)
        case .contradiction:
            self.init(
                problem: "\(error).", consequence: "no file was written.",
                remedy: "take the recording from the machine's own database, and restore the centre's from a backup.",
                code: .dataError)
        }
    }
}
