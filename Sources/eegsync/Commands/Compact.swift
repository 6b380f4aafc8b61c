import ArgumentParser
import Storage

/// `eegsync compact`: gives the room of what was deleted back to the disk.
struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give the room of what was deleted back to the disk.",
        discussion: """
            The database is written anew, without free pages. That takes about as long as copying it twice, needs twice as \
            much room on the disk as what it holds, beside the 200 MB that are kept free, and is refused where that is not \
            there. Nothing can be recorded meanwhile, so it is refused while `eegsync run` runs (75). \
            Without it nothing is lost: what is recorded next fills the room again.

            EXAMPLE
              sudo systemctl stop eegsync
              sudo -u eegsync eegsync compact
              sudo systemctl start eegsync
            """)

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let path = try options.databasePath()
        let store = try options.openForMaintenance()
        let before = store.fileBytes
        try store.compact()
        let facts = CompactFacts(database: path, bytesBefore: before, bytesAfter: store.fileBytes)
        try store.close()
        try facts.print(asJSON: output.json)
    }
}

/// How much smaller the file is.
struct CompactFacts: Facts {
    var database: String
    var bytesBefore: Int64
    var bytesAfter: Int64

    func lines(style: TerminalStyle) -> [String] {
        let sizes = "\(Quantity.bytes(bytesBefore)) before, \(Quantity.bytes(bytesAfter)) now"
        return [style.apply(.good, to: "\(database) was written anew: \(sizes).")]
    }
}
