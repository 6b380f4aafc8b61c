import Glibc

/// Looks at what a directory lies on.
struct MediumInspection {
    let files: SystemFiles

    /// The medium of a directory; all unknown where the directory is not there.
    func medium(of directory: String) -> HostFacts.Medium {
        var status = stat()
        guard stat(directory, &status) == 0 else { return HostFacts.Medium() }
        let device = DeviceNumber(status.st_dev)
        return medium(device: "\(device.major):\(device.minor)")
    }

    /// The medium of a block device by its number, such as `179:2`.
    func medium(device: String) -> HostFacts.Medium {
        var medium = HostFacts.Medium()
        if let mount = mount(device: device) {
            medium.fileSystem = mount.fileSystem
            medium.isReadOnly = mount.options.contains("ro")
        }
        // /sys/dev/block/179:2 leads to .../block/mmcblk0/mmcblk0p2: the disk is the name after `block`.
        let path = files.resolved("/sys/dev/block/\(device)").split(separator: "/").map(String.init)
        guard let block = path.lastIndex(of: "block"), block + 1 < path.count, path[block + 1] != device else { return medium }
        let disk = path[block + 1]
        medium.disk = disk
        medium.model = files.text("/sys/block/\(disk)/device/model") ?? files.text("/sys/block/\(disk)/device/name")
        if disk.hasPrefix("mmcblk") {
            medium.kind = files.text("/sys/block/\(disk)/device/type") == "MMC" ? .eMMC : .sdCard
        }
        return medium
    }

    /// The line of a device in proc(5)'s mountinfo: ..., options of the mount, "-", type, source, options of the file system.
    private func mount(device: String) -> (fileSystem: String, options: [Substring])? {
        for line in (files.text("/proc/self/mountinfo") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 6, fields[2] == device, let dash = fields.firstIndex(of: "-"), dash + 3 < fields.count
            else { continue }
            // The file system's own options: a mount may be read-only at one mount point alone.
            return (String(fields[dash + 1]), fields[dash + 3].split(separator: ","))
        }
        return nil
    }
}
