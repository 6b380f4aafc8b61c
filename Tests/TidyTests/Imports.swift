/// Which module may import which (design, section 10).
enum Imports {
    /// Modules of this package that a target may import. Packages from outside and the system are not listed: the manifest
    /// says who has them.
    static let allowed: [String: [String]] = [
        "Bluetooth": [],
        "AttributeProtocol": ["Bluetooth"],
        "Capture": ["Bluetooth"],
        "Headsets": ["Bluetooth"],
        "HeadsetDescriptors": ["Headsets", "Bluetooth"],
        "ShippedHeadsets": [],
        "Reconnection": ["Bluetooth", "Headsets"],
        "Migrations": [],
        "Storage": ["Migrations", "Headsets", "Bluetooth"],
        // Bluetooth for `Disposition` only.
        "Export": ["Storage", "Headsets", "Bluetooth"],
        "BlueZ": ["Bluetooth", "BluetoothManagement", "CSystemd", "CLinux"],
        "BluetoothManagement": ["Bluetooth", "CBluetooth"],
        "KernelBluetooth": ["Bluetooth", "AttributeProtocol", "BluetoothManagement", "CBluetooth", "CLinux"],
        "Simulation": ["Bluetooth", "Capture", "Headsets", "Reconnection"],
        "Acquisition": [
            "Bluetooth", "Capture", "Headsets", "Reconnection", "Migrations", "Storage", "CLinux", "CSystemd",
        ],
        "Rehearsal": [
            "Bluetooth", "Capture", "Headsets", "Reconnection", "Migrations", "Storage", "Export", "BlueZ", "KernelBluetooth",
            "Simulation", "Acquisition", "CLinux", "CSystemd",
        ],
        "eegsync": [
            "Bluetooth", "Capture", "Headsets", "HeadsetDescriptors", "ShippedHeadsets", "Reconnection", "Migrations",
            "Storage",
            "Export", "BlueZ", "BluetoothManagement", "KernelBluetooth", "Simulation", "Acquisition", "Rehearsal", "CLinux",
            "CSystemd",
        ],
    ]

    /// The only targets that may speak to SQLite.
    private static let sqliteModules = ["GRDB", "GRDBSQLite"]

    /// Imports that the table does not allow.
    static func check(_ file: SourceText, target: String) -> [Finding] {
        guard let permitted = allowed[target] else {
            return [Finding(path: file.path, line: 0, rule: "the target \(target) is not in the table of imports")]
        }
        return file.code.indices.compactMap { index in
            guard let module = importedModule(file.code[index]) else { return nil }
            if sqliteModules.contains(module) && target != "Storage" {
                return file.finding(index, "\(target) imports \(module); only Storage speaks to SQLite")
            }
            let isOurs = allowed[module] != nil || ["CLinux", "CSystemd", "CBluetooth"].contains(module)
            if isOurs && module != target && !permitted.contains(module) {
                return file.finding(index, "\(target) may not import \(module)")
            }
            return nil
        }
    }

    private static func importedModule(_ line: String) -> String? {
        // Cheap, and spares nearly every line of the tree a slow regular expression.
        guard line.contains("import ") else { return nil }
        let importOfModule =
            #/
            ^\s* (?:@\w+(?:\(\w+\))?\s+)*
            (?:(?:public|package|internal|fileprivate|private)\s+)?
            import\s+
            (?:(?:struct|class|enum|func|var|let|protocol|typealias)\s+)?
            (\w+)
            /#
        return line.firstMatch(of: importOfModule).map { String($0.output.1) }
    }
}
