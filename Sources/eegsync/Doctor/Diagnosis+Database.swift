import Foundation

extension Diagnosis {
    /// Less than this many days of room is too little to leave the machine alone for.
    private static let warningDays = 21.0
    /// Less than this many: a person must act today.
    private static let problemDays = 1.0
    /// File systems that are gone after a reboot.
    private static let volatileFileSystems = ["tmpfs", "ramfs", "overlay"]

    /// The database and what it lies on.
    static func database(_ database: HostFacts.Database) -> [Finding] {
        guard database.isDirectoryThere else {
            return [
                .problem(
                    "database", "the directory of \(database.path) is not there",
                    remedy: "mount the disk or create the directory; eegsync run waits for it")
            ]
        }
        let log = database.grownLog.map { Finding.warning("write-ahead log", $0.sentence, remedy: $0.remedy) }
        let machine = database.machine.map { Finding.warning("machine", $0.sentence, remedy: $0.remedy) }
        return [
            file(database), rights(database), machine, database.storing.map(storing), log, room(database),
            medium(database.medium),
            database.wear.map(wear),
        ]
        .compactMap { $0 }
    }

    private static func storing(_ storing: HostFacts.Storing) -> Finding {
        let check = "storing"
        return switch storing {
        case .isStored(let seconds):
            .ok(check, "what streams is stored; the newest row is \(Quantity.duration(seconds: max(0, seconds))) old")
        case .not(let situation): .problem(check, "nothing is stored: \(situation.sentence)", remedy: situation.remedy)
        }
    }

    private static func file(_ database: HostFacts.Database) -> Finding {
        let check = "database"
        if let lost = database.lost { return .problem(check, lost.sentence, remedy: lost.remedy) }
        if let error = database.openingError {
            return .problem(check, error, remedy: "`eegsync recordings` says more; the file was left untouched")
        }
        if database.medium.isReadOnly {
            return .problem(
                check, "the file system of \(database.path) is mounted read-only",
                remedy: "see `dmesg` (a failing card is made read-only), then remount it or replace the card")
        }
        guard database.isWritable || database.exists else {
            return .warning(
                check, "this user may not make \(database.path)",
                remedy: "let the service make it: systemctl start eegsync; or run doctor as the user of the service")
        }
        return .ok(
            check,
            database.exists ? "\(database.path), \(Quantity.bytes(database.bytes))" : "\(database.path) can be created")
    }

    /// Whoever writes the database can change what was recorded.
    private static func rights(_ database: HostFacts.Database) -> Finding? {
        guard database.isWrittenByGroup else { return nil }
        let directory = URL(fileURLWithPath: database.path).deletingLastPathComponent().path
        return .warning(
            "rights", "the group of \(directory) may write the database, and so change what was recorded",
            remedy: "chmod 2750 \(directory); then restart eegsync. Members of eegsync-record record through its control socket"
        )
    }

    private static func room(_ database: HostFacts.Database) -> Finding? {
        guard let free = database.freeBytes else { return nil }
        let check = "free space"
        let reserved = database.reservedBytes
        if free < reserved {
            return .problem(
                check,
                "\(Quantity.bytes(free)) free, and the last \(Quantity.bytes(reserved)) are kept free: nothing is stored",
                remedy: "make room, or let recordings go: eegsync prune")
        }
        let rate = database.rowsPerSecond * database.bytesPerRow
        guard rate > 0 else { return .ok(check, "\(Quantity.bytes(free)) free") }
        let days = Double(free - reserved) / rate / 86_400
        let sentence = "\(Quantity.bytes(free)) free, \(words(days: days)) while all configured headsets stream"
        if days < problemDays {
            return .problem(check, sentence, remedy: "make room, or move the database to a larger disk, now")
        }
        if days < warningDays {
            return .warning(check, sentence, remedy: "make room, or move the database to a larger disk, before it is full")
        }
        return .ok(check, sentence)
    }

    private static func words(days: Double) -> String {
        if days >= 3650 { return "more than ten years" }
        if days >= 2 { return "\(Int(days)) days" }
        return Quantity.duration(seconds: days * 86_400)
    }

    private static func wear(_ wear: DiskWear) -> Finding {
        guard let years = wear.years, years < DiskWear.yearsMinimum else { return .ok("wear", wear.sentence) }
        return .warning(
            "wear", wear.sentence,
            remedy: "use a larger card, or one made for continuous writing; `eegsync status` an hour from now shows whether it "
                + "is eegsync that writes")
    }

    private static func medium(_ medium: HostFacts.Medium) -> Finding? {
        if let fileSystem = medium.fileSystem, volatileFileSystems.contains(fileSystem) {
            return .warning(
                "medium", "the database lies on \(fileSystem), which may not outlive a reboot",
                remedy: "put it on a disk: 'database' in the configuration")
        }
        guard let disk = medium.disk else { return nil }
        let name = medium.model.map { "\(disk) (\($0))" } ?? disk
        switch medium.kind {
        case .sdCard:
            return .ok("medium", "SD card \(name): use one made for continuous writing, and keep a spare")
        case .eMMC: return .ok("medium", "built-in flash \(name)")
        case .disk: return .ok("medium", "disk \(name)")
        }
    }
}
