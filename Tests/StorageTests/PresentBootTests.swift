import Testing

@testable import Storage

@Suite("The present boot, for whoever only looks")
struct PresentBootTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("eeg.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        try store.close()
    }

    @Test("is found once the database has it, also where it was opened before")
    func later() throws {
        let looking = try ReadOnlyStore(path: path, hostBoot: Fixture.secondBoot)
        #expect(looking.presentBoot == nil)
        let daemon = try AcquisitionStore(path: path, hostBoot: Fixture.secondBoot)
        defer { try? daemon.close() }
        #expect(looking.presentBoot == daemon.presentBoot)
        #expect(looking.presentBoot != nil)
    }

    @Test("is found in the midst of a reading")
    func nested() throws {
        let looking = try ReadOnlyStore(path: path, hostBoot: Fixture.secondBoot)
        let daemon = try AcquisitionStore(path: path, hostBoot: Fixture.secondBoot)
        defer { try? daemon.close() }
        try daemon.control.pause(at: Fixture.start)
        #expect(try looking.pause()?.isSameHostBoot == true)
    }
}
