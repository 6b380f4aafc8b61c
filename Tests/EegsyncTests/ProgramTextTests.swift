import Foundation
import Testing

@testable import eegsync

/// The program's code in memory.
struct ProgramTextTests {
    @Test("Only code of the program, which nobody can write, is let go")
    func ranges() {
        let maps = """
            55c4d0000000-55c4d0100000 r--p 00000000 08:01 1234                       /usr/bin/eegsync
            55c4d0100000-55c4d3200000 r-xp 00100000 08:01 1234                       /usr/bin/eegsync
            55c4d3200000-55c4d3300000 r--p 03200000 08:01 1234                       /usr/bin/eegsync
            55c4d3300000-55c4d3400000 rw-p 03300000 08:01 1234                       /usr/bin/eegsync
            55c4d3500000-55c4d3600000 rwxp 03300000 08:01 1234                       /usr/bin/eegsync
            7f0000000000-7f0000100000 r-xp 00000000 08:01 99                         /usr/lib/libc.so.6
            7f0000200000-7f0000300000 r-xp 00000000 08:01 99                         /usr/bin/eegsync-other
            7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]
            nonsense
            """
        #expect(ProgramText.ranges(in: maps, of: "/usr/bin/eegsync") == [0x55c4_d010_0000..<0x55c4_d320_0000])
        #expect(ProgramText.ranges(in: maps, of: "/usr/bin/other") == [])
        let replaced = "1000-2000 r-xp 00000000 08:01 12   /usr/bin/my program (deleted)"
        #expect(ProgramText.ranges(in: replaced, of: "/usr/bin/my program (deleted)") == [0x1000..<0x2000])
    }

    @Test("This process goes on without its code in memory")
    func release() {
        #expect(ProgramText.release() > 0)
        #expect(ProgramText.release() > 0)
    }
}
