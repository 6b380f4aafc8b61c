/// A fault of some versions of bluetoothd or of the kernel that a recording can meet, and that eegsync cannot mend.
///
/// What differs between versions and is handled has a row in the documentation (BlueZ, KernelBluetooth) and none here; the page
/// Versions has all of these.
struct VersionFault: Hashable {
    /// The first and the last version that are known to have it.
    let versions: ClosedRange<SoftwareVersion>
    /// What happens; the version is the subject.
    let consequence: String
    /// What a person can do.
    let remedy: String

    /// The fault of a bluetoothd which a headset of this machine can meet.
    ///
    /// - Parameter uncounted: names of headsets some of whose notifications bear no count.
    static func bluetoothd(_ version: SoftwareVersion, uncounted: [String]) -> VersionFault? {
        let faults = uncounted.isEmpty ? [crashingScan] : [crashingScan, keptNotifications(of: uncounted)]
        return faults.first { $0.versions.contains(version) }
    }

    /// The fault of a kernel.
    static func kernel(_ version: SoftwareVersion) -> VersionFault? {
        freedChannel.versions.contains(version) ? freedChannel : nil
    }

    /// The record of an AcquireNotify is used after it was freed (bluez/bluez, `src/gatt-client.c`, mended by a94f994 in 5.86);
    /// seen with 5.66, scenario `kill-phases` of the lab. What bears a count is asked for in another way. AcquireNotify came
    /// with 5.46.
    private static func keptNotifications(of headsets: [String]) -> VersionFault {
        VersionFault(
            versions: SoftwareVersion(5, 46)...SoftwareVersion(5, 85),
            consequence:
                "may keep notifications of \(headsets.joined(separator: ", ")) from everybody, once eegsync was killed "
                + "while it subscribed to them",
            remedy: "upgrade bluez to 5.86 or later; where it has happened (headsets have notifications that another program "
                + "seems to hold): systemctl restart bluetooth")
    }

    /// `is_filter_match` calls the text of a UUID as a function (bluez/bluez, issue 2282, mended by 82af2be after 5.87). Seen
    /// in the lab with Debian's 5.87-5. eegsync filters its scans itself; other programs do not.
    private static let crashingScan = VersionFault(
        versions: SoftwareVersion(5, 87)...SoftwareVersion(5, 87),
        consequence: "crashes when another program scans for a service while something advertises one, and all links end",
        remedy: "use bluez 5.86 or one after 5.87, or let no other program scan by services meanwhile")

    /// `l2cap_conn_free` deletes a channel that the end of the connection has freed (net/bluetooth/l2cap_core.c; it was
    /// `l2cap_conn_del` that did so up to 6.1.190 at least, and does in 6.12.117). Seen in the lab.
    private static let freedChannel = VersionFault(
        versions: SoftwareVersion(6, 1, 192)...SoftwareVersion(6, 1, 192),
        consequence: "damages its own memory where an adapter is switched off or pulled out while a connection is being made, "
            + "and may crash",
        remedy: "start the machine with another kernel; until then leave adapters plugged in and on")
}
