import GRDB

/// The annotations of a recording that both databases have.
///
/// They are known by their UUIDs. One that was withdrawn in either is withdrawn; of two corrections of one annotation the one
/// here holds, and a deletion here does, too.
struct AnnotationUnion {
    let source: Database
    let db: Database
    /// Keys of the recording there and here.
    let recording: Int64
    let here: Int64
    let origin: MergeOrigin

    /// What an annotation says, which every copy has of it.
    private static let words: Set = [
        "host_boot_id", "boottime_ns", "duration_seconds", "description", "source", "stream_id", "n", "device_ticks", "code",
        "replaces",
    ]

    /// - Parameters:
    ///   - left: from which n on samples of a stream stay where they are; what is said of them does, too.
    ///   - areNamedAlike: false where the recording has another UUID there (``KnownRecording``). Its annotations have, too, and
    ///     are known by what they say.
    /// - Returns: how many are new here or were withdrawn, and the corrections among them that do not hold.
    func run(
        without left: [(stream: Int64, n: Int64)], areNamedAlike: Bool, keys: inout MergedKeys
    ) throws -> (changed: Int64, contradicted: [Int64]) {
        var condition = "t.recording_id = ?1"
        if !left.isEmpty {
            let staying = left.map { "(a.stream_id = \($0.stream) AND a.n >= \($0.n))" }.joined(separator: " OR ")
            condition += """
                 AND t.id NOT IN (WITH RECURSIVE staying (id) AS (
                    SELECT a.id FROM annotation AS a WHERE \(staying)
                    UNION SELECT a.id FROM annotation AS a JOIN staying AS s ON a.replaces = s.id) SELECT id FROM staying)
                """
        }
        let before = try AnnotationChains(of: here, in: db)
        let count = try MergedTable(
            name: "annotation", condition: condition + " ORDER BY t.id", kind: .annotation, here: "t.recording_id = ?1",
            identity: areNamedAlike ? ["uuid"] : Self.words
        ).copy(of: recording, from: source, to: db, as: here, keys: &keys)
        let joined = try AnnotationChains(of: here, in: db)
        let changed = try withdraw(before: before, keys: keys)
        let settled = try AnnotationChains(of: here, in: db)
        let formerByRoot = Dictionary(grouping: before.holding) { joined.root(of: $0) }
        let contradicted = joined.holding.subtracting(before.all).sorted().filter { annotation in
            guard let corrected = joined.ancestor(of: annotation, among: before.all), !before.holding.contains(corrected)
            else { return false }
            // Where what held here was withdrawn there, both had been compared there already.
            let former = formerByRoot[joined.root(of: corrected)] ?? []
            return former.isEmpty || !settled.holding.isDisjoint(with: former)
        }
        for annotation in contradicted {
            try withdraw(annotation, at: (origin.hostBoot.databaseValue, origin.boottime))
        }
        return (count + changed, contradicted)
    }

    /// Withdraws what was withdrawn there.
    private func withdraw(before: AnnotationChains, keys: MergedKeys) throws -> Int64 {
        let there = try AnnotationChains(of: recording, in: source)
        let rows = try Row.fetchAll(
            source,
            sql: """
                SELECT id, withdrawn_host_boot_id, withdrawn_boottime_ns FROM annotation
                WHERE recording_id = ? AND withdrawn_boottime_ns IS NOT NULL
                """, arguments: [recording])
        let holdingByRoot = Dictionary(grouping: there.holding) { there.root(of: $0) }
        var changed: Int64 = 0
        for row in rows {
            let annotation: Int64 = row[0]
            guard let key = keys[.annotation, annotation] else { continue }
            // Of two corrections one holds there and the other one here, where each was merged into the other: so it stays.
            let others = holdingByRoot[there.root(of: annotation)] ?? []
            let known = others.compactMap { keys[.annotation, $0] }.filter(before.all.contains)
            if before.holding.contains(key), !before.holding.isSuperset(of: known) { continue }
            changed += try withdraw(key, at: (keys.value(row[1], of: "withdrawn_host_boot_id"), row[2]))
        }
        return changed
    }

    /// - Returns: 1 where it held until then.
    @discardableResult
    private func withdraw(_ annotation: Int64, at instant: (hostBoot: DatabaseValue, boottime: Int64)) throws -> Int64 {
        try db.execute(
            sql: """
                UPDATE annotation SET withdrawn_host_boot_id = ?, withdrawn_boottime_ns = ?
                WHERE id = ? AND withdrawn_boottime_ns IS NULL
                """, arguments: [instant.hostBoot, instant.boottime, annotation])
        return Int64(db.changesCount)
    }
}

/// Which annotations of a recording correct which, and which hold.
private struct AnnotationChains {
    private var replaced: [Int64: Int64] = [:]
    private(set) var all: Set<Int64> = []
    private(set) var holding: Set<Int64> = []

    init(of recording: Int64, in db: Database) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, replaces, withdrawn_boottime_ns IS NULL FROM annotation WHERE recording_id = ?",
            arguments: [recording])
        for row in rows {
            let annotation: Int64 = row[0]
            all.insert(annotation)
            replaced[annotation] = row[1] as Int64?
            if row[2] { holding.insert(annotation) }
        }
    }

    /// The latest of some annotations that it corrects, or that what it corrects does; nil for none.
    func ancestor(of annotation: Int64, among known: Set<Int64>) -> Int64? {
        var present = annotation
        while let next = previous(present) {
            if known.contains(next) { return next }
            present = next
        }
        return nil
    }

    /// The annotation that it corrects in the end; itself where it corrects none.
    func root(of annotation: Int64) -> Int64 {
        var present = annotation
        while let next = previous(present) { present = next }
        return present
    }

    /// A correction comes after what it corrects: a file that says otherwise leads nowhere.
    private func previous(_ annotation: Int64) -> Int64? {
        replaced[annotation].flatMap { $0 < annotation ? $0 : nil }
    }
}
