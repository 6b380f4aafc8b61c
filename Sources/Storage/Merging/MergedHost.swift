import GRDB

/// Host boots, their clocks and machines of another database, brought over. Every instant names a boot.
struct MergedHost {
    let source: Database
    let db: Database

    /// - Returns: how many rows are new here.
    func bringOver(keys: inout MergedKeys) throws -> Int64 {
        var count = try bringBoots(keys: &keys)
        for table in ["clock_offset", "suspension", "full_disk"] {
            count += try MergedTable(name: table, condition: "TRUE ORDER BY t.id", here: "TRUE")
                .copy(of: 0, from: source, to: db, as: 0, keys: &keys)
        }
        return count
    }

    private func bringBoots(keys: inout MergedKeys) throws -> Int64 {
        var new: [Int64] = []
        for row in try Row.fetchAll(source, sql: "SELECT id, uuid FROM host_boot ORDER BY id") {
            let (key, uuid): (Int64, String) = (row[0], row[1])
            let known = try Int64.fetchOne(db, sql: "SELECT id FROM host_boot WHERE uuid = ?", arguments: [uuid])
            if known == nil {
                try db.execute(sql: "INSERT INTO host_boot (uuid) VALUES (?)", arguments: [uuid])
                new.append(key)
            }
            keys[.hostBoot, key] = known ?? db.lastInsertedRowID
        }
        let machines = try bringMachines(keys: &keys)
        // Boots without a row are of the first machine there, and would be of the first one here.
        for boot in new {
            let machine = try Int64.fetchOne(
                source,
                sql: """
                    SELECT coalesce((SELECT machine_id FROM machine_boot WHERE host_boot_id = ?), (SELECT min(id) FROM machine))
                    """, arguments: [boot])
            guard let machine, let here = keys[.machine, machine], let bootHere = keys[.hostBoot, boot] else { continue }
            try db.execute(
                sql: "INSERT INTO machine_boot (host_boot_id, machine_id) VALUES (?, ?)", arguments: [bootHere, here])
        }
        return Int64(new.count) + machines
    }

    /// A machine is known by its UUID, else by its board, as where the daemon notes it: a machine has another UUID in each
    /// database that it began.
    private func bringMachines(keys: inout MergedKeys) throws -> Int64 {
        // Boots without a row are of the first machine: it must be one that has acquired here.
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM machine)") == true else { return 0 }
        var count: Int64 = 0
        for row in try Row.fetchAll(source, sql: "SELECT * FROM machine ORDER BY id") {
            let key: Int64 = row["id"]
            let (uuid, board, installation): (String, String?, String?) = (row["uuid"], row["board"], row["installation"])
            let known = try Int64.fetchOne(
                db,
                sql: """
                    SELECT id FROM machine
                    WHERE uuid = ?1 OR board = ?2 OR (installation = ?3 AND (board IS NULL OR ?2 IS NULL))
                    ORDER BY uuid = ?1 DESC, board IS ?2 DESC, id LIMIT 1
                    """, arguments: [uuid, board, installation])
            if let known {
                keys[.machine, key] = known
                continue
            }
            // How the other database came to it says nothing about this one, which is where it was.
            try db.execute(
                sql: """
                    INSERT INTO machine (uuid, board, installation, origin, host_boot_id, boottime_ns)
                    VALUES (?, ?, ?, 'created', ?, ?)
                    """,
                arguments: [
                    uuid, board, installation, try keys.value(row["host_boot_id"], of: "host_boot_id"),
                    row["boottime_ns"] as Int64,
                ])
            let here = db.lastInsertedRowID
            keys[.machine, key] = here
            try db.execute(sql: "INSERT INTO merged_machine (machine_id) VALUES (?)", arguments: [here])
            count += 1
        }
        return count
    }
}
