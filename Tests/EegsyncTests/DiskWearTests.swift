import Bluetooth
import Foundation
import Storage
import Testing

@testable import eegsync

/// What is written to the disk of the database, from the kernel's own counters.
@Suite struct DiskWearTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func writes(_ stat: String, size: String? = "62333952", isCard: Bool = true) throws -> DiskWrites? {
        try directory.write(stat + "\n", to: "sys/block/mmcblk0/stat")
        if let size { try directory.write(size + "\n", to: "sys/block/mmcblk0/size") }
        return DiskWrites(disk: "mmcblk0", isCard: isCard, files: SystemFiles(root: directory.url.path))
    }

    private let start = DiskStart(
        disk: "mmcblk0", time: .boot + .seconds(100), writtenBytes: 512_000, flushes: 10)

    @Test func theKernelsCountersAreReadWhereItSaysThem() throws {
        let found = try #require(
            try writes("1897 0 42722 296 588 312 63576 377 0 372 958 0 0 0 0 263 284"))
        #expect(found.writtenBytes == 63_576 * 512 && found.flushes == 263)
        let size: Int64 = 62_333_952 * 512
        #expect(found.sizeBytes == size)
        let old = try #require(try writes("1897 0 42722 296 588 312 63576 377 0 372 958"))
        #expect(old.flushes == nil)
        #expect(try writes("") == nil)
        #expect(try writes("1 2 3") == nil)
    }

    @Test func bytesFlushesAndYearsAreThoseSinceTheProcessBegan() throws {
        // 110 MB and 1,200 flushes in an hour.
        let sectors = (512_000 + 110_000_000) / 512
        let counted = try #require(try writes("0 0 0 0 0 0 \(sectors) 0 0 0 0 0 0 0 0 1210 0"))
        let wear = try #require(DiskWear(counted, since: start, now: .boot + .seconds(3700)))
        #expect(abs(wear.bytesPerHour - 110_000_000) < 1000 && wear.flushesPerHour == 1200)
        // 31.9 GB times 500, by 110 MB an hour.
        #expect(wear.years.map { abs($0 - 16.55) < 0.1 } == true, "\(String(describing: wear.years))")
        for part in ["mmcblk0", "110.0 MB an hour", "1,200 flushes", "17 years", "500 times"] {
            #expect(wear.sentence.contains(part), "\(part): \(wear.sentence)")
        }
    }

    @Test func whatCannotBeKnownIsNotSaid() throws {
        let counted = try #require(try writes("0 0 0 0 0 0 2000 0 0 0 0 0 0 0 0 11 0"))
        #expect(DiskWear(counted, since: start, now: .boot + .seconds(200)) == nil, "too early for a rate")
        var other = start
        other.disk = "sda"
        #expect(DiskWear(counted, since: other, now: .boot + .seconds(3700)) == nil, "another disk")
        var reset = start
        reset.writtenBytes = 10_000_000
        #expect(DiskWear(counted, since: reset, now: .boot + .seconds(3700)) == nil, "counted anew")
        let disk = try #require(try writes("0 0 0 0 0 0 2000 0 0 0 0 0 0 0 0 11 0", isCard: false))
        #expect(DiskWear(disk, since: start, now: .boot + .seconds(3700))?.years == nil, "no card")
    }

    @Test func aCardThatWillNotLastIsAWarning() throws {
        var database = HostFacts.Database(path: "/x")
        database.exists = true
        // 31.9 GB at 1.2 GB an hour.
        let sectors = 1_200_000_000 / 512
        let counted = try #require(try writes("0 0 0 0 0 0 \(sectors) 0 0 0 0 0 0 0 0 1210 0"))
        database.wear = DiskWear(counted, since: start, now: .boot + .seconds(3700))
        let finding = try #require(Diagnosis.database(database).first { $0.check == "wear" })
        #expect(finding.verdict == .warning && finding.sentence.contains("1.5 years"), "\(finding)")
        #expect(finding.remedy?.contains("larger card") == true)
    }

    @Test func whatAnotherBootHasCountedIsNotCompared() throws {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "a"))
        try store.noteDiskStart(start)
        #expect(try store.diskStart() == start)
        #expect(try store.reopened(hostBoot: HostBoot(uuid: "b")).diskStart() == nil)
        var later = start
        later.writtenBytes += 1
        try store.noteDiskStart(later)
        #expect(try store.diskStart() == later)
    }
}
