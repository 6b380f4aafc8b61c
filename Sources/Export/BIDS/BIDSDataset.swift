import Glibc

/// A dataset of BIDS: its directory, and the files of it that exports read.
struct BIDSDataset {
    private let directory: DatasetDirectory

    var path: String { directory.path }

    static let descriptionName = "dataset_description.json"

    /// - Throws: ``ExportError``: `exists` where the path is a file, `notRepresentable` where it is a directory of something
    ///   else.
    init(path: String) throws {
        directory = try DatasetDirectory(path: path)
        let visible = DatasetDirectory.names(in: path).filter { !$0.hasPrefix(".") }
        guard visible.isEmpty || visible.contains(Self.descriptionName) else {
            throw ExportError.notRepresentable(
                what: "The directory \(path)", reason: "it holds files and no \(Self.descriptionName), so it is no dataset",
                advice: "Name a dataset, or a directory that is empty or not there yet.")
        }
    }

    /// Removes the directory if this export made it and nothing is in it.
    func removeIfEmpty() { directory.removeIfEmpty() }

    /// Runs a piece of work while no other export changes the dataset, after what earlier ones have left was put in order.
    func locked<Result>(_ body: () throws -> Result) throws -> Result { try directory.locked(body) }

    /// A table of the dataset; nil where there is none.
    func table(_ name: String) -> BIDSTable? {
        DatasetDirectory.bytes(of: "\(path)/\(name)").flatMap { BIDSTable(parsing: $0) }
    }

    func contains(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }

    /// The tables of scans of all subjects and sessions, by their paths in the dataset.
    var scansTables: [String] {
        names(beginningWith: "sub-", in: "").flatMap { subject in
            ([subject] + names(beginningWith: "ses-", in: subject).map { "\(subject)/\($0)" }).flatMap { directory in
                DatasetDirectory.names(in: "\(path)/\(directory)").filter { $0.hasSuffix("_scans.tsv") }.map {
                    "\(directory)/\($0)"
                }
            }
        }
    }

    private func names(beginningWith beginning: String, in directory: String) -> [String] {
        DatasetDirectory.names(in: "\(path)/\(directory)").filter { $0.hasPrefix(beginning) }
    }
}
